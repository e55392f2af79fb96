import contextlib
import gzip
import lzma
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.data.conll09 import format_conll09
from capsrl.data.conllu import read_conllu
from capsrl.data.conllup import HEADER, format_conllup
from capsrl.data.files import read_lines
from capsrl.data.formats import input_format, output_format, read_sentences, write_sentences
from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Argument, Proposition, Sentence
from tests.data.test_jsonl import sentences

SENTENCE = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.conll09", "conll09"),
        ("x.conll", "conll09"),
        ("CoNLL2009-ST-English-train.txt", "conll09"),
        ("x.y.conllu", "conllu"),
        ("x.conllup.xz", "conllup"),
        ("x.jsonl", "jsonl"),
        ("x.NDJSON.gz", "jsonl"),
    ],
)
def test_format_by_suffix(name, format):
    assert input_format(name) == format


def test_a_name_wins_over_the_suffix():
    assert input_format("x.conllu", "up1") == "up1"
    assert output_format("x.txt", "jsonl") == "jsonl"
    assert output_format("-", "conllup") == "conllup"
    assert input_format("x.conllup", merge="y.conllu") == "up2"


ALL_SUFFIXES = r"expected a suffix of \.conll09 \.conll \.txt \.conllu \.conllup \.jsonl \.ndjson"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.foo.gz",), rf"x.foo.gz: {ALL_SUFFIXES}.*, got \.foo; .*: conll09, .*, up2$"),
        (("x",), rf"^x: {ALL_SUFFIXES} \(and .gz or .xz\), got none"),
        (("-",), r"^<stdin>: expected a suffix .*, got none; or name the format"),
        (("x.jsonl", "json"), r"x.jsonl: expected a format of conll09, .*, up2, got 'json'"),
    ],
)
def test_unknown_input_formats(arguments, message):
    with pytest.raises(ConfigError, match=message):
        read_sentences(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("x.foo",),
            r"x.foo: expected a suffix .* got \.foo; or name .*: conll09, conllup, jsonl$",
        ),
        (("-",), r"^<stdout>: expected a suffix .*, got none"),
        (("x.conllu",), r"x.conllu: expected .* written \(conll09, conllup, jsonl\), got conllu"),
        (("x.jsonl", "up1"), r"x.jsonl: expected .* written \(conll09, conllup, jsonl\), got up1"),
        (("x", "json"), r"x: expected a format of conll09, conllup, jsonl, got 'json'"),
    ],
)
def test_unknown_output_formats(arguments, message):
    with pytest.raises(ConfigError, match=message):
        write_sentences([], *arguments)


def test_merging_is_for_up2():
    with pytest.raises(ConfigError, match=r"a.up: expected format up2 .* merge with b, got conllu"):
        read_sentences("a.up", "conllu", merge="b")
    with pytest.raises(
        ConfigError, match=r"a: expected the CoNLL-U .* up2 .*, got none; .*--merge"
    ):
        read_sentences("a", "up2")
    with pytest.raises(
        ConfigError, match="expected two files to merge, got standard input for both"
    ):
        read_sentences("-", merge="-")


@pytest.mark.parametrize("name", ["x.conll09", "x.conllup", "x.jsonl", "x.conll.gz", "x.ndjson.xz"])
def test_what_is_written_is_read(tmp_path, name):
    path = tmp_path / name
    assert write_sentences(iter([SENTENCE] * 3), path) == 3
    found = [sentence.propositions for sentence in read_sentences(path)]
    assert found == [SENTENCE.propositions] * 3
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rb") as file:
        assert b"bark.01" in file.read()


def test_plus_files_begin_with_their_columns(tmp_path):
    assert write_sentences([], tmp_path / "x.conllup") == 0
    assert (tmp_path / "x.conllup").read_text() == HEADER


def test_reading_1_0_and_2_0(tmp_path):
    up1, up2, words = tmp_path / "a.conllu", tmp_path / "a.conllup", tmp_path / "b.conllu"
    up1.write_text("1\tGo\tgo\tVERB\tVB\t_\t0\troot\tY\tgo.01\tA0\n")
    up2.write_text("# global.columns = ID UP:PRED UP:ARGHEADS\n# sent_id = s\n1\tgo.01\tA0:1\n")
    words.write_text("# sent_id = s\n1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n")
    (first,) = read_sentences(up1, "up1")
    (second,) = read_sentences(up2, merge=words)
    assert (
        first.propositions
        == second.propositions
        == (Proposition(0, "go.01", (Argument("A0", 0),)),)
    )
    with pytest.raises(DataError, match=re.escape(f"{up2}: expected ID first and FORM")):
        list(read_sentences(up2))


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.conllup"
    write_sentences([SENTENCE], path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="expected a form, got nothing at word 1"):
        write_sentences([SENTENCE, Sentence(("",))], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.conllup"]


def test_half_a_surrogate_pair_is_refused_where_it_cannot_be_written(tmp_path):
    for name in ("x.conllup", "x.conll09"):
        with pytest.raises(DataError, match=re.escape(str(tmp_path / name))):
            write_sentences([Sentence(("\ud800",))], tmp_path / name)
    write_sentences([Sentence(("\ud800",))], tmp_path / "x.jsonl")
    assert next(read_sentences(tmp_path / "x.jsonl")).words == ("\ud800",)


NAMES = ("LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT", "HEAD", "PHEAD", "DEPREL", "PDEPREL")
NAMES += ("FILLPRED", "PRED", "APRED1", "UPOS", "XPOS", "FEATS", "NODES_BEFORE", "NODES_AFTER")
CELLS = st.sampled_from(["", "_", "a", "1", "a\tb", "x\ny", "Y", "|", "-", "A0|A1", "\r", "1.1"])


@settings(deadline=None, max_examples=300)
@given(sentences(), st.data())
def test_any_json_is_written_and_read_or_refused(sentence, data):
    """Columns that somebody made up must not end in a traceback, or in a file nobody can read."""
    n = len(sentence)
    column = st.lists(CELLS, min_size=n, max_size=n).map(tuple)
    columns = data.draw(st.dictionaries(st.sampled_from(NAMES), column, max_size=6))
    sentence = replace(sentence, columns=columns)
    with contextlib.suppress(DataError):
        format_conll09(sentence)
    try:
        text = format_conllup(sentence)
    except DataError:
        return
    (back,) = read_conllu((HEADER + text).split("\n"))
    assert back.words == sentence.words


@pytest.mark.parametrize("file", ["en_ewt/dev", "cs_pdt_sample/test", "ja_wac/dev", "es_up/dev"])
def test_conll09_through_jsonl_gives_the_same_bytes(shared, tmp_path, file):
    original = shared / "data" / f"{file}.conll09.xz"
    write_sentences(read_sentences(original), tmp_path / "x.jsonl")
    write_sentences(read_sentences(tmp_path / "x.jsonl"), tmp_path / "x.conll09")
    with lzma.open(original) as opened:
        assert opened.read() == (tmp_path / "x.conll09").read_bytes()


def test_conll09_through_plus_keeps_what_scores_look_at(shared, tmp_path):
    original = shared / "data" / "cs_pdt_sample" / "test.conll09.xz"
    write_sentences(read_sentences(original), tmp_path / "x.conllup")
    for gold, found in zip(
        read_sentences(original), read_sentences(tmp_path / "x.conllup"), strict=True
    ):
        for name in ("words", "propositions", "lemmas", "tags", "heads", "relations"):
            assert getattr(found, name) == getattr(gold, name)


def test_reading_holds_one_sentence(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"words": ["Go"]}\nnot JSON\n')
    found = read_sentences(path)
    assert next(found).words == ("Go",)
    with pytest.raises(DataError, match=r"x.jsonl:2: expected a JSON object"):
        next(found)


def test_memory_stays_flat(tmp_path):
    """Ten times the sentences, the same peak."""
    program = (
        "import sys, tracemalloc\n"
        "from capsrl.data.formats import read_sentences, write_sentences\n"
        "tracemalloc.start()\n"
        "write_sentences(read_sentences(sys.argv[1]), sys.argv[2])\n"
        "print(tracemalloc.get_traced_memory()[1])\n"
    )
    peaks = []
    for n in (1000, 10_000):  # enough to fill the free lists of the interpreter
        write_sentences([SENTENCE] * n, tmp_path / "in.jsonl")
        command = [sys.executable, "-c", program, tmp_path / "in.jsonl", tmp_path / "out.conllup"]
        peaks.append(int(subprocess.run(command, capture_output=True, check=True).stdout))
    assert peaks[1] < peaks[0] + 100_000
    assert sum(1 for line in read_lines(tmp_path / "out.conllup") if not line) == 10_000
