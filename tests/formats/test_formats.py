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

from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import format_conll09
from capsrl.formats.conllu import HEADER, format_conllup, read_conllu
from capsrl.formats.formats import CORPORA, WRITABLE, format_of, read_sentences, write_sentences
from capsrl.sentence import Argument, Proposition, Sentence
from tests.formats.test_jsonl import sentences

SENTENCE = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.txt", "text"),
        ("CoNLL2009-ST-English-train.txt", "text"),
        ("x.conll09", "conll09"),
        ("x.conll", "conll09"),
        ("x.y.conllu", "conllu"),
        ("x.conllup.xz", "conllup"),
        ("x.jsonl", "jsonl"),
        ("x.NDJSON.GZ", "jsonl"),
        ("x.ann", "brat"),
        ("x.v4_gold_conll", "conll12"),
    ],
)
def test_format_by_suffix(name, format):
    assert format_of(name) == format


def test_a_name_wins_over_the_suffix():
    assert format_of("x.conllu", "up1") == "up1"
    assert format_of("x.txt", "jsonl", formats=WRITABLE) == "jsonl"
    assert format_of("-", "conllup") == "conllup"
    assert format_of("x.jsonl", default="text") == "jsonl"
    assert format_of("-", default="text") == "text"
    assert format_of("x.htm.gz", formats=(*WRITABLE, "html")) == "html"


READ = (
    r"\.txt \.conll09 \.conll \.conllu \.conllup \.jsonl \.ndjson \.ann .* \(and \.gz, .* \.zst\)"
)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("x.foo.gz",),
            {},
            rf"^x.foo.gz: expected a suffix of {READ}, got \.foo; .*: text, .*labelstudio$",
        ),
        (("x",), {"option": "--from"}, rf"^x: .*{READ}, got none; .* with --from: text, conll09"),
        (("-",), {}, r"^-: expected a format for standard input and output; name the format: text"),
        (
            ("x.jsonl", "json"),
            {},
            r"^x.jsonl: expected one of text, .*, got json; files of several",
        ),
        (
            ("x", "csv"),
            {"option": "--from"},
            r"^--from: expected one of text, .*labelstudio, got csv$",
        ),
        (("x.csv",), {}, r"^x.csv: expected a suffix of .*, got \.csv; rename the file or name"),
        (
            ("x.txt",),
            {"formats": CORPORA},
            r"got \.txt; a CoNLL-2009 file named .txt needs .*conll09",
        ),
        (("x.conllu",), {"formats": WRITABLE}, r"got \.conllu; CoNLL-U has no .* \(\.conllup\)"),
        (
            ("x", "conllu"),
            {"formats": WRITABLE},
            r"^x: expected one of conll09, conllup, jsonl, got",
        ),
    ],
)
def test_unknown_formats(arguments, options, message):
    with pytest.raises(ConfigError, match=message):
        format_of(*arguments, **options)


@pytest.mark.parametrize("suffix", [".lz4", ".ZIP"])
def test_unknown_compression(suffix):
    message = (
        rf"x.jsonl\{suffix}: expected plain text or .gz, .*, got \{suffix.lower()}; recompress"
    )
    with pytest.raises(DataError, match=message):
        format_of(f"x.jsonl{suffix}")


def test_formats_are_checked_before_anything_is_read_or_written(tmp_path):
    with pytest.raises(ConfigError, match="got none"):
        read_sentences("no such file")
    with pytest.raises(ConfigError, match="expected one of conll09, conllup, jsonl, .*got up1"):
        write_sentences([], tmp_path / "x", "up1")
    assert not list(tmp_path.iterdir())


def test_a_corpus_is_not_mistaken_for_raw_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(format_conll09(SENTENCE))
    with pytest.raises(ConfigError, match=r"x\.txt: .* needs the format conll09"):
        read_sentences(path)
    assert next(read_sentences(path, "conll09")).propositions == SENTENCE.propositions


def test_raw_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("Dogs bark.\n\nCats do not. They sleep.\n")
    found = list(reader := read_sentences(path, "text"))
    assert [(s.text, s.start, s.id) for s in found] == [
        ("Dogs bark.", 0, f"{path}-1"),
        ("Cats do not.", 12, f"{path}-2"),
        ("They sleep.", 25, f"{path}-3"),
    ]
    assert reader.where() == str(path)


def test_merging_is_for_stand_off_files():
    with pytest.raises(
        ConfigError,
        match=r"a: expected a CoNLL-U Plus file \(conllup\) to merge with b, got conllu",
    ):
        read_sentences("a", "conllu", merge="b")
    with pytest.raises(
        ConfigError, match="expected two files to merge, got standard input for both"
    ):
        read_sentences("-", "conllup", merge="-")


CONLLU = """\
# text = ab c
1-2	ab	_	_	_	_	_	_	_	_
1	a	_	_	_	_	_	_	_	_
2	b	_	_	_	_	_	_	_	_
3	c	_	_	_	_	_	_	_	_


# next
1	d	_	_	_	_	_	_	_	_
"""


def test_readers_know_the_line_of_the_last_sentence(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(CONLLU)
    reader = read_sentences(path)
    assert reader.where() == str(path)
    next(reader)
    assert [reader.where(word) for word in (None, 0, 1, 2)] == [f"{path}:{n}" for n in (3, 3, 4, 5)]
    next(reader)
    assert reader.where() == f"{path}:9"
    assert list(reader) == []
    assert reader.where(5) == f"{path}:9"


@pytest.mark.parametrize(("format", "lines"), [("jsonl", [1, 2]), ("conll09", [1, 4])])
def test_lines_of_sentences_in_other_formats(tmp_path, format, lines):
    path = tmp_path / f"x.{format}"
    write_sentences([SENTENCE] * 2, path)
    reader = read_sentences(path)
    assert [reader.where() for _ in reader] == [f"{path}:{line}" for line in lines]


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
    with pytest.raises(DataError, match="word 1 is empty"):
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
        "from capsrl.formats.formats import read_sentences, write_sentences\n"
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
