"""Progress of a training run on standard error."""

from capsrl.cli.train_progress import epoch_line, show_progress

EPOCH = {
    "kind": "epoch",
    "epoch": 3,
    "loss": 0.5,
    "dev_f1": 81.234,
    "dev_argument_f1": 70.0,
    "dev_em": 50.0,
    "seconds": 12.34,
    "best": True,
}


def test_bars_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    step = {"kind": "step", "epoch": 2, "batch": 3, "batches": 6, "loss": 0.25}
    with show_progress(5) as report:
        report({**step, "words_per_second": 12345})
        report({**EPOCH, "epoch": 2})
    err = capsys.readouterr().err
    assert "loss 0.250, 12,345 words/s" in err
    assert "2 of 5" in err
    assert "epoch   2  loss  0.5000  dev F1  81.23" in err


def test_lines_without_a_terminal(capsys):
    with show_progress(5) as report:
        report({"kind": "step"})
        report(EPOCH)
    line = "epoch   3  loss  0.5000  dev F1  81.23  arguments  70.00  EM  50.00      12.3 s  best"
    assert epoch_line(EPOCH) == line
    assert capsys.readouterr().err == line + "\n"
