"""Files of unlabeled text."""

import pytest

from capsrl.errors import ConfigError, DataError
from teachers.text import read_unlabeled


def words(path):
    return [sentence.words for sentence in read_unlabeled(str(path))]


def test_formats(tmp_path):
    jsonl = tmp_path / "text.jsonl"
    jsonl.write_text('{"source": "x", "words": ["Mary", "left", "."]}\n\n{"words": ["So"]}\n')
    assert words(jsonl) == [("Mary", "left", "."), ("So",)]
    raw = tmp_path / "text.txt"
    raw.write_text("Mary left. She ran.\n\nHe did not.\n")
    assert words(raw) == [("Mary", "left", "."), ("She", "ran", "."), ("He", "did", "not", ".")]
    conllu = tmp_path / "text.conllu"
    conllu.write_text("1\tMary\tMary\tPROPN\tNNP\t_\t0\troot\t_\t_\n\n")
    assert words(conllu) == [("Mary",)]


def test_unknown_suffix(tmp_path):
    (tmp_path / "text.pdf").write_text("x")
    with pytest.raises(ConfigError, match=r"text\.pdf: expected a suffix of \.txt"):
        words(tmp_path / "text.pdf")


@pytest.mark.parametrize("line", ["{}", "[1]", "no JSON", '{"words": [1]}', '{"words": "Mary"}'])
def test_lines_without_words(tmp_path, line):
    file = tmp_path / "text.jsonl"
    file.write_text(f'{{"words": ["Mary"]}}\n{line}\n')
    with pytest.raises(DataError, match=r"text\.jsonl:2: expected .*words"):
        words(file)
