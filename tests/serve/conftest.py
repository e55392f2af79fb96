"""Models for the service."""

import dataclasses

import pytest

from capsrl.labeler import Labeler
from tests.helpers.tiny_networks import make_config, make_labeler


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The folder of an untrained model that labels a sentence in a millisecond."""
    folder = tmp_path_factory.mktemp("serve") / "model"
    make_labeler(dataclasses.replace(make_config(), tagger=True)).save(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_model):
    return Labeler.load(tiny_model)
