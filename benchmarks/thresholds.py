"""Count what a threshold on the joint probability keeps, and how much of it is right.

    python benchmarks/thresholds.py GOLD... [--model MODEL]

The model labels the words of each file and finds the predicates itself. A proposition is wholly
right if gold has its predicate with the same sense and exactly the same arguments: roles and head
words, and, if GOLD has a phrase file beside it, also phrases.
"""

import argparse
from collections.abc import Iterator

import capsrl
from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.sentence import Proposition, Sentence

THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)


def content(proposition: Proposition, *, phrases: bool) -> tuple[object, ...]:
    """What must be equal in two propositions that are the same."""
    arguments = {
        (each.role, each.word, (each.phrase.first, each.phrase.last))
        if phrases and each.phrase
        else (each.role, each.word)
        for each in proposition.arguments
    }
    return proposition.predicate, proposition.sense, frozenset(arguments)


def judge(
    gold: list[Sentence], found: list[Sentence], *, phrases: bool
) -> Iterator[tuple[float, bool]]:
    """The joint probability of each proposition that was found, and whether it is right."""
    for known, labeled in zip(gold, found, strict=True):
        right = {content(each, phrases=phrases) for each in known.propositions}
        for each in labeled.propositions:
            yield each.joint_probability or 0.0, content(each, phrases=phrases) in right


def main() -> None:
    """Print a row for each file and threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", nargs="+")
    parser.add_argument("--model", default="en")
    given = parser.parse_args()
    labeler = capsrl.load(given.model)
    print("file                 threshold   kept          right   with phrases")
    for path in given.gold:
        spans = phrase_file_of(path)
        gold = list(read_sentences(path, phrases=spans))
        found = list(labeler.label_sentences(gold, predicates="found"))
        heads = list(judge(gold, found, phrases=False))
        phrases = list(judge(gold, found, phrases=True)) if spans else []
        for threshold in THRESHOLDS:
            kept = [right for probability, right in heads if probability >= threshold]
            whole = [right for probability, right in phrases if probability >= threshold]
            shares = [f"{sum(each) / max(len(each), 1):7.1%}" for each in (kept, whole) if each]
            print(
                f"{path[-20:]:20} {threshold:9} {len(kept):6} {len(kept) / len(heads):6.1%} "
                + "        ".join(shares)
            )


if __name__ == "__main__":
    main()
