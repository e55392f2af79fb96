import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from capsrl.files.opening import read_lines
from capsrl.formats.formats import read_sentences
from corpora.__main__ import main
from corpora.text.sources import COMMITS, SOURCES
from tests.helpers.frame_files import example, roleset, write_frames
from tests.helpers.git_repositories import commit_files
from tests.helpers.parsing_pipeline import save_pipeline
from tests.helpers.published_folders import make_ewt, make_up

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """`python -m corpora` in the folder of the test; gives its exit code and lines on stderr."""
    monkeypatch.chdir(tmp_path)

    def make(*arguments):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        assert out == ""
        return code, err.splitlines()

    return make


def test_ewt(make, tmp_path):
    make_ewt(tmp_path)
    options = ("--ud", "UD_English-EWT", "--propbank", "propbank-release")
    code, lines = make("ewt", *options, "en_ewt")
    assert code == 0
    assert lines == [
        "en_ewt/train.conll09.xz: 3 sentences, 4 propositions, 12 arguments",
        "en_ewt/dev.conll09.xz: 4 sentences, 2 propositions, 2 arguments",
        "en_ewt/test.conll09.xz: 4 sentences, 2 propositions, 2 arguments",
        "left out: 1 propositions of auxiliaries",
        "left out: 1 sentences of documents that PropBank lacks",
        "left out: 2 arguments in another sentence than their predicate",
    ]
    first = next(iter(read_sentences(tmp_path / "en_ewt/train.conll09.xz")))
    assert [p.sense for p in first.propositions] == ["bark.01", "bite.01"]


def test_particles(make, tmp_path):
    rows = ("1 Shut shut VB 0 Y shut_down.05 _", "2 down down RP 1 _ _ _", "3 it it NN 1 _ _ A1")
    cells = (row.split() for row in rows)
    lines = (
        "\t".join([n, word, lemma, lemma, tag, tag, "_", "_", head, head, "x", "x", *rest])
        for n, word, lemma, tag, head, *rest in cells
    )
    (tmp_path / "a.conll09").write_text("\n".join([*lines, "", ""]))
    code, lines = make("particles", "--of", "a.conll09", "--of", "a.conll09", "out")
    assert code == 0, lines
    assert lines == ["out/particles.conll09.xz: 2 sentences, 2 propositions, 4 arguments"]
    first = next(iter(read_sentences(tmp_path / "out/particles.conll09.xz")))
    assert first.words == ("Shut", "it", "down")


def test_constructions(make, tmp_path):
    code, lines = make("constructions", "out")
    assert code == 0, lines
    assert re.fullmatch(r"out/constructions.conll09.xz: 2,\d+ sentences, .* arguments", lines[0])
    made = list(read_sentences(tmp_path / "out/constructions.conll09.xz"))
    assert len(made) > 2000 and all(sentence.propositions for sentence in made)


def test_frames(make, tmp_path):
    pytest.importorskip("spacy")
    (tmp_path / "frames").mkdir()
    examples = [example("Ann baked bread", "1", ARG0="0 0", ARG1="2 2"), example("Bob baked", "1")]
    write_frames(tmp_path / "frames", bake=[roleset("bake.01", *examples)])
    save_pipeline(tmp_path / "pipeline")
    (tmp_path / "test.jsonl").write_text('{"words": ["Bob", "baked"]}\n')
    options = ("--frames", "frames", "--parser", "./pipeline", "--without", "test.jsonl")
    code, lines = make("frames", *options, "out")
    assert code == 0, lines
    assert lines == [
        "out/examples.conll09.xz: 1 sentences, 1 propositions, 2 arguments",
        "left out: 1 examples that overlap held-out sentences",
    ]
    (sentence,) = read_sentences(tmp_path / "out/examples.conll09.xz")
    assert [a.role for a in sentence.propositions[0].arguments] == ["A0", "A1"]


def test_up_with_another_suffix(make, tmp_path):
    make_up(tmp_path)
    options = ("--ud", "UD_Xx-Yy", "--up", "UP_Xx-Yy", "--suffix", ".jsonl")
    code, lines = make("up", *options, "deep/xx")
    assert code == 0, lines
    assert sorted(path.name for path in (tmp_path / "deep/xx").iterdir()) == [
        "test.jsonl",
        "train.jsonl",
    ]
    (they,) = read_sentences(tmp_path / "deep/xx/test.jsonl")
    assert (they.id, they.propositions[0].sense) == ("c", "shoot.01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ewt out --ud x", "the following arguments are required: --propbank"),
        ("up out", "the following arguments are required: --ud, --up"),
        ("up out --ud x --up y --propbank z", "unrecognized arguments: --propbank z"),
        ("ewt out --ud x --propbank y --suffix .foo", "train.foo: expected a suffix of .conll09 "),
        ("up out --ud x --up y --without z", "unrecognized arguments: --without z"),
        ("text", "text: expected the folder to write, OUT, or --list"),
        ("text out --source news", "argument --source: invalid choice: 'news'"),
        (
            "text out --source wikinews --source sgd",
            "checkouts: no checkout of google-research-datasets/dstc8-schema-guided-dialogue, "
            "vanatteveldt/wikinews; `python -m corpora text --list` prints",
        ),
        (
            "up taken/out --ud UD_Xx-Yy --up UP_Xx-Yy",
            "taken/out: cannot be created: Not a directory",
        ),
    ],
)
def test_mistakes(make, tmp_path, arguments, message):
    make_up(tmp_path)
    (tmp_path / "taken").touch()
    code, lines = make(*arguments.split())
    assert code == 2
    assert lines[-1].partition("error: ")[2].startswith(message)
    assert not (tmp_path / "out").exists()


def test_text(make, tmp_path, monkeypatch):
    table = "title,text\nNew boat sinks,The boat sank in the lake. Nobody was hurt.\n"
    commit = commit_files(tmp_path / "checkouts/vanatteveldt+wikinews", {"data/2020.csv": table})
    monkeypatch.setitem(COMMITS, "vanatteveldt/wikinews", commit)
    (tmp_path / "test.jsonl").write_text('{"words": ["Nobody", "was", "hurt"]}\n')
    code, lines = make("text", "data/text", "--source", "wikinews", "--without", "test.jsonl")
    assert (code, lines) == (0, ["data/text/wikinews.jsonl.xz: 2 sentences"])
    made = list(map(json.loads, read_lines(tmp_path / "data/text/wikinews.jsonl.xz")))
    assert made == [
        {"source": "wikinews-headline", "words": ["New", "boat", "sinks"]},
        {
            "source": "wikinews-text",
            "words": ["The", "boat", "sank", "in", "the", "lake", "."],
        },
    ]
    readme = (tmp_path / "data/text/README.md").read_text(encoding="utf-8")
    assert f"| vanatteveldt/wikinews | {commit[:12]} | text | 1 |" in readme


def test_list_of_the_sources(capsys):
    assert main(["text", "--list", "--checkouts", "some where"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("# license: ")] == [
        f"# license: {source.license}" for source in SOURCES
    ]
    assert sum(line.startswith("git init --quiet --bare 'some where/") for line in lines) == len(
        COMMITS
    )
    assert all(any(commit in line for line in lines) for commit in COMMITS.values())


def test_phrases_of_an_older_corpus_do_not_stay(make, tmp_path):
    make_up(tmp_path)
    stale = tmp_path / "out" / "test.spans.tsv"
    stale.parent.mkdir()
    stale.write_text("1\t0\tA0\t0\t0\t0\n")
    make("up", "--ud", "UD_Xx-Yy", "--up", "UP_Xx-Yy", "out")
    assert not stale.exists()


def test_the_commands_and_the_code_of_the_guide(make, tmp_path):
    make_ewt(tmp_path)
    for made, named in zip(make_up(tmp_path), ("UD", "UP"), strict=True):
        made.rename(tmp_path / f"{named}_French-Sequoia")
    guide = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python -m corpora (.*)$", guide, re.MULTILINE)
    names = [command.split()[0] for command in commands]
    assert names == ["ewt", "up", "frames", "particles", "constructions", "text", "text"]
    for command in commands[:2]:  # frames needs a downloaded pipeline, text checkouts
        code, lines = make(*command.split())
        assert code == 0, lines
        assert (tmp_path / command.split()[-1] / "train.conll09.xz").is_file()
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    code += (
        "print(len(list(english)), [len(list(each)) for each in french], sum(left_out.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600
    )
    assert (done.stdout, done.stderr) == ("4 [2, 1] 2\n", "")
