import json
import subprocess
import sys

import pytest

GOLD = """\
1\tShe\tshe\tshe\tPRP\tPRP\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\tA0
2\tsold\tsell\tsell\tVBD\tVBD\t_\t_\t0\t0\tROOT\tROOT\tY\tsell.01\t_
3\tcars\tcar\tcar\tNNS\tNNS\t_\t_\t2\t2\tOBJ\tOBJ\t_\t_\tA1

1\tYes\tyes\tyes\tUH\tUH\t_\t_\t0\t0\tROOT\tROOT\t_\t_

"""
PRED = GOLD.replace("sell.01", "deal.01").replace("\tA1", "\tA2")


@pytest.fixture
def files(tmp_path):
    """gold, pred and other in the current folder, so that messages hold bare names."""
    (tmp_path / "gold.conll09").write_text(GOLD)
    (tmp_path / "pred.conll09").write_text(PRED)
    (tmp_path / "other.conll09").write_text(GOLD.replace("sell.01", "sell.02"))
    return tmp_path


def test_no_digit_is_cut_off_on_a_narrow_terminal(files, capsrl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    out = capsrl("score", "gold.conll09", "pred.conll09").out
    rows = {" ".join(line.split()) for line in out.splitlines()}
    assert "labeled 66.67 66.67 66.67 1 + 1 2 + 1 2 + 1" in rows
    assert "…" not in out


def test_prints_the_figures(files, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09")
    assert (done.code, done.err) == (0, "")
    rows = {" ".join(line.split()) for line in done.out.splitlines()}
    assert "pred.conll09 against gold.conll09: 2 sentences" in rows
    assert "labeled 66.67 66.67 66.67 1 + 1 2 + 1 2 + 1" in rows
    assert "unlabeled 100.00 100.00 100.00 2 + 1 2 + 1 2 + 1" in rows
    assert "propositions 0.00 0.00 0.00 0 1 1" in rows
    assert "exact sentences 50.00 1 2 2" in rows
    assert "sense of those found 100.00 1 1" in rows
    assert "predicates with senses 100.00 100.00 100.00" in rows
    assert "role of those found 50.00 1 2" in rows
    assert "Propositions with a repeated role: gold 0, predicted 0" in rows
    assert "Labeled F1 66.67, 95% bootstrap interval" in done.out
    assert "By " not in done.out


def test_modes_stand_beside_the_official_figures(files, capsrl):
    out = capsrl("score", "gold.conll09", "pred.conll09", "--mode", "primesrl").out
    rows = {" ".join(line.split()) for line in out.splitlines()}
    assert "labeled 66.67 66.67 66.67 1 + 1 2 + 1 2 + 1" in rows
    assert "labeled 0.00 0.00 0.00 0 + 0 2 + 1 2 + 1" in rows
    assert "core arguments 0.00 0.00 0.00" in rows


def test_breakdowns_when_asked(files, capsrl):
    out = capsrl("score", "gold.conll09", "pred.conll09", "--by", "pos", "--by", "length").out
    assert "By part of speech of the predicate" in out and "VBD" in out
    assert "By words in the sentence" in out and "By role" not in out
    out = capsrl("score", "gold.conll09", "pred.conll09", "--all").out
    assert out.count("\nBy ") == 5
    out = capsrl("score", "gold.conll09", "pred.conll09", "--train", "other.conll09").out
    assert out.count("\nBy ") == 2 and "unseen" in out
    out = capsrl("score", "gold.conll09", "pred.conll09", "--by", "role,distance").out
    assert out.count("\nBy ") == 2


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


def test_long_names_leave_room_for_the_figures(files, capsrl):
    folder = files / ("long" * 20)
    folder.mkdir()
    long = str(folder / "pred.conll09")
    (folder / "pred.conll09").write_text(PRED)
    out = capsrl("score", "gold.conll09", long, "--compare", "other.conll09").out
    assert out.startswith(f"{long} against gold.conll09: 2 sentences\n")
    comparison = out.partition("\nComparison\n")[2]
    assert "precision  recall     F1    EM  repeated roles" in comparison
    assert "66.67   66.67  66.67  0.00               0" in comparison
    assert "".join(line.split()[0] for line in comparison.splitlines()[1:]).startswith(long[:10])


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


def test_names_with_brackets_are_no_markup(files, capsrl):
    (files / "[bold]x.conll09").write_text(PRED.replace("A2", "[red]"))
    out = capsrl("score", "gold.conll09", "[bold]x.conll09", "--by", "role").out
    assert "[bold]x.conll09 against" in out and "[red]" in out


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
            "pred.conll09:3 against gold.conll09:5 (sentence 2): expected another sentence, got the"
            " end of the file after 1 sentences",
        ),
        (
            PRED + "1\tYes\tyes\tyes\tUH\tUH\t_\t_\t0\t0\tROOT\tROOT\t_\t_\n",
            "pred.conll09:7 against gold.conll09:5 (sentence 3): expected the end of the file "
            "after 2 sentences, got another sentence",
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


def test_empty_files_are_refused(files, capsrl):
    for name in ("gold", "pred"):
        (files / f"{name}.conll09").write_text("")
    done = capsrl("score", "gold.conll09", "pred.conll09")
    assert done.code == 2
    assert done.err == "error: gold.conll09: expected sentences to score, got none\n"


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
def phrases(files):
    """Spans files beside gold and pred; in pred, A2 has the phrase of the gold A1."""
    (files / "gold.spans.tsv").write_text("1\t2\tA0\t1\t1\t1\n1\t2\tA1\t3\t2\t3\n")
    (files / "pred.spans.tsv").write_text("1\t2\tA0\t1\t1\t1\n1\t2\tA2\t3\t2\t3\n")
    return files


def test_phrases(phrases, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--spans")
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
    command = ("score", "gold.conll09", "pred.conll09", "--spans", "--json")
    report = json.loads(capsrl(*command, "--compare", "other.conll09").out)
    assert report["spans"]["f1"] == 50
    # other.conll09 has a parse, which gives the phrases: word 3 alone
    other = report["comparison"]["spans"]
    assert (other["f1"], other["boundaries_of_right_heads"]["percent"]) == (50, 50)
    assert other["without_phrase"] == {"gold": 0, "pred": 0}


def test_phrases_of_jsonl_files(phrases, capsrl):
    for name in ("gold", "pred"):
        options = ("--spans", f"{name}.spans.tsv")
        capsrl("convert", f"{name}.conll09", f"{name}2.jsonl", *options)
    capsrl("convert", "pred.conll09", "heads.jsonl")
    json_of = {
        pred: json.loads(capsrl("score", "gold2.jsonl", pred, "--spans", "--json").out)["spans"]
        for pred in ("pred2.jsonl", "pred.conll09", "heads.jsonl")
    }
    assert json_of["pred2.jsonl"] == json_of["pred.conll09"]
    assert json_of["heads.jsonl"]["boundaries_of_right_heads"]["correct"] == 1


def test_gold_without_phrases_is_refused(files, capsrl):
    done = capsrl("score", "gold.conll09", "pred.conll09", "--spans")
    assert done.code == 2
    assert done.err.startswith(
        "error: gold.conll09: expected arguments with phrases to score, got head words only; score "
        "a JSONL file with phrases, or put a file *.spans.tsv beside it"
    )


def test_misaligned_files_are_named_with_phrases_too(phrases, capsrl):
    (phrases / "pred.conll09").write_text(PRED.replace("cars", "boats"))
    done = capsrl("score", "gold.conll09", "pred.conll09", "--spans")
    assert done.err.startswith("error: pred.conll09:3 against gold.conll09:3 (sentence 1): expect")
