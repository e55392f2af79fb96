from capsrl.cli.score_tables import print_calibration, print_fit
from capsrl.score.calibration import Answers, CalibrationScores
from tests.helpers.score_files import PRED


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


def test_agreement_of_two_annotators(files, capsrl):
    out = capsrl("score", "gold.conll09", "pred.conll09", "--agreement", "--confusion").out
    found = {" ".join(line.split()) for line in out.splitlines()}
    # 1 of 4 words is a predicate; of the 3 words of its sentence both have the same 2 arguments.
    assert "predicates 100.00 1.0000 0.6250 1.0000 4" in found
    assert "senses 100.00 1.0000 1.0000 1" in found  # no kappa: only one label
    assert "arguments 100.00 1.0000 0.5556 1.0000 3" in found
    assert "roles 0.5000 0.2500 0.3333 2" in found
    assert "arguments and roles 50.00 0.6667 0.2222 0.5714 3" in found
    assert "senses, arguments and roles 66.67" in found
    assert "Roles of the same words: first in rows, second in columns" in found
    assert "first second count of first" in found and "A1 A2 1 100.0 %" in found
    assert "gold in" not in out and "predicted" not in out and "bootstrap" not in out


def test_names_with_brackets_are_not_markup(files, capsrl):
    (files / "[bold]x.conll09").write_text(PRED.replace("A2", "[red]"))
    out = capsrl("score", "gold.conll09", "[bold]x.conll09", "--by", "role").out
    assert "[bold]x.conll09 against" in out and "[red]" in out


def rows(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def scores(*probabilities):
    """Two senses, of which the first is right; no other answers."""
    kinds = {kind: Answers() for kind in ("predicates", "senses", "arguments", "propositions")}
    senses = Answers(probabilities, [True, False])
    return CalibrationScores({**kinds, "senses": senses}, roles=[])


def test_kinds_without_answers_are_left_out(capsys):
    print_calibration(scores(0.75, 0.25))
    assert rows(capsys.readouterr().out) == [
        "",
        "Calibration",
        "answers right probability ECE Brier",
        # |1 - 0.75| / 2 + |0 - 0.25| / 2, and the mean of 0.25² and 0.25²
        "senses 2 0.5000 0.5000 0.2500 0.0625",
        "",
        "Calibration of arguments, by role",
        "answers right probability ECE Brier",
    ]


def test_roles_are_listed(capsys):
    arguments = Answers([0.5] * 50, [True] * 25 + [False] * 25)
    print_calibration(CalibrationScores({"arguments": arguments}, roles=["[A0]"] * 50))
    assert "[A0] 50 0.5000 0.5000 0.0000 0.2500" in rows(capsys.readouterr().out)


def test_before_and_after(capsys):
    print_fit(scores(0.5, 0.5), scores(1.0, 0.0))
    assert rows(capsys.readouterr().out) == [
        "answers right ECE before after Brier before after",
        "predicates 0 0.0000 0.0000 0.0000 0.0000 0.0000",
        "senses 2 0.5000 0.0000 0.0000 0.2500 0.0000",
        "arguments 0 0.0000 0.0000 0.0000 0.0000 0.0000",
        "propositions 0 0.0000 0.0000 0.0000 0.0000 0.0000",
    ]
