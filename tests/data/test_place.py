import pytest

from capsrl.data.place import line_of, place_of

ROWS = ["# text = a b", "1-2\tab", "1\ta", "1.1\tx", "2\tb", "", "", "# only a comment", "", "1\tc"]


@pytest.mark.parametrize(
    ("sentence", "word", "line"),
    [(0, None, 3), (0, 0, 3), (0, 1, 5), (1, None, 10), (1, 0, 10), (2, None, 10)],
)
def test_lines_of_rows(sentence, word, line):
    assert line_of(ROWS, sentence, word) == line


def test_lines_of_objects():
    lines = ['{"words": ["a"]}', "", '{"words": ["b", "c"]}']
    assert [line_of(lines, sentence, 1) for sentence in (0, 1, 2)] == [1, 3, 3]


def test_places_name_the_file(tmp_path):
    path = tmp_path / "x.conll09"
    path.write_text("\n".join(ROWS))
    assert place_of(path, 1) == f"{path}:10"
    assert place_of("-", 1) == "<stdin>"
