"""Count what PropBank forbids in the propositions of a model, with option `consistent` and without.

    python benchmarks/consistency.py GOLD [MODEL]

For gold predicates and for those that the model finds, without and with the option: F1 and EM, the
F1 and EM of phrases if GOLD has a phrase file beside it, and the number of

    repeats   words beyond the first with a numbered role
    R-, C-    arguments without the one that they refer to or continue; C-V needs none
    outside   arguments with numbered roles that the roleset of their sense does not have
    heads     phrases that contain the head of another argument
    overlaps  phrases that share a word with that of another argument
"""

import sys
from collections import Counter
from collections.abc import Iterable

import capsrl
from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.frames.index import FrameIndex
from capsrl.frames.kinds import CORE_ROLES, PREFIXES
from capsrl.score.scorer import score
from capsrl.sentence import Argument, Proposition, Sentence

COLUMNS = ("repeats", "R-", "C-", "outside", "heads", "overlaps", "phrases")


def count_inconsistent(sentences: Iterable[Sentence], frames: FrameIndex) -> Counter[str]:
    """Count the arguments of some sentences that break a rule."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for proposition in sentence.propositions:
            _count_roles(proposition, frames, counts)
            _count_phrases(proposition, counts)
    return counts


def _count_roles(proposition: Proposition, frames: FrameIndex, counts: Counter[str]) -> None:
    roles = Counter(argument.role for argument in proposition.arguments)
    sense = proposition.sense or ""
    known = {role.name for role in frames.roles_of(sense)}
    for role, n in roles.items():
        is_part = role.startswith(PREFIXES[1:])
        own = role[2:] if is_part else role
        counts["repeats"] += n - 1 if role in (*CORE_ROLES, "AA") else 0
        counts[role[:2]] += n if is_part and own not in (*roles, "V") else 0
        is_outside = own in CORE_ROLES and own not in known and frames.has(sense)
        counts["outside"] += n if is_outside else 0


def _count_phrases(proposition: Proposition, counts: Counter[str]) -> None:
    found = [each for each in proposition.arguments if each.phrase]
    counts["phrases"] += len(found)
    for one in found:
        others = [other for other in found if other is not one]
        counts["heads"] += any(_meet(one, other.word, other.word) for other in others)
        counts["overlaps"] += any(
            other.phrase and _meet(one, other.phrase.first, other.phrase.last) for other in others
        )


def _meet(argument: Argument, first: int, last: int) -> bool:
    phrase = argument.phrase
    return phrase is not None and phrase.first <= last and first <= phrase.last


def main(path: str, model: str = "en") -> None:
    """Print one row for each way of labeling."""
    labeler = capsrl.load(model)
    phrases = phrase_file_of(path)
    gold = list(read_sentences(path, phrases=phrases))
    frames = labeler.inventory.frames
    print(f"{'':22}    F1     EM  phrase F1     EM " + " ".join(f"{c:>8}" for c in COLUMNS))
    _print_counts(f"{'gold':57}", count_inconsistent(gold, frames))
    for predicates in ("marked", "found"):
        for consistent in (False, True):
            found = list(
                labeler.label_sentences(gold, predicates=predicates, consistent=consistent)
            )
            scores = score(gold, found, phrases=phrases is not None)
            name = f"{predicates}, {'consistent' if consistent else 'as it is'}"
            row = f"{name:22} {scores.labeled_f1:5.2f}  {scores.exact_match:5.2f}"
            if scores.phrases is not None:
                row += f"      {scores.phrases.overall.f1:5.2f}  {scores.phrases.exact_match:5.2f}"
            _print_counts(f"{row:57}", count_inconsistent(found, frames))


def _print_counts(start: str, counts: Counter[str]) -> None:
    print(start + " ".join(f"{counts[column]:8}" for column in COLUMNS))


if __name__ == "__main__":
    main(*sys.argv[1:])
