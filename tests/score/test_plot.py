from dataclasses import replace

import pytest

from capsrl.errors import ConfigError
from capsrl.score.calibration import score_calibration
from capsrl.score.plot import plot_reliability, save_figure
from tests.helpers.score_sentences import sentence

GOLD = sentence("a b c", (1, "see.01", "A0:0 A1:2"))
PRED = GOLD.with_propositions(
    [
        replace(
            each,
            probability=0.9,
            predicate_probability=0.8,
            joint_probability=0.5,
            arguments=tuple(replace(argument, probability=0.7) for argument in each.arguments),
        )
        for each in GOLD.propositions
    ]
)


def test_reliability_diagram(tmp_path):
    pytest.importorskip("matplotlib")
    scores = score_calibration([GOLD], [PRED])
    figure = plot_reliability(scores)
    assert [panel.get_title() for panel in figure.axes] == [
        f"{kind}: ECE {answers.ece:.3f}" for kind, answers in scores.kinds.items()
    ]
    for name in ("a.svg", "a.png"):
        save_figure(plot_reliability(scores), str(tmp_path / name))
        first = (tmp_path / name).read_bytes()
        save_figure(plot_reliability(scores), str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == first and len(first) > 1000
    with pytest.raises(ConfigError, match=r"a\.xyz: expected .svg, .png or .pdf, got Format 'xyz'"):
        save_figure(figure, str(tmp_path / "a.xyz"))
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        save_figure(figure, str(tmp_path / "none" / "a.png"))
