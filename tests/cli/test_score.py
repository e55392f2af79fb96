"""`capsrl score`, and what it shares with `capsrl evaluate`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.score_files import GOLD, PRED
from tests.helpers.tiny_networks import make_labeler

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


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


def test_agreement_in_json(files, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--agreement", "--json")
    report = json.loads(done.out)
    assert report["agreement"]["senses"] == {
        "observed": 1.0,
        "chance": 1.0,
        "items": 1,
        "kappa": None,
    }
    assert report["agreement"]["roles"]["kappa"] == pytest.approx(1 / 3)
    assert report["official"]["labeled_f1"] == 66.67


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
        (["--mode", "lenient"], "--mode: expected official, strict or primesrl, got lenient"),
        (["--by", "roles"], "--by: expected one of role, pos, length, "),
        (["--by", "sense"], "--by sense needs a training file: --train FILE"),
        (["--compare", "none.conll09"], "none.conll09: no such file"),
        (
            ["--from", "xml"],
            "--from: expected one of conll09, conllu, conllup, jsonl, up1, conll05, conll12, brat, "
            "cas, labelstudio, got xml",
        ),
        (
            ["--from", "text"],
            "--from: expected one of conll09, conllu, conllup, jsonl, up1, conll05, conll12, brat, "
            "cas, labelstudio, got te",
        ),
        (["--train", "x.txt"], "x.txt: expected a suffix of .conll09 .conll .conllu .conllup "),
        (["--seed", "0", "--compare", "x.csv"], "x.csv: expected a suffix of .conll09 .conll "),
        (
            ["--train", "-", "--compare", "-"],
            "-: standard input can be read for one file only",
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


@pytest.fixture
def model(tmp_path):
    make_labeler().save(tmp_path / "model")
    return tmp_path / "model"


def test_compare(files, capsrl):
    arguments = ("score", "gold.conll09", "pred.conll09", "--compare", "other.conll09")
    out = capsrl(*arguments).out
    assert "Difference in labeled F1: +0.00" in out and "p = 1.0000" in out
    assert "approximate randomization" in out
    out = capsrl(*arguments, "--mode", "strict", "--json").out
    comparison = json.loads(out)["comparison"]
    assert comparison["pred"] == "other.conll09"
    assert comparison["labeled_f1_difference"] == pytest.approx(-100 / 3)
    assert comparison["official"]["labeled_f1"] == 66.67
    assert 0 < comparison["p_value"] <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PRED.replace("cars", "boats"),
            "pred.conll09:3 against gold.conll09:3 (sentence 1): expected the word 'cars', "
            "got 'boats'; score the same sentences in the same order",
        ),
        (
            PRED.replace("1\tYes", "1\tNo"),
            "pred.conll09:5 against gold.conll09:5 (sentence 2): expected the word 'Yes', got 'No'",
        ),
        (
            PRED.partition("\n\n")[0] + "\n",
            "pred.conll09:3 against gold.conll09:5 (sentence 2): the prediction ends "
            "before this sentence",
        ),
        (
            PRED + "1\tYes\tyes\tyes\tUH\tUH\t_\t_\t0\t0\tROOT\tROOT\t_\t_\n",
            "pred.conll09:7 against gold.conll09:5 (sentence 3): the gold file ends "
            "before this sentence",
        ),
        (
            PRED.rstrip("\n") + "\n2\t.\t.\t.\t.\t.\t_\t_\t1\t1\tP\tP\t_\t_\n",
            "pred.conll09:5 against gold.conll09:5 (sentence 2): expected 1 words, got 2",
        ),
    ],
)
def test_misaligned_files_are_refused_with_both_lines(files, capsrl, text, message):
    (files / "pred.conll09").write_text(text)
    done = capsrl("score", "gold.conll09", "pred.conll09")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}") and done.err.count("\n") == 1


def test_the_other_system_is_named_when_it_does_not_fit(files, capsrl):
    (files / "other.conll09").write_text(GOLD.replace("cars", "boats"))
    err = capsrl("score", "gold.conll09", "pred.conll09", "--compare", "other.conll09").err
    assert err.startswith("error: other.conll09:3 against gold.conll09:3")


def test_empty_files_are_refused(files, capsrl):
    for name in ("gold", "pred"):
        (files / f"{name}.conll09").write_text("")
    done = capsrl("score", "gold.conll09", "pred.conll09")
    assert done.code == 2
    assert done.err == "error: gold.conll09: no sentences to score\n"


def test_formats_may_differ(files, capsrl):
    sentences = [
        {
            "words": ["She", "sold", "cars"],
            "propositions": [
                {"predicate": 1, "sense": "sell.01", "arguments": [{"role": "A0", "word": 0}]}
            ],
        },
        {"words": ["Yes"]},
    ]
    (files / "pred.jsonl").write_text("".join(json.dumps(s) + "\n" for s in sentences))
    done = capsrl("score", "gold.conll09", "pred.jsonl", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["official"]["labeled_recall"] == 66.67
    sentences[1]["words"] = ["No"]
    (files / "pred.jsonl").write_text("".join(json.dumps(s) + "\n" for s in sentences))
    err = capsrl("score", "gold.conll09", "pred.jsonl").err
    assert err.startswith("error: pred.jsonl:2 against gold.conll09:5 (sentence 2): expected the")


@pytest.fixture
def phrases(files):
    """Spans files beside gold and pred; in pred, A2 has the phrase of the gold A1."""
    (files / "gold.spans.tsv").write_text("1\t2\tA0\t1\t1\t1\n1\t2\tA1\t3\t2\t3\n")
    (files / "pred.spans.tsv").write_text("1\t2\tA0\t1\t1\t1\n1\t2\tA2\t3\t2\t3\n")
    return files


def test_phrases(phrases, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--phrases")
    assert (done.code, done.err) == (0, "")
    rows = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "overall 50.00 50.00 50.00 1 2 2" in rows
    assert "end to end 50.00 50.00 50.00 1 2 2" in rows
    assert "A2 0.00 0.00 0.00 0 0 1" in rows
    assert "V (not in overall) 100.00 100.00 100.00 1 1 1" in rows
    assert "Exact boundaries where the head word is right: 100.00 % (2 / 2)" in rows
    assert "Propositions with all phrases right: 0.00 % (0 / 1)" in rows
    assert "Arguments without a phrase" not in done.out
    plain = capsrl("score", "gold.conll09", "pred.conll09").out
    assert done.out.startswith(plain)


def test_phrases_as_json_of_both_systems(phrases, capsrl):
    command = ("score", "gold.conll09", "pred.conll09", "--phrases", "--json")
    report = json.loads(capsrl(*command, "--compare", "other.conll09").out)
    assert report["phrases"]["f1"] == 50
    # other.conll09 has a parse, which gives the phrases: word 3 alone
    other = report["comparison"]["phrases"]
    assert (other["f1"], other["boundaries_of_right_heads"]["percent"]) == (50, 50)
    assert other["without_phrase"] == {"gold": 0, "pred": 0}


def test_phrases_of_jsonl_files(phrases, capsrl):
    for name in ("gold", "pred"):
        options = ("--phrases", f"{name}.spans.tsv")
        capsrl("convert", f"{name}.conll09", f"{name}2.jsonl", *options)
    capsrl("convert", "pred.conll09", "heads.jsonl")
    json_of = {
        pred: json.loads(capsrl("score", "gold2.jsonl", pred, "--phrases", "--json").out)["phrases"]
        for pred in ("pred2.jsonl", "pred.conll09", "heads.jsonl")
    }
    assert json_of["pred2.jsonl"] == json_of["pred.conll09"]
    assert json_of["heads.jsonl"]["boundaries_of_right_heads"]["correct"] == 1


def test_gold_without_phrases_is_refused(files, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--phrases")
    assert done.code == 2
    assert done.err.startswith(
        "error: gold.conll09: the arguments have no phrases; score a JSONL file with phrases, or "
        "put a file *.spans.tsv beside it"
    )


def test_misaligned_files_are_named_with_phrases_too(phrases, capsrl):
    (phrases / "pred.conll09").write_text(PRED.replace("cars", "boats"))
    done = capsrl("score", "gold.conll09", "pred.conll09", "--phrases")
    assert done.err.startswith("error: pred.conll09:3 against gold.conll09:3 (sentence 1): expect")


def test_probabilities_are_scored(capsrl, model, tmp_path):
    """`evaluate --calibration` is `label` and `score --calibration`."""
    found = ("--predicates", "found")
    capsrl("label", TINY, "--model", "model", "-o", "out.jsonl", "--device", "cpu", *found)
    scored = capsrl("score", TINY, "out.jsonl", "--calibration")
    evaluated = capsrl(
        "evaluate", TINY, "--model", "model", "--device", "cpu", "--calibration", *found
    )
    assert scored.code == evaluated.code == 0
    tables = [done.out.partition("\nCalibration\n")[2] for done in (scored, evaluated)]
    assert tables[0] == tables[1]
    assert "Calibration of arguments, by role" in tables[0]
    report = json.loads(capsrl("score", TINY, "out.jsonl", "--calibration", "--json").out)
    arguments = report["calibration"]["kinds"]["arguments"]
    assert arguments["answers"] == report["scores"]["counts"]["pred_arguments"]
    assert arguments["accuracy"] * arguments["answers"] == pytest.approx(
        report["scores"]["counts"]["correct_arguments"]
    )


def test_the_diagram_is_drawn(capsrl, model, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--model", "model", "--device", "cpu", "--reliability", "diagram.svg")
    assert capsrl("evaluate", TINY, *options).code == 0
    assert (tmp_path / "diagram.svg").read_text().count("<svg") == 1


def test_files_without_probabilities_are_refused(capsrl):
    done = capsrl("score", TINY, TINY, "--calibration")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {TINY}: the propositions have no probabilities")
