"""F1 of numbered roles by how often the training corpus has the sense.

    python benchmarks/rare_senses.py TRAIN.conll09 GOLD.conll09 [MODEL]

Predicates are given; the sense that counts is the gold one, whichever the model chooses. An
argument is right if gold has the same role at the same word.
"""

import re
import sys
from collections import Counter

import capsrl
from capsrl.formats.formats import read_sentences
from capsrl.sentence import Proposition

RANGES = ((0, 0), (1, 4), (5, 49), (0, 49), (50, sys.maxsize))


def numbered(proposition: Proposition) -> set[tuple[str, int]]:
    """The arguments with numbered roles."""
    return {(a.role, a.word) for a in proposition.arguments if re.fullmatch(r"A\d", a.role)}


def main(train: str, path: str, model: str = "en") -> None:
    """Print one row for each range of frequencies."""
    seen = Counter(p.sense for sentence in read_sentences(train) for p in sentence.propositions)
    gold = list(read_sentences(path))
    found = list(capsrl.load(model).label_sentences(gold, predicates="marked"))
    print(f"{'times in training':20} {'predicates':>10} {'gold':>6} {'F1':>6}")
    for least, most in RANGES:
        pairs = [
            (numbered(p), numbered(q))
            for sentence, labeled in zip(gold, found, strict=True)
            for p, q in zip(sentence.propositions, labeled.propositions, strict=True)
            if least <= seen[p.sense] <= most
        ]
        right = sum(len(p & q) for p, q in pairs)
        n_gold, n_found = (sum(len(each) for each in side) for side in zip(*pairs, strict=True))
        name = f"{least} to {most}" if most < sys.maxsize else f"{least} or more"
        print(f"{name:20} {len(pairs):10} {n_gold:6} {200 * right / (n_gold + n_found):6.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
