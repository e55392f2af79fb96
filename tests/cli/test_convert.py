import subprocess

import pytest

from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from tests.helpers.terminal import run_on_a_terminal

SENTENCE = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))


@pytest.fixture
def convert(capsrl):
    return lambda *arguments, **others: capsrl("convert", *arguments, **others)


def test_from_one_suffix_to_another(convert, tmp_path):
    write_sentences([SENTENCE] * 2, tmp_path / "in.conll09")
    done = convert("in.conll09", "out.jsonl.gz")
    assert (done.code, done.out, done.err) == (0, "", "2 sentences\n")
    found = [sentence.propositions for sentence in read_sentences(tmp_path / "out.jsonl.gz")]
    assert found == [SENTENCE.propositions] * 2


def test_standard_input_and_output(convert):
    line = '{"words": ["Dogs", "bark"], "propositions": [{"predicate": 1, "sense": "bark.01"}]}'
    done = convert("-", "-", "--from", "jsonl", "--to", "conllup", stdin=line.encode())
    assert done.code == 0
    assert done.out.split("\n")[2] == "2\tbark" + "\t_" * 8 + "\tbark.01\t_\t_"
    assert done.err == "1 sentence\n"


def test_text_to_sentences(convert, tmp_path):
    (tmp_path / "a.txt").write_text("Dogs bark. Cats sleep.")
    assert convert("a.txt", "a.jsonl").err == "2 sentences\n"
    words = [sentence.words for sentence in read_sentences(tmp_path / "a.jsonl")]
    assert words == [("Dogs", "bark", "."), ("Cats", "sleep", ".")]


def test_another_encoding(convert, tmp_path):
    (tmp_path / "a.txt").write_bytes("Zoë left.".encode("latin-1"))
    assert convert("a.txt", "a.jsonl", "--encoding", "latin-1").err == "1 sentence\n"
    [sentence] = read_sentences(tmp_path / "a.jsonl")
    assert sentence.text == "Zoë left."
    done = convert("a.txt", "b.jsonl")
    assert (done.code, "such as --encoding latin-1, or convert" in done.err) == (2, True)
    [same] = read_sentences(tmp_path / "a.txt", "text", encoding="latin-1")
    assert same.text == sentence.text


def test_merging(convert, tmp_path):
    (tmp_path / "up.conllup").write_text(
        "# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS\n"
        "# sent_id = s\n0.1\t_\t_\t_\n1\t_\t_\t_\n2\tgo.01\tA0:1|AM-DIR:3\t_\n"
    )
    (tmp_path / "ud.conllu").write_text(
        "# sent_id = s\n0.1" + "\t_" * 9 + "\n1\tGo" + "\t_" * 8 + "\n2\thome" + "\t_" * 8 + "\n"
    )
    done = convert("up.conllup", "out.jsonl", "--merge", "ud.conllu")
    assert (done.code, done.err) == (0, "1 sentence\n")
    (sentence,) = read_sentences(tmp_path / "out.jsonl")
    assert sentence.propositions == (Proposition(0, "go.01", (Argument("AM-DIR", 1),)),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.foo", "out.jsonl"), "in.foo: expected a suffix of .txt .conll09 .conll"),
        (("in.jsonl", "out.foo"), "out.foo: expected a suffix of .conll09 .conll"),
        (("in.jsonl", "out.txt"), "out.txt: expected a suffix of .conll09 .conll .conllup .jsonl"),
        (("in.jsonl", "out.conllu"), "out.conllu: expected a suffix of .conll09 .conll .conllup "),
        (
            ("rows.txt", "out.jsonl"),
            "rows.txt:1: this looks like a corpus, not like text: '1\\t",
        ),
        (("absent.jsonl", "out.jsonl"), "absent.jsonl: no such file"),
        (("in.jsonl", "out.conllup"), "in.jsonl:1: words[0]: expected a string, got 1"),
        (("in.jsonl", "out.conllup", "--from", "up2"), "--from: expected one of text, conll09, co"),
        (("in.jsonl", "out.conllup", "--merge", "x"), "in.jsonl: expected a CoNLL-U Plus file (co"),
    ],
)
def test_mistakes_exit_with_one_line(convert, tmp_path, arguments, message):
    (tmp_path / "in.jsonl").write_text('{"words": [1]}')
    (tmp_path / "rows.txt").write_text("1\tGo" + "\t_" * 12 + "\n")
    done = convert(*arguments)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.jsonl", "rows.txt"]


def test_a_file_over_itself(convert, tmp_path):
    write_sentences([SENTENCE], tmp_path / "x.jsonl")
    assert convert("x.jsonl", "x.jsonl").code == 0
    assert list(read_sentences(tmp_path / "x.jsonl")) == [SENTENCE]


@pytest.mark.parametrize(
    ("target", "options"),
    [("x.jsonl", ("--to", "brackets")), ("x.spans.tsv", ("--phrases", "x.spans.tsv"))],
)
def test_what_is_read_is_not_replaced_by_less(convert, tmp_path, target, options):
    write_sentences([SENTENCE], tmp_path / "x.jsonl")
    write_sentences([SENTENCE], tmp_path / "x.spans.tsv")
    before = (tmp_path / target).read_bytes()
    done = convert("x.jsonl", target, *options)
    assert done.code == 2
    assert done.err.startswith(f"error: OUT: the output would overwrite the input {target}\n")
    assert (tmp_path / target).read_bytes() == before


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_a_bar_on_a_terminal(tmp_path, name):
    write_sentences([SENTENCE] * 5000, tmp_path / name)
    arguments = ["convert", name, "out.jsonl"]
    done, shown = run_on_a_terminal(arguments, tmp_path, stdin=None, stdout=subprocess.PIPE)
    assert done.returncode == 0
    assert done.stdout == b""
    assert "5,000 lines" in shown
    assert shown.endswith("5,000 sentences\r\n")


def test_phrases_to_a_spans_file_and_back(convert, tmp_path):
    arguments = (Argument("A0", 2, phrase=Phrase(0, 2)),)
    labeled = Sentence(("the", "old", "dogs", "bark"), (Proposition(3, "bark.01", arguments),))
    write_sentences([Sentence(("Well",)), labeled], tmp_path / "in.jsonl")
    assert convert("in.jsonl", "x.spans.tsv").err == "2 sentences\n"
    assert (tmp_path / "x.spans.tsv").read_text() == "2\t4\tA0\t3\t1\t3\n"
    convert("in.jsonl", "x.conll09")
    done = convert("x.conll09", "out.jsonl", "--phrases", "x.spans.tsv")
    assert (done.code, done.err) == (0, "2 sentences\n")
    assert [s.propositions for s in read_sentences("out.jsonl")] == [(), labeled.propositions]
    brackets = convert("in.jsonl", "-", "--to", "brackets").out
    assert brackets == "Well\n[A0 the old dogs] [V bark]\n"


def test_a_tsv_file_is_a_table(convert, tmp_path):
    write_sentences([SENTENCE], tmp_path / "in.jsonl")
    done = convert("in.jsonl", "out.tsv")
    assert done.code == 2
    assert "expected a suffix of .conll09 .conll .conllup .jsonl .ndjson .spans.tsv" in done.err
    assert "got .tsv" in done.err


def test_what_a_format_does_not_keep_is_named(convert, tmp_path):
    argument = Argument("A0", 1, probability=0.5, phrase=Phrase(0, 1))
    proposition = Proposition(2, "bark.01", (argument,), probability=0.5)
    labeled = Sentence(("old", "dogs", "bark"), (proposition,), id="s1")
    write_sentences([labeled], tmp_path / "in.jsonl")
    note = "note: conll09 has no phrases, probabilities, ids; --to jsonl keeps them\n"
    assert convert("in.jsonl", "out.conll09").err == f"1 sentence\n{note}"
    assert convert("in.jsonl", "out.conllup").err == "1 sentence\n"
    assert convert("out.conllup", "out.jsonl").err == "1 sentence\n"
    [found] = read_sentences("out.jsonl")
    assert found.propositions == labeled.propositions


def test_spans_of_another_corpus(convert, tmp_path):
    write_sentences([SENTENCE], tmp_path / "in.conll09")
    (tmp_path / "x.spans.tsv").write_text("1\t2\tA1\t1\t1\t1\n")
    done = convert("in.conll09", "out.jsonl", "--phrases", "x.spans.tsv")
    assert done.code == 2
    assert done.err.startswith("error: x.spans.tsv:1: expected an argument of the corpus, got A1")
