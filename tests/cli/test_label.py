"""`capsrl label` with the model that ships: the same answers as the library, in every format."""

import dataclasses
import gzip
import io
import json
import os
import pty
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import capsrl
from capsrl.cli import main
from capsrl.cli.inputs import read_inputs
from capsrl.data.formats import read_sentences
from capsrl.data.jsonl import json_schema, sentence_from_dict
from capsrl.show import role_histories
from capsrl.show.table import make_console, table_parts
from tests.helpers.tiny_networks import assert_same_answers, make_labeler

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "fixtures" / "tiny.conll09"
TEXT = "Hiti signed the contract. His sudden decision to leave town wasn't liked."
LETTER = """Dear Hiti,

my dogs have barked since you left.
Nobody sleeps.


Yours, Anna
"""
FRAMES = """<frameset><predicate lemma="bark"><roleset id="bark.01" name="make noise"><roles>
<role n="0" descr="barker of legend"/></roles></roleset></predicate></frameset>"""


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def label(monkeypatch, capsys, tmp_path):
    """Run the command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["capsrl", "label", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        return Done(stopped.value.code, *capsys.readouterr())

    return run


def sentences_of(output):
    """The sentences of JSON or JSON lines, each checked against the schema."""
    data = json.loads(output) if output[0] == "[" else map(json.loads, output.splitlines())
    found = []
    for each in data:
        Draft202012Validator(json_schema()).validate(each)
        found.append(sentence_from_dict(each))
    return found


def tables(sentences, **options):
    file = io.StringIO()
    make_console(file).print(*table_parts(sentences, **options))
    return file.getvalue()


def test_text_as_a_table(label, labeler):
    done = label(TEXT)
    assert (done.code, done.err) == (0, "")
    assert done.out == tables(labeler.label(TEXT))
    lines = done.out.splitlines()
    assert lines[0] == "Hiti signed the contract."
    assert lines[2].split() == ["A0", "Hiti", "1.00", "0-4"]
    assert "His sudden decision to leave town wasn't liked." in lines


def test_text_as_json_is_what_the_library_says(label, labeler):
    done = label(TEXT, "--format", "json")
    labelled = [sentence.alone() for sentence in labeler.label(TEXT)]
    assert json.loads(done.out) == [sentence.to_dict() for sentence in labelled]
    found = sentences_of(done.out)
    assert found == labelled
    assert [sentence.start for sentence in found] == [0, 26]
    for sentence in found:
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert sentence.text[start:end] == word
            assert TEXT[sentence.start + start : sentence.start + end] == word
    assert [*sentences_of(label(TEXT, "--format", "jsonl").out)] == found


def test_options_do_what_they_do_in_the_library(label, labeler):
    for arguments, options in [
        (("--iterations", 1), {"iterations": 1}),
        (("--threshold", 0.99), {"threshold": 0.99}),
        (("--kinds", "verb"), {"kinds": ["verb"]}),
        (("--kinds", "noun, adjective"), {"kinds": ["noun", "adjective"]}),
    ]:
        found = sentences_of(label(TEXT, "--format", "json", *arguments).out)
        labelled = [sentence.alone() for sentence in labeler.label(TEXT, **options)]
        assert found == labelled
        assert labelled != [sentence.alone() for sentence in labeler.label(TEXT)], arguments


def test_traces(label, labeler):
    labelled = labeler.label(TEXT, trace=True)
    assert label(TEXT, "--trace").out == tables(labelled, trace=True)
    found = sentences_of(label(TEXT, "--trace", "--format", "json").out)
    for ours, theirs in zip(found, labelled, strict=True):
        for mine, other in zip(ours.propositions, theirs.propositions, strict=True):
            for one, two in zip(role_histories(mine), role_histories(other), strict=True):
                assert (one.word, one.role, one.best) == (two.word, two.role, two.best)
                assert one.probs == pytest.approx(two.probs, abs=1e-6)
    page = label(TEXT, "--trace", "--format", "html").out
    assert page.count("<th>start</th>") == sum(len(s.propositions) for s in labelled)


@pytest.mark.parametrize("content", [LETTER, "\ufeff" + LETTER.replace("\n", "\r\n")])
def test_a_file_by_its_paragraphs(label, labeler, tmp_path, content):
    (tmp_path / "letter.txt").write_bytes(content.encode())
    done = label("--file", "letter.txt")
    assert (done.code, done.err) == (0, "")
    found = sentences_of(done.out)
    assert [sentence.id for sentence in found] == [f"letter.txt-{n}" for n in (1, 2, 3, 4)]
    for sentence in found:
        assert LETTER[sentence.start :].startswith(sentence.text)
    labelled = [
        dataclasses.replace(sentence.alone(), id=f"letter.txt-{n}")
        for n, sentence in enumerate(labeler.label(LETTER), start=1)
    ]
    assert_same_answers(found, labelled)
    assert [sentence.offsets for sentence in found] == [s.offsets for s in labelled]


def test_a_file_is_read_as_its_sentences_are_needed():
    ours, theirs = os.pipe()
    os.write(theirs, b"Dogs bark.\n\nCats")  # and never closed while it is read
    inputs = read_inputs([(f"/dev/fd/{ours}", "text")], bar=False)
    assert next(inputs).words == ("Dogs", "bark", ".")
    os.close(theirs)
    assert next(inputs).words == ("Cats",)
    os.close(ours)


def test_files_of_several_kinds(label, tmp_path):
    (tmp_path / "notes").write_text("Dogs bark.")
    (tmp_path / "words.jsonl").write_text('{"words": ["Cats", "do", "n\'t", "bark"]}')
    with gzip.open(tmp_path / "more.md.gz", "wt") as file:
        file.write("Hiti left.")
    done = label("-f", "notes", "-f", "words.jsonl", "-f", "more.md.gz", "-f", "-", stdin=b"Go!")
    found = sentences_of(done.out)
    assert [" ".join(sentence.words) for sentence in found] == [
        "Dogs bark .",
        "Cats do n't bark",
        "Hiti left .",
        "Go !",
    ]
    assert [sentence.id for sentence in found] == ["notes-1", None, "more.md.gz-1", "stdin-1"]
    assert found[1].text is None


@pytest.mark.parametrize("arguments", [(), ("-",), ("--file", "-")])
def test_standard_input(label, arguments):
    done = label(*arguments, stdin="Dogs bark. 😀".encode())
    assert [sentence.words for sentence in sentences_of(done.out)] == [
        ("Dogs", "bark", "."),
        ("😀",),
    ]


def test_a_corpus_with_given_predicates(label, labeler):
    done = label("--file", TINY, "--predicates", "given")
    gold = list(read_sentences(TINY))
    found = sentences_of(done.out)
    assert [sentence.predicates for sentence in found] == [s.predicates for s in gold]
    assert_same_answers(found, list(labeler.label_sentences(gold)))
    predicted = sentences_of(label("--file", TINY).out)
    assert_same_answers(predicted, list(labeler.label_sentences(gold, predicates="predicted")))


def test_the_format_of_the_input_by_name(label, tmp_path):
    rows = TINY.read_text(encoding="utf-8").split("\n\n")[1] + "\n\n"
    (tmp_path / "cat.txt").write_text(rows, encoding="utf-8")
    named = label("-f", "cat.txt", "--from", "conll09", "--predicates", "given", "-o", "a.conll09")
    assert (named.code, named.err) == (0, "1 sentence, 1 proposition\n")
    assert (tmp_path / "a.conll09").read_text(encoding="utf-8") == rows
    as_text = sentences_of(label("-f", "cat.txt").out)
    assert as_text[0].words[:3] == ("1", "The", "the")


def test_conll09_has_tags_and_lemmas(label):
    done = label("The dogs were barking at Hiti.", "--format", "conll09")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert rows.pop() == [""]
    assert [row[1] for row in rows] == ["The", "dogs", "were", "barking", "at", "Hiti", "."]
    assert [row[2] for row in rows] == ["the", "dog", "be", "bark", "at", "Hiti", "."]
    assert [row[4] for row in rows] == ["DT", "NNS", "VBD", "VBG", "IN", "NNP", "."]
    assert [row[2:5:2] for row in rows] == [row[3:6:2] for row in rows]  # gold and predicted
    assert [row[13] for row in rows] == ["_", "_", "_", "bark.01", "_", "_", "_"]
    assert rows[1][14] == "A0"


def test_lemmas_of_a_corpus_are_kept(label):
    done = label("--file", TINY, "--predicates", "given", "--format", "conll09")
    before = [line.split("\t") for line in TINY.read_text(encoding="utf-8").splitlines()]
    after = [line.split("\t") for line in done.out.splitlines()]
    assert [row[:12] for row in after] == [row[:12] for row in before]


@pytest.mark.parametrize("name", ["a.conll09", "a.conllu", "a.conllup.gz", "a.ndjson.xz"])
def test_what_is_written_is_read_again(label, labeler, tmp_path, name):
    done = label(TEXT, "--output", name)
    labelled = labeler.label(TEXT)
    n_propositions = sum(len(sentence.propositions) for sentence in labelled)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"2 sentences, {n_propositions} propositions\n"
    found = list(read_sentences(name, "conllup" if name == "a.conllu" else None))
    for ours, theirs in zip(found, labelled, strict=True):
        assert (ours.words, ours.tags, ours.predicates) == (
            theirs.words,
            theirs.tags,
            theirs.predicates,
        )
        assert [p.sense for p in ours.propositions] == [p.sense for p in theirs.propositions]
    if "conllu" in name:
        assert [sentence.text for sentence in found] == [s.alone().text for s in labelled]


def test_pages_and_pictures(label, tmp_path):
    assert label(TEXT, "-o", "a.html").code == label(TEXT, "-o", "a.svg").code == 0
    page = ET.parse(tmp_path / "a.html").getroot()
    assert len(list(page.iter("{http://www.w3.org/2000/svg}svg"))) == 2
    picture = ET.parse(tmp_path / "a.svg").getroot()
    words = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Hiti", "signed", "decision", "n't"} <= words
    (tmp_path / "dogs.txt").write_text("Dogs bark.")
    assert "<title>dogs.txt</title>" in label("-f", "dogs.txt", "--format", "html").out


@pytest.mark.parametrize("arguments", [(), ("--trace",), ("--format", "html")])
def test_frames_say_what_roles_mean(label, tmp_path, arguments):
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "bark.xml").write_text(FRAMES)
    done = label("Dogs bark.", "--frames", "frames", *arguments)
    assert done.out.count("barker of legend") == 1


def test_another_model(label, tmp_path):
    make_labeler().save(tmp_path / "mine")
    done = label("Dogs bark.", "--model", "mine", "--format", "json")
    expected = [sentence.alone() for sentence in capsrl.load(tmp_path / "mine").label("Dogs bark.")]
    assert sentences_of(done.out) == expected


@pytest.mark.parametrize(
    ("format", "expected"), [("table", ""), ("json", "[]\n"), ("jsonl", ""), ("conll09", "")]
)
def test_nothing_to_label(label, format, expected):
    done = label(" \n", "--format", format)
    assert (done.code, done.out) == (0, expected)
    assert done.err == "0 sentences, 0 propositions\n"


def test_the_name_of_a_file_is_a_text_but_noted(label, tmp_path):
    (tmp_path / "dogs.txt").write_text("Dogs bark.")
    done = label("dogs.txt", "--format", "json")
    assert [sentence.words for sentence in sentences_of(done.out)] == [("dogs.txt",)]
    assert done.err == "note: dogs.txt is a file; to label what it holds: --file dogs.txt\n"


def test_lone_surrogates_are_shown_or_refused(label):
    text = "Dogs bark \udcff."  # what Python makes of a byte that is no UTF-8
    assert "bark \ufffd." in label(text).out
    assert "\\udcff" in label(text, "--format", "json").out
    assert label(text, "--format", "html").code == label(text, "--format", "svg").code == 0
    done = label(text, "--format", "conll09")
    assert done.code == 2
    assert done.err.startswith(
        "error: <stdout>: expected Unicode text, got the lone surrogate U+DCFF"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Go.", "-f", "x"), "expected TEXT or --file, got both: 'Go.' and x; say --file before"),
        (("-f", "-", "-f", "-"), "expected standard input (-) once, got it twice"),
        (("-f", "absent.txt"), "absent.txt: cannot be read: No such file"),
        (("-f", "bad.txt"), "bad.txt:2: expected UTF-8 text, got byte 0xff; convert the file"),
        (("-f", "bad.jsonl"), "bad.jsonl:1: words[0]: expected a string, got 1"),
        (("Go.", "--format", "xml"), "--format: expected one of table, json, jsonl, conll09, co"),
        (("-f", "x", "--from", "up2"), "--from: expected one of text, conll09, conllu, conllup, "),
        (("Go.", "-o", "x.doc"), "x.doc: expected a suffix of .txt .json .jsonl"),
        (("Go.", "-o", "x.gz"), "x.gz: expected a suffix of .txt .json .jsonl"),
        (("Go.", "-o", "absent/x.json"), "absent/x.json: cannot be written: No such file"),
        (
            ("Go.", "--kinds", "verb,adverb"),
            "--kinds: expected some of verb,noun,adjective, got 'adverb'",
        ),
        (("Go.", "--predicates", "gold"), "--predicates: expected given or predicted, got gold"),
        (("Go.", "--predicates", "given"), "--predicates given: expected a corpus that marks its "),
        (("-f", "x.txt", "--predicates", "given"), "--predicates given: expected a corpus that"),
        (("Go.", "--trace", "--format", "svg"), "--trace: expected a format with a place for that"),
        (("Go.", "--frames", ".", "--format", "json"), "--frames: expected a format with a place"),
        (("Go.", "--frames", "absent"), "absent: expected a folder with PropBank frame files"),
        (
            ("Go.", "--model", "xx"),
            "xx: expected a model folder, or the name of a model that ships",
        ),
        (("Go.", "--device", "abacus"), "--device: expected cpu, cuda or cuda:N, got abacus"),
    ],
)
def test_mistakes_exit_with_one_line(label, tmp_path, arguments, message):
    (tmp_path / "bad.txt").write_bytes(b"Dogs\n\xff bark.")
    (tmp_path / "bad.jsonl").write_text('{"words": [1]}')
    done = label(*arguments)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")
    assert (done.err.count("\n"), done.out) == (1, "")


def test_an_error_leaves_the_old_file_alone(label, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"Dogs bark.\n\n\xff")
    (tmp_path / "out.json").write_text("old")
    assert label("-f", "bad.txt", "-o", "out.json").code == 2
    assert (tmp_path / "out.json").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.txt", "out.json"]


@pytest.mark.parametrize("arguments", [("--iterations", "0"), ("--threshold", "1.5")])
def test_numbers_out_of_range(label, arguments):
    done = label("Go.", *arguments)
    assert done.code == 2
    assert arguments[0] in done.err


def test_without_torch():
    code = (
        "import sys; sys.modules['torch'] = None; sys.argv = ['capsrl', 'label', 'Go.']; "
        "from capsrl.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "error: labelling needs torch: pip install 'capsrl[model]'\n"


def run_on_a_terminal(arguments, folder, **streams):
    """The command with a terminal for the streams that are not given; what it showed there."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "capsrl", "label", *arguments],
        **{"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams,
        cwd=folder,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
        timeout=120,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return done, shown.decode()


def test_a_table_and_no_bar_on_a_terminal(tmp_path):
    (tmp_path / "dogs.txt").write_text("Dogs bark.\n\nCats do not.")
    done, shown = run_on_a_terminal(["-f", "dogs.txt"], tmp_path)
    assert done.returncode == 0
    assert "lines" not in shown
    assert shown.startswith("Dogs bark.\r\n")
    assert "Cats do not.\r\n" in shown


def test_a_bar_while_a_file_is_written(tmp_path):
    (tmp_path / "dogs.txt").write_text("Dogs bark.\n\n" * 50)
    done, shown = run_on_a_terminal(
        ["-f", "dogs.txt"], tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 50
    assert "dogs.txt" in shown and "100 lines" in shown


def test_nothing_given_on_a_terminal(tmp_path):
    done, shown = run_on_a_terminal([], tmp_path)
    assert done.returncode == 2
    assert shown.startswith("error: expected TEXT, --file FILE or text on standard input, got none")


def test_the_page_about_labelling(label, tmp_path):
    """Its blocks print what it says they print; JSON to five digits."""
    page = (ROOT / "docs" / "labelling.md").read_text(encoding="utf-8")
    (tmp_path / "notes.txt").write_text(page.split("```text\n")[1].split("```")[0])
    blocks = [block.split("```")[0] for block in page.split("```console\n")[1:]]
    runs = [run.partition("\n") for block in blocks for run in block.split("$ capsrl label ")[1:]]
    assert len(runs) == 4
    for command, _, shown in runs:
        printed = label(*shlex.split(command)).out
        if shown.startswith("["):
            assert_same_answers(sentences_of(printed), sentences_of(shown))
        else:
            assert printed == shown, command


def test_the_python_of_the_page_about_labelling(capsys):
    page = (ROOT / "docs" / "labelling.md").read_text(encoding="utf-8")
    code, _, rest = page.split("```python\n")[1].partition("```")
    exec(compile(code, "docs/labelling.md", "exec"), {})
    assert capsys.readouterr().out == rest.split("```\n")[1].split("```")[0]
