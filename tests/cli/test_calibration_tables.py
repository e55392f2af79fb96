from capsrl.cli.calibration_tables import print_calibration, print_fit
from capsrl.score.calibration import Answers, CalibrationScores


def rows(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def scores(*probabilities):
    """Two senses, of which the first is right; no other answers."""
    found = CalibrationScores()
    found.kinds["senses"] = Answers(list(probabilities), [True, False])
    return found


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
    found = scores(0.75, 0.25)
    found.roles["[A0]"] = Answers([0.5] * 50, [True] * 25 + [False] * 25)
    print_calibration(found)
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
