"""brat's files are read back equal, follow brat's grammar, and take an annotator's changes."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsrl import Argument, Phrase, Proposition, Sentence
from capsrl.errors import ConfigError, DataError
from capsrl.formats.brat import write_brat
from capsrl.formats.formats import read_sentences
from tests.helpers.annotated_sentences import sentences

# The lines that server/src/annotation.py of brat reads: textbound, relation, note.
LINE = re.compile(
    r"T\d+\t[\w-]+ \d+ \d+\t[^\t\n]+|R\d+\t[\w-]+ \w+:T\d+ \w+:T\d+|#\d+\t\w+ T\d+\t[^\t\n]+"
)


def sold() -> Sentence:
    text = "Mira sold her bicycle to Omar yesterday."
    words = ("Mira", "sold", "her", "bicycle", "to", "Omar", "yesterday", ".")
    offsets = ((0, 4), (5, 9), (10, 13), (14, 21), (22, 24), (25, 29), (30, 39), (39, 40))
    arguments = (
        Argument("A0", 0, 0.9, phrase=Phrase(0, 0)),
        Argument("A1", 3, 0.8, phrase=Phrase(2, 3)),
    )
    proposition = Proposition(1, "sell.01", arguments, 0.7, joint_probability=0.5)
    return Sentence(words, text=text, offsets=offsets).with_propositions([proposition])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(sentences(), max_size=3))
def test_read_back_equal(tmp_path, found):
    for file in tmp_path.iterdir():
        file.unlink()
    write_brat(found, tmp_path / "x.ann")
    assert list(read_sentences(tmp_path / "x.ann")) == found
    text = (tmp_path / "x.txt").read_text(encoding="utf-8")
    for line in (tmp_path / "x.ann").read_text(encoding="utf-8").split("\n")[:-1]:
        assert LINE.fullmatch(line), line
        if line[0] == "T":  # brat compares the text of a line with that of the file
            _, place, covered = line.split("\t")
            assert text[slice(*map(int, place.split()[1:]))] == covered


def test_what_is_written(tmp_path):
    write_brat([sold()], tmp_path / "x.ann")
    lines = (tmp_path / "x.ann").read_text().splitlines()
    assert lines[0] == "T1\tPredicate 5 9\tsold"
    assert lines[1].startswith("#1\tAnnotatorNotes T1\tsell.01 {")
    assert [line for line in lines if line[0] == "R"] == [
        "R1\tA0 Arg1:T1 Arg2:T2",
        "R2\tA1 Arg1:T1 Arg2:T3",
    ]
    assert "\nA0\tArg1:Predicate, Arg2:Argument\n" in (tmp_path / "annotation.conf").read_text()


def test_roles_of_a_second_file_are_in_the_configuration_of_the_first(tmp_path):
    write_brat([sold()], tmp_path / "x.ann")
    who = Sentence(("who", "left"), (Proposition(1, "leave.01", (Argument("R-A0", 0),)),))
    write_brat([who], tmp_path / "y.ann")
    configuration = (tmp_path / "annotation.conf").read_text()
    assert "R1\tR-A0 " in (tmp_path / "y.ann").read_text()
    assert "\nR-A0\tArg1:Predicate, Arg2:Argument\n" in configuration
    assert configuration.count("\nA0\t") == 1


def change(path, old: str, new: str) -> Sentence:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    [found] = read_sentences(path)
    return found


def test_a_moved_span_gets_a_new_head_and_no_probability(tmp_path):
    write_brat([sold()], tmp_path / "x.ann")
    found = change(tmp_path / "x.ann", "Argument 10 21", "Argument 10 29")
    [proposition] = found.propositions
    assert proposition.arguments[0] == sold().propositions[0].arguments[0]
    moved = proposition.arguments[1]
    assert (moved.word, moved.phrase.first, moved.phrase.last) == (3, 2, 5)
    assert moved.probability is None and proposition.joint_probability is None
    assert proposition.probability == 0.7


def test_a_new_role_or_sense_keeps_the_place(tmp_path):
    write_brat([sold()], tmp_path / "x.ann")
    [proposition] = change(tmp_path / "x.ann", "R2\tA1", "R2\tA2").propositions
    assert proposition.arguments[1].role == "A2" and proposition.arguments[1].word == 3
    assert proposition.arguments[1].probability is None
    [proposition] = change(tmp_path / "x.ann", "\tsell.01 ", "\tsell.02 ").propositions
    assert (proposition.sense, proposition.probability) == ("sell.02", None)


def test_files_of_others(tmp_path):
    (tmp_path / "y.txt").write_text("We met. Mira sold her old\nbicycle to Omar.\n")
    (tmp_path / "y.ann").write_text(
        "T1\tVerb 13 17\tsold\nT2\tPerson 8 12\tMira\n"
        "T3\tThing 18 25;26 33\ther old bicycle\n"
        "R1\tA0 Arg1:T1 Arg2:T2\t\nR2\tA1 Arg1:T1 Arg2:T3\n*\tEquiv T2 T3\n"
        "#1\tAnnotatorNotes T1\tsell.01\n"
    )
    met, found = read_sentences(tmp_path / "y.ann")
    assert met.words == ("We", "met", ".") and not met.propositions
    [proposition] = found.propositions
    assert (proposition.form, proposition.sense) == ("sold", "sell.01")
    assert [(a.role, a.form) for a in proposition.arguments] == [("A0", "Mira"), ("A1", "bicycle")]


@pytest.mark.parametrize("note", ["[" * 100_000, '"a.01" ' + "[" * 100_000, '{"a":' * 100_000])
def test_notes_that_are_no_json(tmp_path, note):
    (tmp_path / "a.txt").write_text("We met.\n")
    (tmp_path / "a.ann").write_text(f"T1\tPredicate 3 6\tmet\n#1\tAnnotatorNotes T1\t{note}\n")
    [found] = read_sentences(tmp_path / "a.ann")
    assert [each.form for each in found.propositions] == ["met"]


def test_mistakes(tmp_path):
    with pytest.raises(ConfigError, match="-: brat needs several files; name the first"):
        write_brat([sold()], "-")
    (tmp_path / "x.txt").write_text("the user's own")
    with pytest.raises(DataError, match="x.txt: is there with another text"):
        write_brat([sold()], tmp_path / "x.ann")
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]
    odd = Sentence(("a",), (Proposition(0, "a.01", (Argument("A 1", 0),)),))
    with pytest.raises(DataError, match="expected a role of letters, digits, - and _ for brat"):
        write_brat([odd], tmp_path / "z.ann")
    (tmp_path / "w.ann").write_text("R1\tA0 Arg1:T1 Arg2:T2\n")
    with pytest.raises(DataError, match="w.ann: expected the text beside it"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.txt").write_bytes(b"Well.\n\xff\n")
    with pytest.raises(DataError, match="w.txt:2: expected UTF-8 text, got byte 0xff"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.txt").write_text("Well.")
    with pytest.raises(DataError, match="w.ann:1: expected a relation of two entities"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.ann").write_text("T1 Predicate\n")
    with pytest.raises(DataError, match="w.ann:1: expected a line of brat"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.ann").write_text(f"T1\tPredicate {'1' * 5000}\tsold\n")
    with pytest.raises(DataError, match="w.ann:1: expected a line of brat"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.sentences.jsonl").write_text("{\n")
    with pytest.raises(DataError, match="w.sentences.jsonl:1: expected a JSON object"):
        list(read_sentences(tmp_path / "w.ann"))
    (tmp_path / "w.sentences.jsonl").unlink()
    (tmp_path / "w.ann").write_text("T1\tPredicate 90 95\tsold\n")
    with pytest.raises(DataError, match="expected a span inside one sentence, with a word"):
        list(read_sentences(tmp_path / "w.ann"))
    write_brat([sold()], tmp_path / "v.ann")
    (tmp_path / "v.txt").write_text("edited")
    with pytest.raises(DataError, match="the text is not that of its sentences"):
        list(read_sentences(tmp_path / "v.ann"))
