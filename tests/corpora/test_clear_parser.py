import pytest

from capsrl.errors import ConfigError
from corpora.clear_parser import load_parser
from tests.helpers.parsing_pipeline import save_pipeline

spacy = pytest.importorskip("spacy")


def test_parse(tmp_path):
    parse = load_parser(str(save_pipeline(tmp_path / "pipeline")))
    sentences = [("Ann", "baked", "bread"), ("Bob", "baked")]
    found = list(parse(sentences))
    assert [parsed.words for parsed in found] == sentences
    first = found[0]
    assert first.heads == (1, None, 1)
    assert first.relations == ("nsubj", "ROOT", "dobj")
    assert first.tags == ("NNP", "VBD", "NN")
    assert first.lemmas == ("Ann", "baked", "bread")  # this pipeline has no lemmatizer
    assert first.continues_name == (False, False, False)


def test_pipelines_that_cannot_be_used(tmp_path):
    with pytest.raises(
        ConfigError,
        match=r"^no_such_pipeline: not the name or folder of an installed spaCy pipeline; "
        r"to install the default: python -m spacy download en_core_web_md$",
    ):
        load_parser("no_such_pipeline")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigError, match=r"blank: this pipeline has no tagger; it needs"):
        load_parser(str(tmp_path / "blank"))
