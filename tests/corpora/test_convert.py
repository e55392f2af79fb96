import re
import subprocess
import sys
from pathlib import Path

import pytest

from capsrl.formats.formats import read_sentences
from tests.helpers.frame_files import example, roleset, write_frames
from tests.helpers.parsing_pipeline import save_pipeline
from tests.helpers.published_folders import make_ewt, make_up

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def convert(capsrl):
    return lambda *arguments: capsrl("convert", *arguments)


def test_ewt(convert, tmp_path):
    make_ewt(tmp_path)
    options = ("--ud", "UD_English-EWT", "--propbank", "propbank-release")
    done = convert("ewt", *options, "en_ewt")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "en_ewt/train.conll09.xz: 3 sentences, 4 propositions, 12 arguments",
        "en_ewt/dev.conll09.xz: 4 sentences, 2 propositions, 2 arguments",
        "en_ewt/test.conll09.xz: 4 sentences, 2 propositions, 2 arguments",
        "left out: 1 propositions of auxiliaries",
        "left out: 1 sentences of documents that PropBank lacks",
        "left out: 2 arguments in another sentence than their predicate",
    ]
    first = next(iter(read_sentences(tmp_path / "en_ewt/train.conll09.xz")))
    assert [p.sense for p in first.propositions] == ["bark.01", "bite.01"]


def test_frames(convert, tmp_path):
    pytest.importorskip("spacy")
    (tmp_path / "frames").mkdir()
    examples = [example("Ann baked bread", "1", ARG0="0 0", ARG1="2 2"), example("Bob baked", "1")]
    write_frames(tmp_path / "frames", bake=[roleset("bake.01", *examples)])
    save_pipeline(tmp_path / "pipeline")
    (tmp_path / "test.jsonl").write_text('{"words": ["Bob", "baked"]}\n')
    options = ("--frames", "frames", "--parser", "./pipeline", "--without", "test.jsonl")
    done = convert("frames", *options, "out")
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err.splitlines() == [
        "out/examples.conll09.xz: 1 sentences, 1 propositions, 2 arguments",
        "left out: 1 examples that overlap held-out sentences",
    ]
    (sentence,) = read_sentences(tmp_path / "out/examples.conll09.xz")
    assert [a.role for a in sentence.propositions[0].arguments] == ["A0", "A1"]


def test_up_with_another_suffix(convert, tmp_path):
    make_up(tmp_path)
    options = ("--ud", "UD_Xx-Yy", "--up", "UP_Xx-Yy", "--suffix", ".jsonl")
    done = convert("up", *options, "deep/xx")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (tmp_path / "deep/xx").iterdir()) == [
        "test.jsonl",
        "train.jsonl",
    ]
    (they,) = read_sentences(tmp_path / "deep/xx/test.jsonl")
    assert (they.id, they.propositions[0].sense) == ("c", "shoot.01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("ewt", "out", "--ud", "x"),
            "error: ewt: expected --ud FOLDER --propbank FOLDER, got --ud x; "
            "to read a file of this name, name its format: --from FORMAT\n",
        ),
        (("up", "out"), "error: up: expected --ud FOLDER --up FOLDER, got no folder; "),
        (
            ("up", "out", "--ud", "x", "--up", "y", "--propbank", "z"),
            "error: up: expected --ud FOLDER --up FOLDER, got --ud x --propbank z --up y; ",
        ),
        (
            ("ewt", "out", "--to", "jsonl"),
            "error: ewt: expected --to only with a file, got --to jsonl\n",
        ),
        (
            ("a.jsonl", "b.conll09", "--ud", "x"),
            "error: a.jsonl: expected --ud only with ewt, up or frames, got --ud x\n",
        ),
        (
            ("a.jsonl", "b.conll09", "--suffix", ".txt"),
            "error: a.jsonl: expected --suffix only with ewt, up or frames, got --suffix .txt\n",
        ),
        (
            ("ewt", "out", "--ud", "x", "--propbank", "y", "--suffix", ".foo"),
            "error: train.foo: expected a suffix of .conll09 ",
        ),
        (
            ("up", "out", "--ud", "x", "--up", "y", "--without", "z"),
            "error: up: expected --without only with frames, got --without z\n",
        ),
        (("frames", "out"), "error: frames: expected --frames FOLDER, got no folder; "),
        (
            ("up", "taken/out", "--ud", "UD_Xx-Yy", "--up", "UP_Xx-Yy"),
            "error: taken/out: cannot be created: Not a directory\n",
        ),
    ],
)
def test_mistakes_exit_with_one_line(convert, tmp_path, arguments, message):
    make_up(tmp_path)
    (tmp_path / "taken").touch()
    done = convert(*arguments)
    assert done.code == 2
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_commands_and_the_code_of_the_guide(convert, tmp_path):
    make_ewt(tmp_path)
    for made, named in zip(make_up(tmp_path), ("UD", "UP"), strict=True):
        made.rename(tmp_path / f"{named}_French-Sequoia")
    guide = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
    commands = re.findall(r"^capsrl convert (.*)$", guide, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["ewt", "up", "frames"]
    for command in commands[:2]:  # frames needs a downloaded pipeline
        done = convert(*command.split())
        assert done.code == 0, done.err
        assert (tmp_path / command.split()[-1] / "train.conll09.xz").is_file()
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    code += (
        "print(len(list(english)), [len(list(each)) for each in french], sum(left_out.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600
    )
    assert (done.stdout, done.stderr) == ("4 [2, 1] 2\n", "")


def test_a_file_that_is_called_ewt(convert, tmp_path):
    (tmp_path / "ewt").write_text('{"words": ["Dogs"]}\n')
    done = convert("ewt", "out.conll09", "--from", "jsonl")
    assert (done.code, done.err) == (0, "1 sentence\n")
