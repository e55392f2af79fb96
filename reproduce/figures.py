"""The runs of a corpus in; the paper's figures, with means and spreads over seeds, out.

Colours are of Okabe and Ito's palette, told apart by colour-blind readers; markers and dashes say
the same again.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from capsrl.config import ROUTED
from reproduce import published
from reproduce.behaviour import curves, mean_curve
from reproduce.corpora import MEASURES, CorpusRuns, gold_repeated, repeated, row_scores
from reproduce.languages import Pair
from reproduce.statistics import Sample
from reproduce.svg import draw_svg
from reproduce.tables import GROUPS, SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, BLACK, GREEN = "#0072B2", "#D55E00", "#000000", "#009E73"
_COLORS = {"baseline": BLACK, "capsule": ORANGE, "capsule+global": BLUE}
_MARKERS = {"baseline": "s", "capsule": "o", "capsule+global": "^"}
_LABELS = {
    "baseline": "baseline",
    "capsule": "capsule (no global node)",
    "capsule+global": "capsule+global",
}
_TITLES = {"P": "Precision", "R": "Recall", "F1": "F1", "EM": "Exact match"}


def plot_groups(name: str, corpus: CorpusRuns) -> str:
    """Figure 3: F1 on test by sentence length and by number of arguments."""

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, table in zip(panels, GROUPS, strict=True):
            _draw_groups(axes, corpus, table)
        panels[0].set_ylabel("F1 on test, %")
        panels[0].set_xlabel("words in the sentence")
        panels[1].set_xlabel("arguments of the proposition")
        _legend(figure, panels[0])

    return draw_svg(name, 3.3, draw)


def _draw_groups(axes: "Axes", corpus: CorpusRuns, table: str) -> None:
    groups = list(GROUPS[table][1])
    for i, variant in enumerate(SHOWN):
        found = [row_scores(corpus, variant, table, group) for group in groups]
        places = [(x + (i - 1) * 0.22, each) for x, each in enumerate(found) if each is not None]
        if places:
            axes.errorbar(
                [x for x, _ in places],
                [each.mean for _, each in places],
                yerr=[_or_nothing(each.deviation) for _, each in places],
                label=_LABELS[variant],
                linestyle="none",
                capsize=2,
                color=_COLORS[variant],
                marker=_MARKERS[variant],
            )
    axes.set_xticks(range(len(groups)), groups, rotation=35 if table == "lengths" else 0)
    axes.set_xlim(-0.5, len(groups) - 0.5)  # groups without propositions too
    axes.grid(axis="y")
    for x in range(1, len(groups)):
        axes.axvline(x - 0.5, color="#eeeeee", linewidth=0.8, zorder=0)


def _or_nothing(deviation: float | None) -> float:
    """What draws no bar: one seed has no spread, rather than one of 0."""
    return math.nan if deviation is None else deviation


def plot_iterations(name: str, corpus: CorpusRuns) -> str:
    """Figure 4: P, R, F1, EM on dev against the number of iterations."""

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(2, 2, sharex=True)
        for axes, measure in zip(panels.flat, MEASURES, strict=True):
            _draw_level(axes, corpus.score("baseline", "dev", measure), "baseline")
            _draw_curves(axes, corpus, measure)
            axes.set_title(_TITLES[measure])
            axes.set_ylabel("dev, %")
        for axes in panels[1]:
            axes.set_xlabel("iterations")
        _legend(figure, panels[0, 0])

    return draw_svg(name, 5.4, draw)


def plot_duplicates(name: str, corpus: CorpusRuns) -> str:
    """Figure 5: propositions of dev that repeat a role, against the number of iterations."""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        _draw_level(axes, repeated(corpus.of("baseline")), "baseline")
        _draw_curves(axes, corpus, "repeated")
        gold = gold_repeated(corpus)
        if gold is not None:
            axes.axhline(gold, color=GREEN, linestyle="-.", label="gold")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("iterations")
        axes.set_ylabel("propositions with a repeated role")
        _legend(figure, axes, columns=5)

    return draw_svg(name, 3.6, draw)


def _draw_curves(axes: "Axes", corpus: CorpusRuns, measure: str) -> None:
    for variant in ROUTED:
        ns = list(corpus.sweep(variant))
        found = mean_curve(curves(corpus, variant, measure))
        if found:
            axes.plot(
                ns,
                [each.mean for each in found],
                label=_LABELS[variant],
                color=_COLORS[variant],
                marker=_MARKERS[variant],
            )
            _band(axes, ns, found, _COLORS[variant])
            axes.set_xticks(ns)
    axes.axvline(corpus.iterations, color="#777777", linestyle=":", label="as in training")
    axes.grid(axis="y")


def _draw_level(axes: "Axes", found: Sample | None, variant: str) -> None:
    """A variant that does not iterate: one level for every number of iterations."""
    if found is None:
        return
    color = _COLORS[variant]
    axes.axhline(found.mean, color=color, linestyle="--", label=_LABELS[variant])
    if found.deviation:
        edges = found.mean - found.deviation, found.mean + found.deviation
        axes.axhspan(*edges, color=color, alpha=0.12, linewidth=0)


def _band(axes: "Axes", x: Sequence[int], found: Sequence[Sample], color: str) -> None:
    low = [each.mean - (each.deviation or 0) for each in found]
    high = [each.mean + (each.deviation or 0) for each in found]
    axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)


def plot_languages(name: str, f1: Sequence[Pair], em: Sequence[Pair]) -> str:
    """Table 5 as a figure: what refinement adds on each corpus, with 95 % intervals."""

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, pairs, title in zip(panels, (f1, em), ("F1", "EM"), strict=True):
            _draw_gains(axes, pairs)
            axes.set_xlabel(f"{title} on test, CapsuleNet less baseline")
        panels[0].set_yticks(range(len(f1)), [pair.corpus.name for pair in f1])
        panels[0].set_ylim(len(f1) - 0.4, -0.6)
        panels[1].tick_params(axis="y", length=0)
        _legend(figure, panels[0])

    return draw_svg(name, 1.3 + 0.25 * len(f1), draw)


def _draw_gains(axes: "Axes", pairs: Sequence[Pair]) -> None:
    axes.axvline(0, color=BLACK, linewidth=1)
    for alone, label, marker in (
        (False, "here, 95 % interval", "o"),
        (True, "here, one seed", "D"),
    ):
        shown = [
            (y, pair.difference)
            for y, pair in enumerate(pairs)
            if (pair.difference.half is None) is alone
        ]
        if shown:
            axes.errorbar(
                [each.mean for _, each in shown],
                [y for y, _ in shown],
                xerr=None if alone else [each.half or 0.0 for _, each in shown],
                fmt=marker,
                markerfacecolor="white" if alone else BLUE,
                color=BLUE,
                capsize=3,
                label=label,
            )
    papers = [
        (new - old, y + 0.22)  # beside ours, not over it
        for y, pair in enumerate(pairs)
        for old, new in [published.LANGUAGES.get(pair.corpus.first.paper, (None, None))]
        if old is not None and new is not None
    ]
    if papers and axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        axes.plot(*zip(*papers, strict=True), "x", color=ORANGE, label=f"paper, {published.DATA}")
    axes.grid(axis="x")


def _legend(figure: "Figure", axes: "Axes", columns: int = 4) -> None:
    """Above the panels, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.5,
    )
