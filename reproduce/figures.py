"""The figures of the paper from our runs, as SVG.

Colors are from the palette of Okabe and Ito, which color-blind readers can distinguish; markers
and dashes carry the same information.
"""

import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from capsrl.config import ROUTED
from reproduce import published
from reproduce.claims import CHANGE_STEPS
from reproduce.corpora import DECODER, SETS, CorpusRuns, gains, gains_by_size
from reproduce.results import NO_ROLE
from reproduce.stats import Difference, Sample
from reproduce.tables import SHOWN

T = TypeVar("T")
MIN_COUNT = 50  # figure 6 shows the roles that occur more often than this in gold
BLUE, ORANGE, BLACK, GREEN = "#0072B2", "#D55E00", "#000000", "#009E73"
_STYLES: dict[str, dict[str, Any]] = {
    "baseline": {"color": BLACK, "marker": "s", "label": "baseline"},
    "capsule": {"color": ORANGE, "marker": "o", "label": "capsule (no global node)"},
    "capsule+global": {"color": BLUE, "marker": "^", "label": "capsule+global"},
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "path",  # looks the same where the font is missing
    "svg.hashsalt": "reproduce",  # the same file each time
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "lines.markersize": 5,
}


def as_svg(draw: Callable[[Figure, T], None]) -> Callable[[T], str]:
    """Let a function draw on an empty figure, 720 pixels wide, and return the SVG."""

    def plot(runs: T) -> str:
        file = io.StringIO()
        with matplotlib.rc_context():
            matplotlib.rcdefaults()  # not the settings of the user
            matplotlib.rcParams.update(_SETTINGS)
            figure = Figure(figsize=(7.5, 3.6), layout="constrained")
            draw(figure, runs)
            no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(file, format="svg", metadata=no_metadata)
        return file.getvalue()

    return plot


@as_svg
def plot_groups(figure: Figure, corpus: CorpusRuns) -> None:
    """Figure 3: F1 on test by sentence length and by number of arguments."""
    panels = figure.subplots(1, 2, sharey=True)
    for axes, kind in zip(panels, published.GROUPS, strict=True):
        _draw_groups(axes, corpus, kind)
    panels[0].set(xlabel="words in the sentence", ylabel="F1 on test, %")
    panels[1].set_xlabel("arguments of the proposition")
    _draw_legend(figure, panels[0])


def _draw_groups(axes: Axes, corpus: CorpusRuns, kind: str) -> None:
    groups = list(published.GROUPS[kind])
    for i, variant in enumerate(SHOWN):
        found = [corpus.group_score(variant, kind, group) for group in groups]
        x = [x + (i - 1) * 0.22 for x, each in enumerate(found) if each]
        means = [each.mean for each in found if each]
        # One seed has no deviation; nan draws no bar.
        bars = [math.nan if each.deviation is None else each.deviation for each in found if each]
        axes.errorbar(x, means, yerr=bars, linestyle="none", capsize=2, **_STYLES[variant])
    axes.set_xticks(range(len(groups)), groups, rotation=35 if kind == "lengths" else 0)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(axis="y")


@as_svg
def plot_iterations(figure: Figure, corpus: CorpusRuns) -> None:
    """Figure 4: P, R, F1, EM on dev against the number of iterations."""
    figure.set_figheight(5.4)
    panels = figure.subplots(2, 2, sharex=True)
    for axes, measure in zip(panels.flat, published.COLUMNS, strict=True):
        _draw_curves(axes, corpus, measure)
        axes.set(title=measure, ylabel="dev, %")
    for axes in panels[1]:
        axes.set_xlabel("iterations")
    _draw_legend(figure, panels[0, 0])


@as_svg
def plot_duplicates(figure: Figure, corpus: CorpusRuns) -> None:
    """Figure 5: propositions of dev with a repeated role, against the number of iterations."""
    axes = figure.subplots()
    _draw_curves(axes, corpus, "repeated")
    if corpus.gold_repeated is not None:
        axes.axhline(corpus.gold_repeated, color=GREEN, linestyle="-.", label="gold")
    axes.set(xlabel="iterations", ylabel="propositions with a repeated role")
    axes.set_ylim(bottom=0)
    _draw_legend(figure, axes)


def _draw_curves(axes: Axes, corpus: CorpusRuns, measure: str) -> None:
    """Curves of the variants with routing, and the level of the baseline."""
    baseline = corpus.score("baseline", "dev", measure)
    if baseline is not None:
        axes.axhline(baseline.mean, color=BLACK, linestyle="--", label="baseline")
        axes.axhspan(*_band(baseline), color=BLACK, alpha=0.12, linewidth=0)
    for variant in ROUTED:
        steps, found = corpus.sweep(variant), corpus.mean_curve(variant, measure)
        if steps:
            axes.plot(steps, [each.mean for each in found], **_STYLES[variant])
            low, high = zip(*map(_band, found), strict=True)
            color = _STYLES[variant]["color"]
            axes.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
            axes.set_xticks(steps)
    axes.axvline(corpus.iterations, color="#777777", linestyle=":", label="as in training")
    axes.grid(axis="y")


def _band(found: Sample) -> tuple[float, float]:
    return found.mean - (found.deviation or 0), found.mean + (found.deviation or 0)


@as_svg
def plot_changes(figure: Figure, corpus: CorpusRuns) -> None:
    """Figure 6: right (blue) and wrong (orange) role changes, a matrix per step and variant."""
    roles = frequent_roles(corpus)
    figure.set_figheight(9.2)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for row, step in zip(panels, CHANGE_STEPS, strict=True):
        for axes, variant in zip(row, ROUTED, strict=True):
            _draw_changes(axes, sum_changes(corpus, variant, step), roles)
            axes.set_title(f"{step} → {step + 1}, {variant}")
        row[0].set_ylabel(f"role after iteration {step}")
    for axes in panels[1]:
        axes.set_xlabel("role one iteration later")
    scale: dict[str, Any] = {"location": "bottom", "shrink": 0.6, "aspect": 40, "pad": 0.01}
    for points, label in zip(panels[0, 0].collections, ("right", "wrong"), strict=True):
        figure.colorbar(points, ax=panels, label=f"{label} changes", **scale)


def frequent_roles(corpus: CorpusRuns) -> list[str]:
    """The roles to show: none, then those that occur more than 50 times in dev, by frequency."""
    gold = next((run.measured.gold_roles for run in corpus.runs if run.measured.gold_roles), {})
    ranked = sorted(gold.items(), key=lambda item: (-item[1], item[0]))
    return [NO_ROLE, *(role for role, count in ranked if count > MIN_COUNT)]


def sum_changes(corpus: CorpusRuns, variant: str, step: int) -> list[Counter[tuple[str, str]]]:
    """The right and the wrong changes (before, after) of a step, summed over seeds."""
    right, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for changes in corpus.changes(variant, [step]):
        for change in changes:
            right[change.before, change.after] += change.right
            wrong[change.before, change.after] += change.wrong
    return [right, wrong]


def _draw_changes(
    axes: Axes, found: Sequence[Counter[tuple[str, str]]], roles: Sequence[str]
) -> None:
    size = len(roles)
    position = {role: i for i, role in enumerate(roles)}
    for counts, colors, shift in zip(found, ("Blues", "Oranges"), (-0.22, 0.22), strict=True):
        shown = [
            (position[after], position[before], n)
            for (before, after), n in counts.items()
            if n and before in position and after in position
        ]
        axes.scatter(
            [x + shift for x, _, _ in shown],
            [y for _, y, _ in shown],
            c=[n for _, _, n in shown],
            s=(100 / size) ** 2,  # half the width of a cell
            marker="s",
            cmap=colors,
            norm=LogNorm(0.2, 10_000),  # one change is visible on white
        )
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    names = ["None" if role == NO_ROLE else role for role in roles]
    axes.set_xticks(range(size), names, rotation=90, fontsize=6)
    axes.set_yticks(range(size), names, fontsize=6)
    axes.grid(color="#eeeeee", linewidth=0.5)


@as_svg
def plot_languages(figure: Figure, corpora: Sequence[CorpusRuns]) -> None:
    """Table 5 as a figure: what refinement adds on each corpus, with 95 % intervals."""
    found = {measure: gains(corpora, measure) for measure in ("F1", "EM")}
    names = [corpus.name for corpus, _ in found["F1"]]
    figure.set_figheight(1.3 + 0.25 * len(names))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (measure, pairs) in zip(panels, found.items(), strict=True):
        _draw_gains(axes, [difference for _, difference in pairs])
        axes.set_xlabel(f"{measure} on test, CapsuleNet minus baseline")
    for y, (corpus, _) in enumerate(found["F1"]):
        if corpus.first.paper:
            old, new = published.LANGUAGES[corpus.first.paper]
            label = f"paper, {published.DATA}" if y == 0 else None
            panels[0].plot(new - old, y + 0.22, "x", color=ORANGE, label=label)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    _draw_legend(figure, panels[0])


@as_svg
def plot_sizes(figure: Figure, corpus: CorpusRuns) -> None:
    """What refinement adds by number of training sentences, alone and beside the decoder."""
    names = [name for name in ("test", "ood") if name in corpus.sets]
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    styles = {
        "": (BLUE, "o", "both without the decoder"),
        DECODER: (ORANGE, "s", "both with the decoder"),
    }
    for axes, name in zip(panels, names, strict=True):
        for shift, (more, (color, marker, label)) in zip(
            (-0.06, 0.06), styles.items(), strict=True
        ):
            found = gains_by_size(corpus, more, name, "EM")
            places = [list(corpus.sizes).index(size) + shift for size in found]
            bars = [math.nan if each.half is None else each.half for each in found.values()]
            means = [each.mean for each in found.values()]
            style = {"fmt": f"{marker}-", "color": color, "capsize": 3, "label": label}
            axes.errorbar(places, means, yerr=bars, **style)
        axes.axhline(0, color=BLACK, linewidth=1)
        axes.grid(axis="y")
        axes.set_xticks(range(len(corpus.sizes)), list(corpus.sizes))
        axes.set(title=SETS[name], xlabel="training sentences")
    panels[0].set_ylabel("EM, CapsuleNet minus baseline")
    _draw_legend(figure, panels[0])


def _draw_gains(axes: Axes, differences: Sequence[Difference]) -> None:
    means = [difference.mean for difference in differences]
    # One seed has no interval; nan draws no bar.
    bars = [math.nan if d.half is None else d.half for d in differences]
    axes.axvline(0, color=BLACK, linewidth=1)
    axes.errorbar(means, range(len(means)), xerr=bars, fmt="o", color=BLUE, capsize=3, label="here")
    axes.grid(axis="x")


def _draw_legend(figure: Figure, axes: Axes) -> None:
    """Above the panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
