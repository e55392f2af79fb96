import pytest

from capsrl.errors import DataError
from capsrl.formats import blocks
from capsrl.formats.blocks import (
    Block,
    filled,
    format_heads,
    format_ids,
    name_sentence,
    parse_heads,
    read_blocks,
)
from capsrl.sentence import Sentence

LINES = ["", "# one", "", "# two", "1\ta", "2\tb", " \t", "", "1\tc"]


def test_blocks_know_their_lines_and_comments():
    assert list(read_blocks(LINES, source="x", comment="#")) == [
        Block("x", 5, ["1\ta", "2\tb"], ("# one", "# two")),
        Block("x", 9, ["1\tc"]),
    ]


def test_without_comments_every_line_is_a_row():
    assert list(read_blocks(["# one", "", "1\ta"], source="x")) == [
        Block("x", 1, ["# one"]),
        Block("x", 3, ["1\ta"]),
    ]


def test_line_ends_and_a_byte_order_mark_are_dropped():
    lines = ["\ufeff1\ta\r\n", "\r\n", "1\tb\n"]
    assert [block.rows for block in read_blocks(lines, source="x")] == [["1\ta"], ["1\tb"]]


def test_a_comment_among_the_rows_is_refused():
    with pytest.raises(DataError, match=r"^x:2: expected a word or a blank line, got a comment"):
        list(read_blocks(["1\ta", "# late"], source="x", comment="#"))


def test_blocks_are_seen_before_they_are_yielded_and_one_at_a_time():
    def lines():
        yield from ["1\ta", ""]
        pytest.fail("read past the first block")

    seen = []
    block = next(read_blocks(lines(), source="x", watch=seen.append))
    assert seen == [block]


def test_the_line_of_a_word():
    block = Block("x", 3, ["1-2\tab", "1\ta", "1.1\te", "2\tb"])
    assert [block.where_word(word) for word in (0, 1, 2)] == ["x:4", "x:6", "x:6"]
    assert Block("x", 3, ['{"words": ["a", "b"]}']).where_word(1) == "x:3"


def test_filled():
    assert filled(("_", "a")) == ("_", "a")
    assert filled(("_", "_")) is None
    assert filled(None) is None


def test_heads_there_and_back():
    heads = parse_heads(("2", "0", "1"), where=str)
    assert heads == (1, None, 0)
    assert format_heads(Sentence(("a", "b", "c"), heads=heads)) == ("2", "0", "1")
    assert parse_heads(("_", "_"), where=str) is None
    assert format_heads(Sentence(("a",))) is None


@pytest.mark.parametrize("cell", ["3", "-1", "01", "x", "٣", "9" * 5000])
def test_heads_out_of_range(cell):
    with pytest.raises(DataError, match=rf"^line 1: expected PHEAD from 0 to 2, got '{cell}'$"):
        parse_heads(("0", cell), name="PHEAD", where="line {}".format)


def test_a_missing_head():
    with pytest.raises(DataError, match="got '_'; an unparsed sentence has _ at every word"):
        parse_heads(("0", "_"), where=str)


def test_ids_and_names():
    assert format_ids(3) == ("1", "2", "3")
    assert name_sentence(Sentence(tuple("abcdef"), id="s1")) == "sentence 's1'"
    assert name_sentence(Sentence(tuple("abcdef"))) == "sentence 'a b c d e'"


def test_sentences_without_end_are_refused(monkeypatch):
    """A file without blank lines would be held whole."""
    monkeypatch.setattr(blocks, "MAX_LINE", 8)
    lines = ["# a", "1\tb", "", "1\tdogs", "2\tbark"]
    found = read_blocks(lines, source="x.conllu", comment="#")
    assert next(found).rows == ["1\tb"]
    with pytest.raises(DataError, match="x.conllu:5: expected sentences of at most 8 characters"):
        next(found)
