"""The verdict on top of the report: five lines, computed from the runs."""

from collections.abc import Sequence

from reproduce import published
from reproduce.corpora import DECODER, SETS, CorpusRuns, gains_by_language, gains_by_size
from reproduce.formatting import gain, signed
from reproduce.stats import Difference, sample, student

MODEL, BASELINE = "capsule+global", "baseline"
PARTS = {"word capsules": ("word", BASELINE), "role capsules": ("capsule", "word")}
PARTS["the global node"] = MODEL, "capsule"
MISSING = "not measured"


def verdict(corpora: Sequence[CorpusRuns], full: Sequence[CorpusRuns]) -> list[str]:
    """Five lines of Markdown.

    corpora  all of them, for the languages
    full     those with at least three variants, for the rest
    """
    languages = {m: sample(gains_by_language(corpora, m).values()) for m in ("F1", "EM")}
    missing = [
        published.LANGUAGE_NAMES[code]
        for code in published.LANGUAGES
        if code not in {corpus.first.paper for corpus in corpora}
    ]
    of_languages = [
        f"{m} higher in {sum(value > 0 for value in found.values)} of {found.n}, on average "
        f"{gain(student(found))}"
        for m, found in languages.items()
        if found is not None and found.n > 1
    ]
    more = f" Missing of the paper's languages: {', '.join(missing)}." if missing else ""
    return [
        f"**Refinement against the baseline** (paper +0.57 F1, +1.63 EM on test), test, where "
        f"at least three variants were run: "
        f"{_compare(full, MODEL, BASELINE)}.",
        f"**Refinement against the baseline with a decoder** that allows each core role once and "
        f"R-X only with X, test: {_compare(full, MODEL, BASELINE + DECODER)}. With the decoder on "
        f"both: {_compare(full, MODEL + DECODER, BASELINE + DECODER)}.",
        f"**What each part adds to EM**: {_parts(full)}.",
        f"**Gain in EM by number of training sentences**, test: {_sizes(full)}.",
        f"**Languages**: {'; '.join(of_languages) or MISSING}.{more}",
    ]


def _compare(corpora: Sequence[CorpusRuns], new: str, old: str) -> str:
    found = []
    for corpus in corpora:
        differences = {m: corpus.difference(new, old, "test", m) for m in ("F1", "EM")}
        if all(differences.values()):
            shown = ", ".join(f"{m} {_judged(d)}" for m, d in differences.items())
            found.append(f"{corpus.name} {shown}")
    return "; ".join(found) or MISSING


def _parts(corpora: Sequence[CorpusRuns]) -> str:
    found = []
    for corpus in corpora:
        for name in ("test", "ood"):
            parts = {part: corpus.difference(*pair, name, "EM") for part, pair in PARTS.items()}
            shown = [f"{part} {_judged(d)}" for part, d in parts.items() if d is not None]
            found += [f"{corpus.name}, {SETS[name]}, {', '.join(shown)}"] if shown else []
    return "; ".join(found) or MISSING


def _sizes(corpora: Sequence[CorpusRuns]) -> str:
    found = []
    for corpus in corpora:
        for more in ("", DECODER):
            differences = gains_by_size(corpus, more, "test", "EM")
            shown = [f"{size} {_judged(each)}" for size, each in differences.items()]
            names = f"`{MODEL}{more}` over `{BASELINE}{more}`"
            found += [f"{corpus.name} {names} {', '.join(shown)}"] if len(shown) > 1 else []
    return "; ".join(found) or MISSING


def _judged(difference: Difference | None) -> str:
    """A difference with its interval; in bold if the interval does not contain 0."""
    if difference is None:
        return MISSING
    if difference.half is None:
        return f"{signed(difference.mean)} (one seed)"
    is_sure = difference.low > 0 or difference.high < 0
    return f"**{gain(difference)}**" if is_sure else gain(difference)
