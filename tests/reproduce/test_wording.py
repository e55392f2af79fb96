import pytest

from reproduce.statistics import Difference, Sample
from reproduce.wording import counted, gain, listed, number, signed, spread


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.557, "+0.56"), (-0.557, "−0.56"), (0.001, "0.00"), (-0.001, "0.00"), (1234.5, "+1,234.50")],
)
def test_signed(value, shown):
    assert signed(value) == shown


def test_means_and_differences():
    assert spread(Sample((84.0, 85.0, 86.0))) == "85.00 ± 1.00"
    assert spread(Sample((84.0,))) == "84.00"
    assert spread(None) == gain(None) == "–"
    assert gain(Difference(0.5, 0.25)) == "+0.50 [+0.25, +0.75]"
    assert gain(Difference(-0.5, None)) == "−0.50"
    assert number(12345.678, 1) == "12,345.7"


def test_lists():
    assert (counted(1, "run"), counted(1200, "run")) == ("1 run", "1,200 runs")
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"
