import re
import sys
import xml.etree.ElementTree as ET

import pytest

from capsrl.errors import ConfigError
from reproduce.corpora import group_runs
from reproduce.languages import make_pairs
from reproduce.results import Change, Measured
from tests.helpers.synthetic_runs import full_plan, run

matplotlib = pytest.importorskip("matplotlib")

from reproduce.figures import (  # noqa: E402
    _draw_gains,
    plot_duplicates,
    plot_groups,
    plot_iterations,
    plot_languages,
)
from reproduce.svg import draw_svg  # noqa: E402
from reproduce.transitions import plot_transitions  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
PLOTS = [plot_groups, plot_iterations, plot_duplicates, plot_transitions]


@pytest.fixture(scope="module")
def english():
    return next(corpus for corpus in group_runs(full_plan()) if corpus.name == "en_web")


@pytest.mark.parametrize("plot", PLOTS)
def test_a_drawing_is_whole_and_the_same_each_time(plot, english):
    text = plot("x-y", english)
    tree = ET.fromstring(text)
    assert tree.tag == f"{SVG}svg"
    assert tree.get("width") == "540pt"  # 720 px
    assert not list(tree.iter(f"{SVG}image"))
    assert not list(tree.iter(f"{SVG}text"))  # letters are drawn: no font is needed
    ids = {element.get("id") for element in tree.iter()} - {None}
    assert ids and all(name.startswith("x-y-") for name in ids)
    wanted = re.findall(r'(?:href="|url\()#([^")]+)', text)
    assert wanted and set(wanted) <= ids
    assert "<metadata" not in text and not re.search(r" +$", text, re.M)
    assert plot("x-y", english) == text


def test_the_users_own_settings_do_not_show(english):
    text = plot_duplicates("d", english)
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "none"}):
        assert plot_duplicates("d", english) == text
        assert matplotlib.rcParams["font.size"] == 30


def count(text, color):
    return len(re.findall(color, text, re.I))


def test_every_variant_is_drawn_in_its_colour(english):
    text = plot_iterations("i", english)
    # A line in each of four panels and one in the legend, and more with markers and bands.
    for color in ("#0072b2", "#d55e00", "#000000"):
        assert count(text, color) >= 5
    baseline_only = group_runs([run(variant="baseline")])[0]
    assert count(plot_duplicates("d", baseline_only), "#d55e00") == 0


def test_the_gold_line(english):
    assert count(plot_duplicates("d", english), "#009e73") >= 2  # in the panel and in the legend


def triangles(text):
    """How many halves of cells are drawn."""
    tree = ET.fromstring(text)
    groups = [g for g in tree.iter(f"{SVG}g") if "PolyCollection" in (g.get("id") or "")]
    return [len(list(group.iter(f"{SVG}path"))) for group in groups]


def test_right_and_wrong_changes_have_halves_of_their_own():
    changes = (
        Change("A0", "_", 7, 2, 1),  # both halves
        Change("_", "A0", 5, 0, 0),  # the right one
        Change("A0", "A1", 0, 3, 0),  # the wrong one
        Change("A0", "RARE", 9, 9, 9),  # none: the role is not shown
        Change("A1", "A0", 0, 0, 4),  # none: neither right nor wrong
    )
    measured = Measured({}, transitions={1: changes}, gold_roles={"A0": 90, "A1": 80, "RARE": 9})
    [corpus] = group_runs([run(variant="capsule", measured=measured)])
    assert sum(triangles(plot_transitions("t", corpus))) == 4


def height_of(text):
    return float(ET.fromstring(text).get("height").removesuffix("pt")) / 72


@pytest.mark.parametrize(("n_roles", "height"), [(24, 1.8 + 3.4), (25, 1.8 + 2 * 6.4)])
def test_many_roles_take_the_whole_width(n_roles, height):
    roles = {f"A{i}": 60 for i in range(n_roles)}
    changes = {1: (Change("A0", "A1", 1, 0, 0),)}
    measured = Measured({}, transitions=changes, gold_roles=roles)
    [corpus] = group_runs([run(variant="capsule", measured=measured)])
    assert height_of(plot_transitions("t", corpus)) == pytest.approx(height)


def test_languages_have_a_row_each():
    corpora = group_runs(full_plan())
    f1, em = make_pairs(corpora, "F1"), make_pairs(corpora, "EM")
    tall, short = plot_languages("l", f1, em), plot_languages("l", f1[:2], em[:2])
    assert height_of(tall) - height_of(short) == pytest.approx(5 * 0.25)


def test_the_legend_of_languages():
    pairs = make_pairs(group_runs(full_plan()), "F1")
    axes = matplotlib.figure.Figure().subplots()
    _draw_gains(axes, pairs)
    _, labels = axes.get_legend_handles_labels()
    assert sorted(labels) == ["here, 95 % interval", "here, one seed", "paper, CoNLL-2009"]


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ConfigError, match=r"reports need matplotlib: pip install 'capsrl\[plots\]'"
    ):
        draw_svg("x", 1, lambda figure: None)
