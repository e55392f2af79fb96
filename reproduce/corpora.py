"""Group results by corpus, check that they can be compared, and look up their scores."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from capsrl.config import ROUTED
from capsrl.errors import DataError
from capsrl.score import Counts, Row
from reproduce.results import VARIANTS, Change, RunResult
from reproduce.stats import Difference, Sample, contrast, sample, welch

SETS = {"dev": "dev", "test": "test", "ood": "out of domain"}
SCORES: Mapping[str, Callable[[Counts], float]] = {
    "P": lambda counts: counts.labeled.precision,
    "R": lambda counts: counts.labeled.recall,
    "F1": lambda counts: counts.labeled.f1,
    "EM": lambda counts: counts.exact_match,
    "repeated": lambda counts: counts.pred_repeated,  # propositions with a repeated role
}
DECODER = "+decoder"  # after a variant: the same runs, scored with the decoder of decoder.py
# Settings in which runs of a corpus may differ.
COMPARED = (
    "model.capsules.variant",
    "model.capsules.iterations",
    "loss.uniqueness",
    "train.seed",
)


@dataclass(frozen=True)
class CorpusRuns:
    """All results of one corpus with the same values of the axes, by variant, setting and seed.

    iterations, uniqueness  the main setting, which most of the runs have; variants are compared at
                            this setting
    cells                   the same corpus with each of the values of the axes, this one first;
                            empty if it was run with one only

    Where methods take a variant, "baseline+decoder" is the baseline scored with the decoder.
    """

    name: str
    runs: tuple[RunResult, ...]
    iterations: int
    uniqueness: float
    cells: tuple["CorpusRuns", ...] = ()

    @property
    def first(self) -> RunResult:
        """Any run, for what all runs share: language, annotation, encoder."""
        return self.runs[0]

    @property
    def axes(self) -> str:
        """The values of the axes, such as `sentences=1000`; "" where they are the recipe's."""
        return _axes(self.first)

    @property
    def is_full(self) -> bool:
        """Whether at least three variants were run at the main setting."""
        return sum(bool(self.runs_of(variant)) for variant in VARIANTS) >= 3

    @property
    def sets(self) -> tuple[str, ...]:
        """The files that some run was measured on."""
        return tuple(name for name in SETS if any(name in run.measured.sets for run in self.runs))

    @property
    def settings(self) -> list[tuple[float, int]]:
        """(uniqueness, iterations) of the runs without the global node, ordered as in table 1."""
        found = {(run.uniqueness, run.iterations) for run in self.runs if run.variant == "capsule"}
        return sorted(found, key=lambda setting: (-setting[0], setting[1]))

    @property
    def sizes(self) -> dict[str, "CorpusRuns"]:
        """The cells that differ in their number of training sentences alone: 1,000, ..., all."""
        cells = [cell for cell in self.cells if cell.first.axes.keys() <= {"sentences"}]
        named = [(cell.first.axes.get("sentences", "0"), cell) for cell in cells]
        found = {int(name): cell for name, cell in named if name.isdecimal()}
        return {f"{n:,}" if n else "all": found[n] for n in sorted(found, key=lambda n: n or 1e99)}

    @property
    def full_cells(self) -> list["CorpusRuns"]:
        """The cells with all training sentences."""
        return [cell for cell in self.cells if "sentences" not in cell.first.axes]

    def runs_of(self, variant: str) -> tuple[RunResult, ...]:
        """The runs of a variant at the main setting, by seed."""
        variant = variant.removesuffix(DECODER)
        return tuple(
            run
            for run in self.runs
            if run.variant == variant
            and run.uniqueness == self.uniqueness
            and (variant not in ROUTED or run.iterations == self.iterations)
        )

    def runs_at(self, variant: str, uniqueness: float, iterations: int) -> tuple[RunResult, ...]:
        """The runs of a variant at any setting, by seed."""
        wanted = variant, uniqueness, iterations
        return tuple(r for r in self.runs if (r.variant, r.uniqueness, r.iterations) == wanted)

    def score(self, variant: str, name: str, measure: str) -> Sample | None:
        """A score of a variant on a set."""
        return sample(self.by_seed(variant, name, measure).values())

    def by_seed(self, variant: str, name: str, measure: str) -> dict[int, float]:
        """The same, seed by seed."""
        kind = "decoded" if variant.endswith(DECODER) else "sets"
        found = {run.seed: getattr(run.measured, kind).get(name) for run in self.runs_of(variant)}
        return {seed: SCORES[measure](counts) for seed, counts in found.items() if counts}

    def slips(self, variant: str, name: str, kind: str) -> Sample | None:
        """How often a rule of the decoder was broken; `kind` is a field of Slips."""
        found = [run.measured.slips.get(name) for run in self.runs_of(variant)]
        return sample(getattr(each, kind) for each in found if each is not None)

    def difference(self, new: str, old: str, name: str, measure: str) -> Difference | None:
        """How much higher a variant scores than another; None if one was not measured."""
        left, right = self.score(new, name, measure), self.score(old, name, measure)
        return welch(left, right) if left and right else None

    def group_score(self, variant: str, table: str, group: str) -> Sample | None:
        """F1 of a variant in one group of test; `table` is "lengths" or "arguments"."""
        tables: list[Mapping[str, Row]] = [
            getattr(run.measured, table) for run in self.runs_of(variant)
        ]
        return sample(rows[group].f1 for rows in tables if group in rows)

    def sweep(self, variant: str) -> list[int]:
        """The numbers of iterations at prediction time that all runs of a variant measured."""
        found = [set(run.measured.sweep) for run in self.runs_of(variant) if run.measured.sweep]
        return sorted(set.intersection(*found)) if found else []

    def curves(self, variant: str, measure: str) -> list[list[float]]:
        """For each seed, a score on dev after each number of iterations of `sweep`."""
        value = SCORES[measure]
        return [
            [value(run.measured.sweep[n]) for n in self.sweep(variant)]
            for run in self.runs_of(variant)
            if run.measured.sweep
        ]

    def mean_curve(self, variant: str, measure: str) -> list[Sample]:
        """A Sample over seeds for each number of iterations of `sweep`."""
        return [Sample(values) for values in zip(*self.curves(variant, measure), strict=True)]

    def changes(self, variant: str, steps: Sequence[int]) -> list[list[Change]]:
        """For each seed, the role changes between iterations n and n + 1 for n in `steps`."""
        return [
            [change for step in steps for change in run.measured.transitions.get(step, ())]
            for run in self.runs_of(variant)
        ]

    @property
    def gold_repeated(self) -> int | None:
        """Gold propositions of dev in which a role occurs more than once."""
        found = [run.measured.sets["dev"] for run in self.runs if "dev" in run.measured.sets]
        return found[0].gold_repeated if found else None


def scores(runs: Iterable[RunResult], name: str, measure: str) -> Sample | None:
    """A score of some runs on a set; None if no run was measured on it."""
    found = [run.measured.sets[name] for run in runs if name in run.measured.sets]
    return sample(map(SCORES[measure], found))


def group_runs(runs: Iterable[RunResult]) -> list[CorpusRuns]:
    """The corpora of some results, by language and name.

    A corpus that was run with several values of an axis is the cell whose values are those of its
    recipe, or else the one with the most runs; the others are its `cells`.
    Raises DataError if runs of one corpus cannot be compared, or if a run is there twice.
    """
    by_name: dict[str, dict[str, list[RunResult]]] = {}
    for run in runs:
        by_name.setdefault(run.corpus, {}).setdefault(_axes(run), []).append(run)
    corpora = []
    for name, cells in by_name.items():
        main = min(cells, key=lambda axes: (axes != "", -len(cells[axes]), axes))
        others = sorted(cells.keys() - {main}, key=_in_numbers)
        found = [_group(name, cells[axes]) for axes in (main, *others)]
        corpora.append(replace(found[0], cells=tuple(found) if others else ()))
    return sorted(corpora, key=lambda corpus: (corpus.first.language, corpus.name))


def _axes(run: RunResult) -> str:
    return ", ".join(f"{axis}={value}" for axis, value in run.axes.items())


def _in_numbers(text: str) -> list[tuple[float, str]]:
    """A key that sorts numbers in a text by their value."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(float(part), "") if part[:1].isdigit() else (-1.0, part) for part in parts]


def _group(name: str, runs: list[RunResult]) -> CorpusRuns:
    unknown = sorted({run.variant for run in runs} - set(VARIANTS))
    if unknown:
        raise DataError(
            f"corpus {name}: expected variants of {', '.join(VARIANTS)}, got {', '.join(unknown)}"
        )
    _check_settings(name, runs)
    _check_once(name, runs)
    runs = sorted(
        runs,
        key=lambda run: (VARIANTS.index(run.variant), run.uniqueness, run.iterations, run.seed),
    )
    # Iterations mean nothing to variants without routing.
    routed = [run for run in runs if run.variant in ROUTED] or runs
    settings = Counter((run.uniqueness, run.iterations) for run in routed)
    uniqueness, iterations = min(settings, key=lambda setting: (-settings[setting], setting))
    return CorpusRuns(name, tuple(runs), iterations, uniqueness)


def _check_settings(name: str, runs: list[RunResult]) -> None:
    """Check that runs differ only in what the report compares."""
    known: dict[str, object] = {}
    for run in runs:
        about = {key: getattr(run, key) for key in ("language", "annotation", "encoder", "paper")}
        for key, value in {**about, **run.settings}.items():
            # A run has only the settings that affect it.
            if key not in COMPARED and known.setdefault(key, value) != value:
                raise DataError(
                    f"corpus {name}: expected the same settings and files in every run, got {key} "
                    f"{known[key]!r} and {value!r}; give one of them another corpus name or folder"
                )


def _check_once(name: str, runs: list[RunResult]) -> None:
    seen = Counter(
        (run.variant, run.iterations if run.variant in ROUTED else 0, run.uniqueness, run.seed)
        for run in runs
    )
    for (variant, iterations, uniqueness, seed), count in sorted(seen.items()):
        if count > 1:
            times = f"{iterations} iterations, " if iterations else ""
            raise DataError(
                f"corpus {name}: expected one run of {variant} with {times}uniqueness "
                f"{uniqueness:g} and seed {seed}, got {count}; delete all but one"
            )


def gains_by_size(corpus: CorpusRuns, more: str, name: str, measure: str) -> dict[str, Difference]:
    """How much higher CapsuleNet scores than the baseline, by number of training sentences.

    more  "" or DECODER, for both
    """
    found = {
        size: cell.difference("capsule+global" + more, "baseline" + more, name, measure)
        for size, cell in corpus.sizes.items()
    }
    return {size: difference for size, difference in found.items() if difference is not None}


def average_gain(corpus: CorpusRuns, more: str, name: str, measure: str) -> Difference | None:
    """The same, on average over the values of all axes but the number of sentences."""
    new, old = (
        [cell.score(variant + more, name, measure) for cell in corpus.full_cells]
        for variant in ("capsule+global", "baseline")
    )
    pairs = [(a, b) for a, b in zip(new, old, strict=True) if a is not None and b is not None]
    if len(pairs) < 2:
        return None
    total = contrast([a for a, _ in pairs], [b for _, b in pairs])
    return Difference(total.mean / len(pairs), total.half and total.half / len(pairs))


def gains(corpora: Iterable[CorpusRuns], measure: str) -> list[tuple[CorpusRuns, Difference]]:
    """How much higher CapsuleNet scores on test than the baseline, where both were run."""
    found = [(c, c.difference("capsule+global", "baseline", "test", measure)) for c in corpora]
    return [(corpus, difference) for corpus, difference in found if difference is not None]


def gains_by_language(corpora: Iterable[CorpusRuns], measure: str) -> dict[str, float]:
    """The mean gain of each language over its corpora.

    A corpus whose plan names no language counts as a language of its own.
    """
    found: dict[str, list[float]] = {}
    for corpus, difference in gains(corpora, measure):
        found.setdefault(corpus.first.language or corpus.name, []).append(difference.mean)
    return {language: Sample(tuple(values)).mean for language, values in found.items()}
