"""The pipeline that most tests use."""

import pytest
import spacy
from spacy.language import Language


@pytest.fixture(scope="session")
def nlp() -> Language:
    """A blank pipeline with the shipped model."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("capsrl")
    return nlp
