"""`capsrl label` with the model that ships: the same answers as the library, in every format."""

import dataclasses
import gzip
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import capsrl as library
from capsrl.cli.inputs import Given, read_given
from capsrl.formats.bio import format_allennlp, format_brackets
from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.formats.jsonl import json_schema, sentence_from_dict
from capsrl.formats.phrase_file import format_phrases
from capsrl.show.formatting import role_histories
from capsrl.show.table import make_console, table_parts
from tests.helpers.terminal import run_on_a_terminal
from tests.helpers.tiny_networks import assert_same_answers, make_config, make_labeler
from tests.helpers.waiting import wait_until

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


@pytest.fixture
def label(capsrl):
    return lambda *arguments, **others: capsrl("label", *arguments, **others)


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
    role, word, probability, offsets, phrase, meaning = lines[2].split()
    assert (role, word, offsets, phrase, meaning) == ("A0", "Hiti", "0-4", "Hiti", "Agent")
    assert 0.8 < float(probability) <= 1
    assert "His sudden decision to leave town wasn't liked." in lines


def test_text_as_json_is_what_the_library_says(label, labeler):
    done = label(TEXT, "--to", "json")
    labeled = [sentence.standalone() for sentence in labeler.label(TEXT)]
    assert json.loads(done.out) == [sentence.to_dict() for sentence in labeled]
    found = sentences_of(done.out)
    assert found == labeled
    assert [sentence.start for sentence in found] == [0, 26]
    for sentence in found:
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert sentence.text[start:end] == word
            assert TEXT[sentence.start + start : sentence.start + end] == word
    assert [*sentences_of(label(TEXT, "--to", "jsonl").out)] == found


def test_options_do_what_they_do_in_the_library(label, labeler):
    for arguments, options in [
        (("--iterations", 1), {"iterations": 1}),
        (("--threshold", 0.99), {"threshold": 0.99}),
        (("--pos", "verb"), {"pos": ["verb"]}),
        (("--pos", "verb", "--no-phrases"), {"pos": ["verb"], "phrases": False}),
        (("--pos", "noun, adjective"), {"pos": ["noun", "adjective"]}),
    ]:
        found = sentences_of(label(TEXT, "--to", "json", *arguments).out)
        labeled = [sentence.standalone() for sentence in labeler.label(TEXT, **options)]
        assert found == labeled
        assert labeled != [sentence.standalone() for sentence in labeler.label(TEXT)], arguments


def test_traces(label, labeler):
    labeled = labeler.label(TEXT, trace=True)
    assert label(TEXT, "--trace").out == tables(labeled, trace=True)
    found = sentences_of(label(TEXT, "--trace", "--to", "json").out)
    for ours, theirs in zip(found, labeled, strict=True):
        for mine, other in zip(ours.propositions, theirs.propositions, strict=True):
            for one, two in zip(role_histories(mine), role_histories(other), strict=True):
                assert (one.word, one.role, one.best) == (two.word, two.role, two.best)
                assert one.probs == pytest.approx(two.probs, abs=1e-6)
    page = label(TEXT, "--trace", "--to", "html").out
    traced = [each for s in labeled for each in s.propositions if role_histories(each)]
    assert page.count('<table class="capsrl-traced">') == len(traced)


@pytest.mark.parametrize("content", [LETTER, "\ufeff" + LETTER.replace("\n", "\r\n")])
def test_a_file_by_its_paragraphs(label, labeler, tmp_path, content):
    (tmp_path / "letter.txt").write_bytes(content.encode())
    done = label("letter.txt")
    assert (done.code, done.err) == (0, "")
    found = sentences_of(done.out)
    assert [sentence.id for sentence in found] == [f"letter.txt-{n}" for n in (1, 2, 3, 4)]
    for sentence in found:
        assert LETTER[sentence.start :].startswith(sentence.text)
    labeled = [
        dataclasses.replace(sentence.standalone(), id=f"letter.txt-{n}")
        for n, sentence in enumerate(labeler.label(LETTER), start=1)
    ]
    assert_same_answers(found, labeled)
    assert [sentence.offsets for sentence in found] == [s.offsets for s in labeled]


def test_a_file_is_read_as_its_sentences_are_needed():
    ours, theirs = os.pipe()
    os.write(theirs, b"Dogs bark.\n\nCats")  # and never closed while it is read
    sentences = read_given(Given(f"/dev/fd/{ours}"), bar=False)
    assert next(sentences).sentence.words == ("Dogs", "bark", ".")
    os.close(theirs)
    assert next(sentences).sentence.words == ("Cats",)
    os.close(ours)


HTML = "<h1>News</h1>\n<p>Hiti <b>signed</b>\nthe contract &amp; left.</p>\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("a.html", ()), ("a.HTM", ()), ("a.txt", ("--html",)), ("-", ("--html",))],
)
def test_html(label, labeler, tmp_path, name, arguments):
    (tmp_path / name).write_text(HTML)
    found = sentences_of(label(name, *arguments, stdin=HTML.encode()).out)
    assert [" ".join(s.words) for s in found] == ["News", "Hiti signed the contract & left ."]
    labeled = [sentence.standalone() for sentence in labeler.label(HTML.rstrip(), html=True)]
    assert_same_answers(
        found, [dataclasses.replace(s, id=f.id) for s, f in zip(labeled, found, strict=True)]
    )
    signed = found[1].propositions[0]
    assert HTML[found[1].start + signed.start :].startswith("signed</b>")


def test_html_in_quotes_is_shown_without_tags(label):
    lines = label("Hiti <b>signed</b> R&amp;D's contract.", "--html").out.splitlines()
    assert lines[0] == "Hiti signed R&D's contract."
    assert lines[1].split()[-1] == "8-14"


def test_html_files_of_a_folder(label, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.html").write_text("<b>Dogs</b> bark.")
    (tmp_path / "d" / "b.txt").write_text("a <b c> d")
    found = sentences_of(label("d").out)
    assert [" ".join(s.words) for s in found] == ["Dogs bark .", "a < b c > d"]
    as_text = sentences_of(label("d", "--from", "text").out)
    assert as_text[0].words[:3] == ("<", "b", ">")


@pytest.mark.parametrize("name", ["a.txt", "-"])
def test_one_sentence_per_line(label, tmp_path, name):
    text = "Dogs bark. Cats sleep.\nand\n\nDear Mr.\n"
    (tmp_path / "a.txt").write_text(text)
    found = sentences_of(label(name, "--one-sentence-per-line", stdin=text.encode()).out)
    assert [(s.text, s.start) for s in found] == [
        ("Dogs bark. Cats sleep.", 0),
        ("and", 23),
        ("Dear Mr.", 28),
    ]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("latin-1", "Zoë née Brontë left."), ("cp1252", "Zoë “left” – why?"), ("utf-16", "猫 sat.")],
)
def test_encodings(label, tmp_path, encoding, text):
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    [found] = sentences_of(label("a.txt", "--encoding", encoding).out)
    assert found.text == text
    [again] = sentences_of(label("--encoding", encoding, stdin=text.encode(encoding)).out)
    assert again.text == text
    done = label("a.txt")
    assert (done.code, done.out) == (2, "")
    assert f"; name its encoding, such as --encoding {encoding}, or convert" in done.err


def test_inputs_of_several_kinds(label, tmp_path):
    (tmp_path / "notes.txt").write_text("Dogs bark.")
    (tmp_path / "words.jsonl").write_text('{"words": ["Cats", "do", "n\'t", "bark"]}')
    with gzip.open(tmp_path / "more.txt.gz", "wt") as file:
        file.write("Hiti left.")
    done = label("notes.txt", "words.jsonl", "more.txt.gz", "Who knows?", "-", stdin=b"Go!")
    found = sentences_of(done.out)
    assert [" ".join(sentence.words) for sentence in found] == [
        "Dogs bark .",
        "Cats do n't bark",
        "Hiti left .",
        "Who knows ?",
        "Go !",
    ]
    ids = [sentence.id for sentence in found]
    assert ids == ["notes.txt-1", None, "more.txt.gz-1", "text4-1", "stdin-1"]
    assert found[1].text is None


def make_tree(folder):
    """Two files of one name, and some that are not to be read."""
    for path, text in {
        "d/b/x.txt": "Dogs bark.",
        "d/a/x.txt": "Cats sleep.",
        "d/words.jsonl": '{"id": "j", "words": ["Go"]}',
        "d/notes.md": "# No",
        "d/.hidden.txt": "No.",
        "d/.git/x.txt": "No.",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def test_a_folder(label, tmp_path):
    make_tree(tmp_path)
    done = label("d")
    ids = [sentence.id for sentence in sentences_of(done.out)]
    assert ids == ["d/a/x.txt-1", "d/b/x.txt-1", "j"]
    assert done.err == "note: d: skipped 1 file (.md)\n"


def test_a_folder_of_one_format(label, tmp_path):
    make_tree(tmp_path)
    done = label("d", "--from", "text")
    ids = [sentence.id for sentence in sentences_of(done.out)]
    assert ids[:3] == ["d/a/x.txt-1", "d/b/x.txt-1", "d/notes.md-1"]
    assert {each.rpartition("-")[0] for each in ids[3:]} == {"d/words.jsonl"}


def test_the_output_is_not_read_with_its_folder(label, tmp_path):
    make_tree(tmp_path)
    for _ in range(2):
        assert label("d", "-o", "d/out.jsonl").err.endswith("3 sentences, 3 propositions\n")


def test_what_the_shell_makes_of_a_pattern(label, tmp_path):
    make_tree(tmp_path)
    done = label(*sorted(path.relative_to(tmp_path) for path in tmp_path.glob("d/*/x.txt")))
    ids = [sentence.id for sentence in sentences_of(done.out)]
    assert ids[-2:] == ["d/a/x.txt-1", "d/b/x.txt-1"]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input(label, arguments):
    done = label(*arguments, stdin="Dogs bark. 😀".encode())
    assert [sentence.words for sentence in sentences_of(done.out)] == [
        ("Dogs", "bark", "."),
        ("😀",),
    ]


def start(*arguments, **streams):
    return subprocess.Popen(
        [sys.executable, "-m", "capsrl", "label", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **streams,
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--to", "jsonl"), b"Dogs bark.\n\nCats"),
        (("--to", "table"), b"Dogs bark.\n\nCats"),
        (("--one-sentence-per-line",), b"Dogs bark\nCats"),
    ],
)
def test_standard_input_is_labeled_by_paragraphs(arguments, text):
    process = start(*arguments)
    process.stdin.write(text)
    process.stdin.flush()
    first = process.stdout.readline()  # while the input is still open
    assert b"Dogs" in first and b"Cats" not in first
    out, _ = process.communicate(timeout=600)
    assert b"Cats" in out
    assert process.returncode == 0


def test_the_help_says_how_a_log_is_labeled_by_lines(label):
    assert "tail -f log | capsrl label --from lines" in " ".join(label("--help").out.split())


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, b"interrupted\n"), (signal.SIGTERM, -signal.SIGTERM, b"")],
)
def test_a_stopped_command_leaves_no_file(tmp_path, number, code, message):
    process = start("-o", "out.jsonl", cwd=tmp_path)
    wait_until(lambda: list(tmp_path.iterdir()), process)  # until the temporary file is there
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (code, message)
    assert list(tmp_path.iterdir()) == []


def test_the_predicates_of_a_corpus(label, labeler):
    gold = list(read_sentences(TINY))
    marked = list(labeler.label_sentences(gold, predicates="marked"))
    found = list(labeler.label_sentences(gold, predicates="found"))
    assert [s.predicates for s in marked] != [s.predicates for s in found]
    for arguments, expected in [((), marked), (["marked"], marked), (["found"], found)]:
        options = [each for argument in arguments for each in ("--predicates", argument)]
        done = label(TINY, "--to", "jsonl", *options)
        assert_same_answers(sentences_of(done.out), expected)


def test_each_file_is_looked_at_for_marked_predicates(label, tmp_path):
    """A text before it, or a corpus without marks, does not make the marks of a corpus void."""
    (tmp_path / "text.txt").write_text("Dogs bark.")
    (tmp_path / "bare.jsonl").write_text('{"words": ["Dogs", "bark"]}')
    mark = '{"words": ["Dogs", "bark"], "propositions": [{"predicate": 0}]}'
    (tmp_path / "marked.jsonl").write_text(mark)
    done = label("text.txt", "bare.jsonl", "marked.jsonl", "text.txt")
    assert [sentence.predicates for sentence in sentences_of(done.out)] == [(1,), (1,), (0,), (1,)]


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.conll09", "conll09"), ("a.jsonl.gz", "jsonl"), ("a.conllu", "conllup"), ("-", "jsonl")],
)
def test_a_corpus_to_a_pipe_keeps_its_format(label, tmp_path, name, format):
    if name == "a.conllu":
        (tmp_path / name).write_text("1\tDogs" + "\t_" * 8 + "\n2\tbark" + "\t_" * 8 + "\n\n")
    elif name != "-":
        write_sentences(islice(read_sentences(TINY), 2), tmp_path / name)
    done = label(name, stdin=b"Dogs bark.")
    (tmp_path / "out").write_text(done.out)
    assert done.code == 0
    assert len(list(read_sentences(tmp_path / "out", format))) > 0
    assert sum(len(s.propositions) for s in read_sentences(tmp_path / "out", format)) > 0


def test_the_format_of_the_input_by_name(label, tmp_path):
    rows = TINY.read_text(encoding="utf-8").split("\n\n")[1] + "\n\n"
    (tmp_path / "cat.txt").write_text(rows, encoding="utf-8")
    named = label("cat.txt", "--from", "conll09", "-o", "a.conll09")
    assert named.code == 0
    assert named.err == (
        "1 sentence, 1 proposition\n"
        "note: CoNLL-2009 has no phrases; --to conllup keeps them, --to spans writes them\n"
    )
    assert (tmp_path / "a.conll09").read_text(encoding="utf-8") == rows
    as_text = sentences_of(label("cat.txt", "--from", "text").out)
    assert as_text[0].words[:3] == ("1", "The", "the")


@pytest.mark.parametrize("name", ["-", "a.txt"])
@pytest.mark.parametrize(
    "line",
    [
        "1\tDogs\tdog" + "\t_" * 11,
        "# sent_id = 1",
        "# global.columns = ID FORM UP:PRED UP:ARGHEADS",
        '{"words": ["Dogs", "bark"]}',
    ],
)
def test_a_corpus_is_not_taken_for_text(label, tmp_path, name, line):
    (tmp_path / "a.txt").write_text(line)
    done = label(name, stdin=line.encode())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        f"error: {name.replace('-', '<stdin>')}:1: this looks like a corpus, not "
    )
    assert repr(line[:20]) in done.err


def test_conll09_has_tags_and_lemmas(label):
    done = label("The dogs were barking at Hiti.", "--to", "conll09")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert rows.pop() == [""]
    assert [row[1] for row in rows] == ["The", "dogs", "were", "barking", "at", "Hiti", "."]
    assert [row[2] for row in rows] == ["the", "dog", "be", "bark", "at", "Hiti", "."]
    assert [row[4] for row in rows] == ["DT", "NNS", "VBD", "VBG", "IN", "NNP", "."]
    assert [row[2:5:2] for row in rows] == [row[3:6:2] for row in rows]  # gold and predicted
    assert [row[13] for row in rows] == ["_", "_", "_", "bark.01", "_", "_", "_"]
    assert rows[1][14] == "A0"


def test_lemmas_of_a_corpus_are_kept(label):
    done = label(TINY)
    before = [line.split("\t") for line in TINY.read_text(encoding="utf-8").splitlines()]
    after = [line.split("\t") for line in done.out.splitlines()]
    assert [row[:12] for row in after] == [row[:12] for row in before]


@pytest.mark.parametrize("name", ["a.conll09", "a.conllup.gz", "a.ndjson.xz"])
def test_what_is_written_is_read_again(label, labeler, tmp_path, name):
    done = label(TEXT, "--output", name)
    labeled = labeler.label(TEXT)
    n_propositions = sum(len(sentence.propositions) for sentence in labeled)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"2 sentences, {n_propositions} propositions\n")
    assert ("note: CoNLL-2009 has no phrases; " in done.err) == (name == "a.conll09")
    found = list(read_sentences(name))
    for ours, theirs in zip(found, labeled, strict=True):
        assert (ours.words, ours.tags, ours.predicates) == (
            theirs.words,
            theirs.tags,
            theirs.predicates,
        )
        assert [p.sense for p in ours.propositions] == [p.sense for p in theirs.propositions]
    if "conllu" in name:
        assert [sentence.text for sentence in found] == [s.standalone().text for s in labeled]


def test_a_table_in_a_file(label, labeler, tmp_path):
    assert label(TEXT, "-o", "a.txt").code == 0
    assert (tmp_path / "a.txt").read_text() == tables(labeler.label(TEXT))


def test_pages_and_pictures(label, tmp_path):
    assert label(TEXT, "-o", "a.html").code == label(TEXT, "-o", "a.svg").code == 0
    page = ET.parse(tmp_path / "a.html").getroot()
    assert len(list(page.iter("{http://www.w3.org/2000/svg}svg"))) >= 2
    picture = ET.parse(tmp_path / "a.svg").getroot()
    words = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Hiti", "signed", "decision", "n't"} <= words
    (tmp_path / "dogs.txt").write_text("Dogs bark.")
    for name in ("dogs.txt", tmp_path / "dogs.txt"):  # readers need not know the folder
        assert "<title>dogs.txt</title>" in label(name, "--to", "html").out


@pytest.mark.parametrize(
    "arguments", [(), ("--trace",), *(("--to", each) for each in ("html", "json", "conllup"))]
)
def test_frames_say_what_roles_mean(label, tmp_path, arguments):
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "bark.xml").write_text(FRAMES)
    done = label("Dogs bark.", "--frames", "frames", *arguments)
    assert done.out.count("barker of legend") == (2 if "html" in arguments else 1)


def test_another_model(label, tmp_path):
    make_labeler().save(tmp_path / "mine")
    done = label("Dogs bark.", "--model", "mine", "--to", "json")
    expected = [
        sentence.standalone() for sentence in library.load(tmp_path / "mine").label("Dogs bark.")
    ]
    assert sentences_of(done.out) == expected


@pytest.mark.parametrize(
    ("format", "expected"), [("table", ""), ("json", "[]\n"), ("jsonl", ""), ("conll09", "")]
)
def test_nothing_to_label(label, format, expected):
    done = label(" \n", "--to", format)
    assert (done.code, done.out) == (0, expected)
    assert done.err == "0 sentences, 0 propositions\n"


@pytest.mark.parametrize("name", ["notes 1.txt", "notes 2.txt"])
def test_a_name_with_a_blank(label, tmp_path, name):
    (tmp_path / "notes 1.txt").write_text("Dogs bark.")
    done = label(name, "--to", "jsonl")
    [sentence] = sentences_of(done.out)
    if name == "notes 1.txt":
        assert (sentence.id, sentence.text, done.err) == ("notes 1.txt-1", "Dogs bark.", "")
    else:
        assert (sentence.id, sentence.text) == (None, "notes 2.txt")
        assert done.err == "note: 'notes 2.txt' is not a file; labeling these words\n"


def test_lone_surrogates_are_shown_or_refused(label):
    text = "Dogs bark \udcff."  # what Python makes of a byte that is no UTF-8
    assert "bark \ufffd." in label(text).out
    assert "\\udcff" in label(text, "--to", "json").out
    assert label(text, "--to", "html").code == label(text, "--to", "svg").code == 0
    done = label(text, "--to", "conll09")
    assert done.code == 2
    assert done.err.startswith("error: <stdout>: the lone surrogate U+DCFF cannot be written")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Go!",), "Go!: no such file; to label the words themselves write: echo 'Go!' | capsrl"),
        (("Dogs", "bark."), "Dogs: no such file; to label the words themselves write: capsrl label "
         "'Dogs bark.'"),
        (("good.txt", "absent.txt"), "absent.txt: no such file\n"),
        (("Go on.", "Go!"), "Go!: no such file; to label the words themselves write: echo 'Go!' |"),
        (("texts/*.txt",), "texts/*.txt: no file matches\n"),
        (("sheet.xlsx",), "sheet.xlsx: spreadsheets (.xlsx) are not read; save the sheet as .csv"),
        (("page.md",), "page.md: expected a suffix of .txt .conll09 .conll .conllu .conllup .jsonl"
         " .ndjson .ann .xmi .gold_conll .v4_gold_conll .html .htm .csv .tsv .parquet .pq (and .gz,"
         " .xz, .bz2 or .zst), got .md; rename the file or name the format with --from: text, csv, "
         "tsv, parquet, lines, conll09, "),
        (("paper.pdf",), "paper.pdf: such files (.pdf) are not read; save the text as .txt\n"),
        (("empty",), "empty: expected files with a suffix of .txt .conll09 .conll .conllu .conllup "
         ".jsonl .ndjson .ann .xmi .gold_conll .v4_gold_conll .html .htm .csv .tsv .parquet .pq "
         "(and .gz, .xz, .bz2 or .zst), got 0 fi"),
        (("-", "-"), "-: standard input can be read only once"),
        (("bad.txt",), "bad.txt:2: expected UTF-8 text, got byte 0xff; name its encoding, such "
         "as --encoding latin-1, or convert the file to UTF-8\n"),
        (("Go on.", "--encoding", "klingon"), "--encoding: expected the name of an encoding, "),
        (("bad.jsonl", "--html"), "--html: needs raw text, got jsonl (bad.jsonl)\n"),
        (("bad.jsonl", "--one-sentence-per-line"), "--one-sentence-per-line: needs raw text, "),
        (("bad.jsonl",), "bad.jsonl:1: words[0]: expected a string, got 1"),
        (("Go on.", "--to", "xml"), "--to: expected one of table, json, conll09, conllup, jsonl, "),
        (("Go on.", "--to", "conllu"), "--to: expected one of table, json, conll09, conllup, jsonl,"
         " csv, tsv, parquet, allennlp, brackets, penman, spans, brat, cas, labelstudio, html, "
         "svg, got conllu; CoNLL-U has no propositions, CoNLL-U Plus (.conllup) has"),
        (("good.txt", "--from", "up2"), "--from: expected one of text, csv, tsv, parquet, lines, "),
        (("Go on.", "--from", "conll09"), "--from conll09: needs files, got the text 'Go on.'"),
        (("Go on.", "-o", "x.xlsx"), "x.xlsx: expected a suffix of .txt .conll09 .conll .conllup "
         ".jsonl .ndjson .spans.tsv .json .html .htm .svg .ann .xmi .csv .tsv .parquet .pq (and "),
        (("Go on.", "-o", "x.conllu"), "x.conllu: expected a suffix of .txt .conll09 .conll .conl"),
        (("Go on.", "-o", "absent/x.json"), "absent/x.json: cannot be written: No such file"),
        (("Go on.", "--pos", "verb,adverb"), "--pos: expected some of verb, noun, adjective, got "
         "verb, adverb"),
        (("Go on.", "--predicates", "gold"), "--predicates: expected auto, marked or found, got "),
        (("Go on.", "--iterations", 0), "--iterations: expected an integer from 1 to 100, got 0"),
        (("Go on.", "--threshold", 1.5), "--threshold: expected a number from 0 to 1, got 1.5"),
        (("Go on.", "--predicates", "marked"), "--predicates marked: raw text marks no predicates; "
         "name the format of a corpus: --from FORMAT"),
        (("good.txt", "--predicates", "marked"), "--predicates marked: raw text (good.txt) marks "
         "no predicates; name the format"),
        (("Go on.", "--trace", "--to", "svg"), "--trace: expected a format that shows it (table, "),
        (("Go on.", "--frames", ".", "--to", "svg"), "--frames: expected a format that shows it ("
         "table, json, jsonl, csv, tsv, parquet, conllup, html), got svg; choose one: --to table"),
        (("Go on.", "--frames", "absent"), "absent: no such folder"),
        (("Go on.", "--model", "xx"), "xx: not a model folder, nor the name of a model that "),
        (("Go on.", "--device", "abacus"), "--device: expected cpu, cuda or cuda:N, got abacus"),
    ],
)  # fmt: skip
def test_mistakes_exit_with_one_line(label, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.txt").write_text("Dogs bark.")
    for name in ("sheet.xlsx", "page.md", "paper.pdf"):
        (tmp_path / name).write_text("id,text")
    (tmp_path / "bad.txt").write_bytes(b"Dogs\n\xff bark.")
    (tmp_path / "bad.jsonl").write_text('{"words": [1]}')
    done = label(*arguments)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")
    assert (done.err.count("\n"), done.out) == (1, "")


def test_an_error_leaves_the_old_file_alone(label, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"Dogs bark.\n\n\xff")
    (tmp_path / "out.json").write_text("old")
    assert label("bad.txt", "-o", "out.json").code == 2
    assert (tmp_path / "out.json").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.txt", "out.json"]


@pytest.mark.parametrize("arguments", [("--iterations", "x"), ("--threads", "0")])
def test_numbers_that_are_not(label, arguments):
    done = label("Go on.", *arguments)
    assert done.code == 2
    assert arguments[0] in done.err


def test_threads(label):
    assert label(TEXT, "--threads", 1).out == label(TEXT).out


def test_without_torch():
    code = (
        "import sys; sys.modules['torch'] = None; "
        "sys.argv = ['capsrl', 'label', 'Go on.', '--runtime', 'torch']; "
        "from capsrl.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    assert done.stderr == (
        "error: en: needs torch: pip install 'capsrl[model]' "
        "(from a clone: pip install '.[model]')\n"
    )


def test_a_table_and_no_bar_on_a_terminal(tmp_path):
    (tmp_path / "dogs.txt").write_text("Dogs bark.\n\nCats do not.")
    done, shown = run_on_a_terminal(["label", "dogs.txt"], tmp_path)
    assert done.returncode == 0
    assert "lines" not in shown
    assert shown.startswith("Dogs bark.\r\n")
    assert "Cats do not.\r\n" in shown


def test_a_bar_while_a_file_is_written(tmp_path):
    (tmp_path / "dogs.txt").write_text("Dogs bark.\n\n" * 50)
    done, shown = run_on_a_terminal(
        ["label", "dogs.txt"], tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 50
    assert "dogs.txt" in shown and "100 lines" in shown


def test_nothing_given_on_a_terminal(tmp_path):
    done, shown = run_on_a_terminal(["label"], tmp_path)
    assert done.returncode == 2
    assert shown.startswith("error: there is nothing to label; give text, files or folders: capsrl")


PAGE = ROOT / "docs" / "labeling.md"


def test_the_commands_of_the_page_about_labeling(label, tmp_path):
    """Its blocks print what it says they print; JSON to five digits."""
    page = PAGE.read_text(encoding="utf-8")
    (tmp_path / "notes.txt").write_text(page.split("```text\n")[1].split("```")[0])
    blocks = [block.split("```")[0] for block in page.split("```console\n")[1:]]
    runs = [run.partition("\n") for block in blocks for run in block.split("$ capsrl label ")[1:]]
    assert len(runs) == 5
    for command, _, shown in runs:
        printed = label(*shlex.split(command)).out
        if shown.startswith("["):
            assert_same_answers(sentences_of(printed), sentences_of(shown))
        else:
            assert printed == shown, command


def test_the_python_of_the_page_about_labeling(capsys):
    names = {}
    blocks = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(blocks) == 4
    for block in blocks:
        code, _, rest = block.partition("```")
        exec(compile(code, PAGE.name, "exec"), names)
        assert capsys.readouterr().out == rest.split("```\n")[1].split("```")[0]


@pytest.fixture
def span_model(tmp_path):
    """The folder of a tiny model that predicts phrases."""
    make_labeler(make_config(phrase_width=4)).save(tmp_path / "model")
    return library.load(tmp_path / "model")


def test_phrases_in_every_format(label, span_model):
    words = "the old man saw the dog"
    [labeled] = span_model.label(words)
    assert any(a.phrase.last > a.phrase.first for p in labeled.propositions for a in p.arguments)
    arguments = (words, "--model", "model", "--to")
    assert label(*arguments, "allennlp").out == format_allennlp(labeled)
    assert label(*arguments, "brackets").out == format_brackets(labeled)
    assert label(*arguments, "spans").out == format_phrases(labeled, 1)
    [found] = sentences_of(label(*arguments, "jsonl").out)
    assert found == labeled.standalone()
    label(words, "--model", "model", "-o", "x.conllup")
    [found] = read_sentences("x.conllup")
    assert format_phrases(found, 1) == format_phrases(labeled, 1)
    heads = json.loads(label(*arguments, "jsonl", "--no-phrases").out)
    assert "phrase" not in json.dumps(heads)
