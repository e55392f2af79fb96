"""Role changes between iterations in; the paper's figure 6 out, as matrices of two colours."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from capsrl.config import ROUTED
from capsrl.model.inventory import NO_ROLE
from reproduce.behaviour import NAMES, SHOWN_STEPS
from reproduce.corpora import CorpusRuns
from reproduce.svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

OFTEN = 50  # roles that gold has more often than this are shown
SIDE_BY_SIDE = 25  # roles at most: then their names have room in half the width
Cells = dict[tuple[str, str], tuple[int, int]]  # (before, after) -> right and wrong changes


def frequent_roles(corpus: CorpusRuns) -> list[str]:
    """The roles to show: none first, then what occurs more than 50 times in dev, by frequency."""
    gold = next((run.measured.gold_roles for run in corpus.runs if run.measured.gold_roles), {})
    ranked = sorted(gold.items(), key=lambda item: (-item[1], item[0]))
    return [NO_ROLE, *(role for role, count in ranked if count > OFTEN)]


def sum_changes(corpus: CorpusRuns, variant: str, step: int) -> Cells:
    """How often each change was right and wrong between two iterations, summed over seeds."""
    right, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for run in corpus.of(variant):
        for change in run.measured.transitions.get(step, ()):
            right[change.before, change.after] += change.right
            wrong[change.before, change.after] += change.wrong
    return {key: (right[key], wrong[key]) for key in sorted(right.keys() | wrong.keys())}


def sign_log(q: int) -> float:
    """The paper's scale: sign(q) log|q|, 0 of 0."""
    return math.copysign(math.log(abs(q)), q) if q else 0.0


def changed_steps(corpus: CorpusRuns) -> list[int]:
    """Those of the steps shown in which something changed."""
    return [
        step
        for step in SHOWN_STEPS
        if any(map(any, (p for v in ROUTED for p in sum_changes(corpus, v, step).values())))
    ]


def plot_transitions(name: str, corpus: CorpusRuns) -> str:
    """Figure 6: a matrix per step and variant; blue halves of cells are right, orange wrong.

    Many roles need the whole width: then the matrices stand one below the other.
    """
    roles = frequent_roles(corpus)
    steps = changed_steps(corpus)
    found = {
        (step, variant): sum_changes(corpus, variant, step) for step in steps for variant in ROUTED
    }
    most = max([1.0, *(sign_log(max(pair)) for cells in found.values() for pair in cells.values())])
    columns = 2 if len(roles) <= SIDE_BY_SIDE else 1
    rows = len(found) // columns

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, ((step, variant), cells) in zip(panels.flat, found.items(), strict=True):
            _draw_matrix(axes, cells, roles, most)
            axes.set_title(f"{step} → {step + 1}, {NAMES[variant]}")
            if axes in panels[:, 0]:
                axes.set_ylabel(f"role after iteration {step}")
        for axes in panels[-1]:
            axes.set_xlabel("role one iteration later")
        _draw_scales(figure, [*panels.flat], most)

    return draw_svg(name, 1.8 + rows * (3.4 if columns == 2 else 6.4), draw)


def _maps() -> "tuple[Colormap, Colormap]":
    from matplotlib.colors import LinearSegmentedColormap

    # From a tint that is seen on white, so that one change (log 1 = 0) shows too.
    # In 40 steps: matplotlib makes pixels of a scale of 50 or more.
    blue = LinearSegmentedColormap.from_list("right", ["#d3e6f3", "#0072B2", "#00263d"], 40)
    orange = LinearSegmentedColormap.from_list("wrong", ["#fbdcc6", "#D55E00", "#521f00"], 40)
    return blue, orange


def _draw_matrix(axes: "Axes", cells: Cells, roles: Sequence[str], most: float) -> None:
    from matplotlib.collections import PolyCollection

    place = {role: i for i, role in enumerate(roles)}
    for kind, colors in enumerate(_maps()):
        corners, values = [], []
        for (before, after), pair in cells.items():
            if pair[kind] and before in place and after in place:
                corners.append(_triangle(place[after], place[before], kind))
                values.append(sign_log(pair[kind]) / most)
        axes.add_collection(PolyCollection(corners, facecolors=colors(values), linewidths=0))
    size = len(roles)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    names = ["None" if role == NO_ROLE else role for role in roles]
    axes.set_xticks(range(size), names, rotation=90)
    axes.set_yticks(range(size), names)
    axes.tick_params(length=0)
    for line in range(1, size):
        axes.axhline(line - 0.5, color="#e6e6e6", linewidth=0.5, zorder=0)
        axes.axvline(line - 0.5, color="#e6e6e6", linewidth=0.5, zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _triangle(x: int, y: int, kind: int) -> list[tuple[float, float]]:
    """Half of a cell: the upper left for what is right, the lower right for what is wrong."""
    low, high = 0.5, 0.5
    ends = [(x - low, y + high), (x + high, y - low)]
    return [*ends, (x - low, y - low) if kind == 0 else (x + high, y + high)]


def _draw_scales(figure: "Figure", panels: "list[Axes]", most: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    ticks = [q for q in (1, 10, 100, 1000, 10_000, 100_000) if sign_log(q) <= most]
    # The last one drawn is the upper one.
    for colors, label in zip(_maps()[::-1], ("wrong changes", "right changes"), strict=True):
        bar = figure.colorbar(
            ScalarMappable(Normalize(0, most), colors),
            ax=panels,
            location="bottom",
            shrink=0.6,
            aspect=40,
            pad=0.01,
        )
        bar.set_ticks([sign_log(q) for q in ticks], labels=[f"{q:,}" for q in ticks])
        bar.set_label(label)
        assert bar.solids is not None, "a scale without contours is made of them"
        bar.solids.set_edgecolor("face")  # no hairlines between the steps
