import json
import subprocess
import sys

import pytest

from tests.helpers.score_files import PRED


def test_json(files, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--json", "--by", "role")
    report = json.loads(done.out)
    assert done.code == 0
    assert report["gold"] == "gold.conll09" and report["pred"] == "pred.conll09"
    assert report["official"]["labeled_f1"] == 66.67
    assert report["official"]["exact_semantic_match"] == 50
    assert report["official"]["counts"]["gold_arguments"] == 2
    assert report["scores"]["labeled_f1"] == pytest.approx(200 / 3)
    low, high = report["interval"]["labeled_f1"]
    assert 0 <= low <= 200 / 3 <= high <= 100
    assert report["breakdowns"]["role"]["A2"]["pred"] == 1
    assert "comparison" not in report


def test_the_seed_makes_runs_alike(files, capsrl):
    command = ("score", "gold.conll09", "pred.conll09", "--json", "--seed")
    assert capsrl(*command, "7") == capsrl(*command, "7")


def test_standard_input(files, capsrl):
    arguments = ("score", "gold.conll09", "-", "--from", "conll09")
    done = capsrl(*arguments, "--json", stdin=PRED.encode())
    assert json.loads(done.out)["official"]["labeled_f1"] == 66.67
    done = capsrl(*arguments, stdin=PRED.replace("cars", "boats").encode())
    assert done.code == 2
    assert done.err.startswith("error: <stdin>:3 against gold.conll09:3 (sentence 1): expected")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mode", "lenient"], "mode: expected one of official, strict, primesrl, got lenient"),
        (["--by", "roles"], "breakdown: expected one of role, pos, length, "),
        (["--by", "sense"], "breakdown by sense: expected a training file to know what was seen"),
        (["--compare", "none.conll09"], "none.conll09: cannot be read: No such file"),
        (
            ["--from", "xml"],
            "--from: expected one of conll09, conllu, conllup, jsonl, up1, got xml",
        ),
        (
            ["--from", "text"],
            "--from: expected one of conll09, conllu, conllup, jsonl, up1, got te",
        ),
        (["--train", "x.txt"], "x.txt: expected a suffix of .conll09 .conll .conllu .conllup "),
        (["--seed", "0", "--compare", "x.csv"], "x.csv: expected a suffix of .conll09 .conll "),
        (
            ["--train", "-", "--compare", "-"],
            "-: expected standard input for one file, got it for several",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(files, capsrl, arguments, message):
    done = capsrl("score", "gold.conll09", "pred.conll09", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}") and done.err.count("\n") == 1


def test_scoring_needs_no_torch(files):
    code = (
        "import sys; sys.argv = ['capsrl', 'score', 'gold.conll09', 'pred.conll09', '--all']\n"
        "from capsrl.cli import main\n"
        "try: main()\n"
        "finally: assert not {'torch', 'matplotlib'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=files)
    assert done.returncode == 0, done.stderr
