"""Runs in, the runs of each corpus out: which belong together, and what was measured on them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from capsrl.config import ROUTED
from capsrl.errors import DataError
from capsrl.recipe import defining_settings
from capsrl.score import Counts, Row
from reproduce.results import VARIANTS, RunResult
from reproduce.statistics import Sample, sample

SETS = {"dev": "dev", "test": "test", "ood": "out of domain"}
ON = {"dev": "on dev", "test": "on test", "ood": "out of domain"}
MEASURES: Mapping[str, Callable[[Counts], float]] = {
    "P": lambda counts: counts.labeled.precision,
    "R": lambda counts: counts.labeled.recall,
    "F1": lambda counts: counts.labeled.f1,
    "EM": lambda counts: counts.exact_match,
}
# What may differ between runs that are compared; the report tells such runs apart.
COMPARED = (
    "model.capsules.variant",
    "model.capsules.iterations",
    "loss.uniqueness",
    "train.seed",
)
FULL = 3  # variants a corpus must have for the tables and figures of the ablation


@dataclass(frozen=True)
class CorpusRuns:
    """All runs of one corpus, by variant, setting and seed.

    iterations, uniqueness  its main setting, which most of its runs have: what is compared unless
                            a table is about the settings themselves
    """

    name: str
    runs: tuple[RunResult, ...]
    iterations: int
    uniqueness: float

    @property
    def first(self) -> RunResult:
        """A run to ask for what all runs share: language, annotation, encoder."""
        return self.runs[0]

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that were run at the main setting."""
        return tuple(variant for variant in VARIANTS if self.of(variant))

    @property
    def is_full(self) -> bool:
        """Whether there are enough variants to compare more than two of them."""
        return len(self.variants) >= FULL

    @property
    def sets(self) -> tuple[str, ...]:
        """The files that some run was measured on."""
        return tuple(name for name in SETS if any(name in run.measured.sets for run in self.runs))

    def of(self, variant: str) -> tuple[RunResult, ...]:
        """The runs of a variant at the main setting, by seed."""
        return tuple(
            run
            for run in self.runs
            if run.variant == variant
            and run.uniqueness == self.uniqueness
            and (variant not in ROUTED or run.iterations == self.iterations)
        )

    def at(self, variant: str, uniqueness: float, iterations: int) -> tuple[RunResult, ...]:
        """The runs of a variant at any one setting, by seed."""
        wanted = (variant, uniqueness, iterations)
        return tuple(
            run for run in self.runs if (run.variant, run.uniqueness, run.iterations) == wanted
        )

    @property
    def settings(self) -> list[tuple[float, int]]:
        """(uniqueness, iterations) of the runs without the global node, as the paper's table 1."""
        found = {(run.uniqueness, run.iterations) for run in self.runs if run.variant == "capsule"}
        return sorted(found, key=lambda setting: (-setting[0], setting[1]))

    def score(self, variant: str, name: str, measure: str) -> Sample | None:
        """A figure of a variant on a set, over seeds."""
        return scores(self.of(variant), name, measure)

    def sweep(self, variant: str) -> dict[int, list[Counts]]:
        """Iterations at prediction time -> what each seed then scored on dev."""
        runs = [run.measured.sweep for run in self.of(variant) if run.measured.sweep]
        shared = set.intersection(*(set(sweep) for sweep in runs)) if runs else set[int]()
        return {n: [sweep[n] for sweep in runs] for n in sorted(shared)}


def scores(runs: Iterable[RunResult], name: str, measure: str) -> Sample | None:
    """A figure of some runs on a set; None where no run was measured on it."""
    found = [run.measured.sets[name] for run in runs if name in run.measured.sets]
    return sample(map(MEASURES[measure], found))


def row_scores(corpus: CorpusRuns, variant: str, table: str, group: str) -> Sample | None:
    """F1 of a variant on one row of a breakdown of test: `lengths` or `arguments`."""
    tables: list[Mapping[str, Row]] = [getattr(run.measured, table) for run in corpus.of(variant)]
    return sample(rows[group].f1 for rows in tables if group in rows)


def repeated(runs: Iterable[RunResult]) -> Sample | None:
    """Propositions of dev in which some runs fill a role more than once."""
    found = [run.measured.sets["dev"] for run in runs if "dev" in run.measured.sets]
    return sample(float(counts.pred_repeated) for counts in found)


def gold_repeated(corpus: CorpusRuns) -> int | None:
    """Gold propositions of dev that fill a role more than once; all runs have the same file."""
    found = [run.measured.sets["dev"] for run in corpus.runs if "dev" in run.measured.sets]
    return found[0].gold_repeated if found else None


def group_runs(runs: Iterable[RunResult]) -> list[CorpusRuns]:
    """The corpora of some runs, by language and name; the order of the runs does not matter.

    Raises DataError where runs of one corpus cannot be compared, or one is there twice.
    """
    by_name: dict[str, list[RunResult]] = {}
    for run in runs:
        by_name.setdefault(run.corpus, []).append(run)
    corpora = [_group(name, found) for name, found in by_name.items()]
    return sorted(corpora, key=lambda corpus: (corpus.first.language, corpus.name))


def _group(name: str, runs: list[RunResult]) -> CorpusRuns:
    _check(name, runs)
    runs = sorted(
        runs,
        key=lambda run: (VARIANTS.index(run.variant), run.uniqueness, run.iterations, run.seed),
    )
    # Iterations mean nothing to the variants that do not iterate.
    routed = [run for run in runs if run.variant in ROUTED] or runs
    settings = Counter((run.uniqueness, run.iterations) for run in routed)
    uniqueness, iterations = min(settings, key=lambda setting: (-settings[setting], setting))
    return CorpusRuns(name, tuple(runs), iterations, uniqueness)


def _check(name: str, runs: list[RunResult]) -> None:
    unknown = sorted({run.variant for run in runs} - set(VARIANTS))
    if unknown:
        raise DataError(
            f"corpus {name}: expected variants of {', '.join(VARIANTS)}, got {', '.join(unknown)}"
        )
    kinds = sorted({(run.language, run.annotation, run.encoder, run.paper) for run in runs})
    if len(kinds) > 1:
        got = " and ".join(" / ".join(kind) for kind in kinds[:2])
        raise DataError(
            f"corpus {name}: expected the same language, annotation and encoder in every run, "
            f"got {got}; give other settings another name in the plan"
        )
    _check_settings(name, runs)
    _check_once(name, runs)


def _check_settings(name: str, runs: list[RunResult]) -> None:
    """Old results beside new ones would be taken for more seeds of the same."""
    known: dict[str, object] = {}
    for run in runs:
        settings = defining_settings({**run.recipe, "model.capsules.variant": run.variant})
        for key, value in settings.items():
            # What means nothing to a run is not among its settings.
            if key in COMPARED or known.setdefault(key, value) == value:
                continue
            raise DataError(
                f"corpus {name}: expected the same settings and files in every run, got {key} "
                f"{known[key]!r} and {value!r}; move the runs of one of them to another folder"
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
                f"{uniqueness:g} and seed {seed}, got {count}; keep one of the files"
            )
