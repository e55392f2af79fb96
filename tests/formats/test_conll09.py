import gzip
import lzma
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.files.opening import open_writer, read_lines
from capsrl.formats.conll09 import format_conll09, read_conll09
from capsrl.sentence import Argument, Proposition, Sentence

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


def block(*rows):
    return [row.replace(" ", "\t") for row in rows]


def read(*rows):
    return list(read_conll09(block(*rows), source="x.conll09"))


def written(sentences):
    return "".join(map(format_conll09, sentences))


# ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL
DOGS = "1 Dogs dog dog NNS NNS n=p _ 2 2 SBJ SBJ"
BARKS = Proposition(1, "bark.01", (Argument("A0", 0),))
BARK = "2 bark bark bark VBP VBP _ _ 0 0 ROOT ROOT"


@pytest.fixture(scope="module")
def tiny():
    return list(read_conll09(read_lines(TINY), source="tiny.conll09"))


def test_worked_example():
    (sentence,) = read(
        "1 Dogs dog Dog NNS NN n=p _ 2 3 SBJ OBJ _ _ A0 A1",
        "2 bark bark bork VBP VB _ _ 0 0 ROOT TOP Y bark.01 _ AM-X",
        "3 bites bite bit NNS NS _ _ 2 1 OBJ SBJ Y bite.02 A1|AM-LOC A0",
    )
    assert sentence == Sentence(
        words=("Dogs", "bark", "bites"),
        propositions=(
            Proposition(
                1, "bark.01", (Argument("A0", 0), Argument("A1", 2), Argument("AM-LOC", 2))
            ),
            Proposition(2, "bite.02", (Argument("A1", 0), Argument("AM-X", 1), Argument("A0", 2))),
        ),
        lemmas=("Dog", "bork", "bit"),
        tags=("NN", "VB", "NS"),
        heads=(2, None, 0),
        relations=("OBJ", "TOP", "SBJ"),
        columns={
            "LEMMA": ("dog", "bark", "bite"),
            "PLEMMA": ("Dog", "bork", "bit"),
            "POS": ("NNS", "VBP", "NNS"),
            "PPOS": ("NN", "VB", "NS"),
            "FEAT": ("n=p", "_", "_"),
            "PFEAT": ("_", "_", "_"),
            "HEAD": ("2", "0", "2"),
            "PHEAD": ("3", "0", "1"),
            "DEPREL": ("SBJ", "ROOT", "OBJ"),
            "PDEPREL": ("OBJ", "TOP", "SBJ"),
        },
    )


def test_tiny(tiny):
    assert len(tiny) == 14
    assert tiny[0].propositions == ()
    assert tiny[3].propositions[2] == Proposition(4, "teacher.01", (Argument("A0", 4),))
    assert tiny[4].propositions[0].arguments[1:] == (Argument("AM-LOC", 3), Argument("AM-DIR", 3))
    assert tiny[5].words[8:] == ("東京", "🙂")
    assert tiny[6].heads == (None, 0, None, 2, 2)
    assert tiny[9].words[3] == "_"
    assert len(tiny[13]) == 56
    assert tiny[13].predicates == (4, 12, 18, 24, 29, 35, 51)
    assert all("PRED" not in sentence.columns for sentence in tiny)


def test_tiny_comes_back(tiny):
    assert written(tiny) == TINY.read_text(encoding="utf-8")


def test_gold_columns_when_none_are_predicted():
    (sentence,) = read("1 Go go _ VB _ _ _ 0 _ ROOT _ _ _", "2 on on _ RP _ _ _ 1 _ PRT _ _ _")
    assert sentence.lemmas == ("go", "on")
    assert sentence.tags == ("VB", "RP")
    assert sentence.heads == (None, 0)
    assert sentence.relations == ("ROOT", "PRT")


def test_nothing_known():
    (sentence,) = read("1 _ _ _ _ _ _ _ _ _ _ _ _ _")
    assert sentence.words == ("_",)
    assert sentence.lemmas is sentence.tags is sentence.heads is sentence.relations is None


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.removesuffix("\n"),
        lambda text: text.removesuffix("\n\n"),
        lambda text: text.replace("\n\n", "\n\n\n \n\n"),
        lambda text: "\n\n" + text,
    ],
    ids=["crlf", "bom", "no final blank line", "no final newline", "blank lines", "blank start"],
)
def test_line_ends(tmp_path, tiny, change):
    text = change(TINY.read_text(encoding="utf-8"))
    assert list(read_conll09(text.split("\n"))) == tiny
    assert list(read_conll09(text.splitlines(keepends=True))) == tiny
    path = tmp_path / "x.conll09"
    path.write_bytes(text.encode())
    assert list(read_conll09(read_lines(path))) == tiny


def test_reading_is_lazy(tiny):
    def lines():
        yield from TINY.read_text(encoding="utf-8").split("\n")[:11]
        raise AssertionError("read on")

    assert list(islice(read_conll09(lines()), 2)) == tiny[:2]


BLIND = {
    "12 columns": ("", ""),
    "13 columns": (" _", " Y"),
    "14 columns": (" _ _", " Y _"),
    "15 columns": (" _ _ _", " Y _ _"),
    "dashes": (" - - -", " Y - -"),
}


@pytest.mark.parametrize(("dogs", "bark"), BLIND.values(), ids=BLIND.keys())
def test_blind_files(dogs, bark):
    rows = block(DOGS + dogs, BARK + bark)
    (sentence,) = read_conll09(rows)
    assert sentence.propositions == ((Proposition(1),) if bark else ())
    assert format_conll09(sentence).split("\n") == [*rows, "", ""]
    labeled = sentence.with_propositions([BARKS])
    assert format_conll09(labeled).split("\n")[:2] == block(DOGS + " _ _ A0", BARK + " Y bark.01 _")
    unlabeled = replace(labeled, propositions=())
    assert format_conll09(unlabeled).split("\n")[:2] == (
        block(DOGS, BARK) if not bark else block(DOGS + " _ _", BARK + " _ _")
    )


ODD = {
    "PRED without FILLPRED": ([" _ _ A0", " _ bark.01 _"], (BARKS,)),
    "dash for nothing": ([" - - A0", " Y bark.01 -"], (BARKS,)),
    "FILLPRED N": ([" N _ A0", " Y bark.01 _"], (BARKS,)),
    # The system left out a predicate that the gold file marks: no column for it, or an empty one.
    "left out": ([" Y _ A0", " Y bark.01 _"], (Proposition(0), BARKS)),
    "left empty": ([" Y _ _ A0", " Y bark.01 _ _"], (Proposition(0), BARKS)),
}


@pytest.mark.parametrize(("ends", "propositions"), ODD.values(), ids=ODD.keys())
def test_odd_but_legal(ends, propositions):
    rows = block(DOGS + ends[0], BARK + ends[1])
    (sentence,) = read_conll09(rows)
    assert sentence.propositions == propositions
    assert format_conll09(sentence).split("\n") == [*rows, "", ""]


def test_more_than_nine_kept_columns():
    rows = [
        "\t".join([str(i + 1), *"w__________", "Y", "s.01", *"-" * i, "A0", *"-" * (11 - i)])
        for i in range(12)
    ]
    (sentence,) = read_conll09(rows)
    shuffled = replace(sentence, columns=dict(sorted(sentence.columns.items())))
    assert format_conll09(shuffled).split("\n") == [*rows, "", ""]


BAD = {
    "too narrow": (
        [DOGS + " _ _ A0 _", BARK + " Y bark.01 _", DOGS + " Y dog.01 _ _"],
        r"2: expected 16 columns .14 fixed . 2 for the predicates of this sentence., got 15$",
    ),
    "too wide": ([DOGS + " _ _ _", BARK + " _ _"], "1: expected 14 columns, got 15$"),
    "APRED without predicate": (
        [DOGS + " _ _ A0", BARK + " _ _ _"],
        "1: expected 14 columns, got 15$",
    ),
    "missing APRED": (
        [DOGS + " _ _", BARK + " Y bark.01"],
        "1: expected 15 columns .14 fixed . 1 .*got 14$",
    ),
    "blind, ragged": ([DOGS, BARK + " Y"], "2: expected 12 columns, got 13$"),
    "spaces": (
        [(DOGS + " _ _").replace(" ", "\u00a0")],
        "1: expected 14 columns, got 1; columns are separated by tabs",
    ),
    "CoNLL-U": (
        ["1 Dogs dog NOUN NNS n=p 2 nsubj _ _"],
        "1: expected 14 columns, got 10; is this CoNLL-U",
    ),
    "comment": (["# text_=_Dogs bark", DOGS], "1: expected 14 columns, got 3; is this CoNLL-U"),
    "empty cell": (
        [DOGS + " _ _", BARK.replace("VBP", "", 1) + " _ _"],
        "2: expected _ in every empty cell, got nothing in column 5$",
    ),
    "empty last cell": (
        [DOGS + " _ _", BARK + " _ _ "],
        "2: expected _ in every empty cell, got nothing in column 15$",
    ),
    "ID skips": ([DOGS + " _ _", "3" + BARK[1:] + " _ _"], "2: expected ID 2, got '3'$"),
    "ID from 0": (["0" + DOGS[1:] + " _ _"], "1: expected ID 1, got '0'$"),
    "ID a word": ([DOGS + " _ _", "two" + BARK[1:] + " _ _"], "2: expected ID 2, got 'two'$"),
    "HEAD a word": (
        [DOGS + " _ _", BARK.replace(" 0 0 ", " no 0 ") + " _ _"],
        "2: expected HEAD from 0 to 2, got 'no'$",
    ),
    "PHEAD too far": (
        [DOGS.replace(" 2 2 ", " 2 3 ") + " _ _", BARK + " _ _"],
        "1: expected PHEAD from 0 to 2, got '3'$",
    ),
    "HEAD below 0": (
        [DOGS + " _ _", BARK.replace(" 0 0 ", " -1 0 ") + " _ _"],
        "2: expected HEAD .* got '-1'$",
    ),
    "HEAD not ASCII": (
        [DOGS + " _ _", BARK.replace(" 0 0 ", " ٣ 0 ") + " _ _"],
        "2: expected HEAD .* got '٣'$",
    ),
    "HEAD missing": (
        [DOGS + " _ _", BARK.replace(" 0 0 ", " _ 0 ") + " _ _"],
        "2: expected HEAD .* got '_'; an unparsed sentence has _ at every word$",
    ),
    "HEAD enormous": (
        [DOGS + " _ _", BARK.replace(" 0 0 ", f" {'9' * 5000} 0 ") + " _ _"],
        "2: expected HEAD .*got '999",
    ),
    "empty role": (
        [DOGS + " _ _ A0|", BARK + " Y bark.01 _"],
        r"1: expected roles joined by \|, got 'A0\|'$",
    ),
    "carriage return": ([DOGS + " _\r _"], "1: expected carriage returns only at the end"),
    "no role": (
        [DOGS + " _ _ _", BARK + " Y bark.01 _|A1"],
        r"2: expected roles joined by \|, got '_\|A1'$",
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD.keys())
def test_bad_rows(rows, message):
    with pytest.raises(DataError, match=rf"^x\.conll09:{message}"):
        read(*rows)


def test_lines_are_counted_over_the_whole_file():
    good = [DOGS + " _ _", BARK + " _ _", "", ""]
    with pytest.raises(DataError, match="x.conll09:10: expected 14 columns, got 12"):
        read(*good, *good, DOGS + " _ _", BARK)
    with pytest.raises(DataError, match="x.conll09:6: expected ID 2, got '3'"):
        read(*good, DOGS + " _ _", "3" + BARK[1:] + " _ _", "", *good)


def test_writing_a_sentence_from_elsewhere():
    sentence = Sentence(
        words=("New York", "", "slept\u00a0in"),
        propositions=(Proposition(2, None, (Argument("A0", 0),)), Proposition(0, "york.01")),
        lemmas=("New York", "", "sleep"),
        heads=(2, 0, None),
        columns={"FEATS": ("_", "a b", "Tense=Past"), "XPOS": ("x", "y", "z")},
    )
    assert format_conll09(sentence).split("\n") == [
        *block(
            "1 New_York New_York New_York _ _ _ _ 3 3 _ _ Y york.01 _ A0",
            "2 _ _ _ _ _ a_b a_b 1 1 _ _ _ _ _ _",
            "3 slept_in sleep sleep _ _ Tense=Past Tense=Past 0 0 _ _ Y _ _ _",
        ),
        *("", ""),
    ]


def test_spaces_of_a_file_are_kept():
    text = "1\tNew York\t" + "\t".join("_" * 12) + "\n\n"
    assert written(read_conll09(text.split("\n"))) == text


def test_a_sentence_without_words_is_not_written():
    assert format_conll09(Sentence(())) == ""


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(("a\tb",)), r"sentence 'a\\tb': expected non-empty cells .* got 'a\\tb'"),
        (Sentence(("a", "b\n"), id="s7"), r"sentence 's7': expected non-empty cells .* got 'b\\n'"),
        (Sentence(("a\r",)), r"expected non-empty cells .* got 'a\\r'"),
        (Sentence(("a",), (Proposition(0, "_"),)), "'a': expected a sense or None, got '_'"),
        (Sentence(("a",), (Proposition(0, ""),)), "'a': expected a sense or None, got ''"),
        (Sentence(("a",), (Proposition(0, "x\ty"),)), r"expected non-empty cells .* got 'x\\ty'"),
        (Sentence(("a",), (Proposition(0, "b.01", (Argument("A0|A1", 0),)),)), "role .*'A0.A1'"),
        (Sentence(("a",), (Proposition(0, "b.01", (Argument("-", 0),)),)), "role name, got '-'"),
        (Sentence(("a",), (Proposition(0), Proposition(0))), "one proposition .* two at word 1"),
    ],
)
def test_what_the_format_cannot_hold(sentence, message):
    with pytest.raises(DataError, match=message):
        format_conll09(sentence)


def test_columns_from_elsewhere_with_holes(tiny):
    holes = replace(tiny[0], columns={**tiny[0].columns, "POS": ("", "b", "c")})
    with pytest.raises(DataError, match="non-empty cells .*, got ''"):
        format_conll09(holes)


def files_of(shared, pattern):
    files = sorted((shared / "data").glob(pattern))
    assert files
    return files


def assert_comes_back(files):
    for path in files:
        raw = lzma.open(path).read().decode()
        assert written(read_conll09(read_lines(path), source=str(path))) == raw, path


def test_small_corpora_come_back(shared):
    assert_comes_back(files_of(shared, "*/dev.conll09.xz"))
    assert_comes_back(sorted((shared / "oracles" / "eval09").glob("*.conll09.xz")))


@pytest.mark.slow
def test_every_corpus_comes_back(shared):
    files = files_of(shared, "*/*.conll09.xz")
    assert len(files) >= 50
    assert_comes_back(files)


# Strings without white space, which the format turns into underscores.
CELLS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6
)
NAMES = CELLS.filter(lambda name: name not in ("_", "-") and "|" not in name)


@st.composite
def sentences(draw):
    n_words = draw(st.integers(1, 8))

    def column(cells=CELLS):
        return tuple(draw(st.lists(cells, min_size=n_words, max_size=n_words)))

    def maybe():
        cells = column()
        # A column of nothing but _ is how the format says that nothing is known.
        return None if set(cells) == {"_"} or draw(st.booleans()) else cells

    positions = st.integers(0, n_words - 1)
    arguments = st.lists(st.builds(Argument, NAMES, positions), max_size=5).map(
        lambda found: tuple(sorted(found, key=lambda argument: argument.word))
    )
    return Sentence(
        words=column(),
        propositions=tuple(
            Proposition(predicate, draw(st.none() | NAMES), draw(arguments))
            for predicate in sorted(draw(st.sets(positions)))
        ),
        lemmas=maybe(),
        tags=maybe(),
        heads=column(st.none() | positions) if draw(st.booleans()) else None,
        relations=maybe(),
    )


@given(st.lists(sentences(), max_size=4))
def test_what_is_written_is_read(corpus):
    text = written(corpus)
    back = list(read_conll09(text.split("\n")))
    assert [replace(sentence, columns={}) for sentence in back] == corpus
    assert written(back) == text


DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(["flip", "delete", "insert"]),
        st.floats(0, 1, exclude_max=True),
        st.sampled_from([*b"\t\n\r_-|Y0129 #\x00\xff\xc3"]) | st.integers(0, 255),
    ),
    min_size=1,
    max_size=6,
)


def damaged(content, damage):
    content = bytearray(content)
    for kind, where, byte in damage:
        at = int(where * len(content))
        if kind == "flip":
            content[at] = byte
        elif kind == "delete":
            del content[at : at + 1 + byte % 4]
        else:
            content.insert(at, byte)
    return bytes(content)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(damage=DAMAGE)
def test_damage_is_refused_or_read(tmp_path, suffix, damage):
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    path = tmp_path / f"damaged.conll09{suffix}"
    path.write_bytes(damaged(pack(TINY.read_bytes()), damage))
    try:
        corpus = list(read_conll09(read_lines(path), source=str(path)))
    except DataError as error:
        assert str(error).startswith(str(path))
        return
    # What was read is a corpus like any other: it is written, and read again as itself.
    with open_writer(tmp_path / "again.conll09") as file:
        file.write(written(corpus))
    assert list(read_conll09(read_lines(tmp_path / "again.conll09"))) == corpus
