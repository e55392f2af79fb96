"""Hand-written sentences with probabilities and traces, for the tests of capsrl.show."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from capsrl.sentence import Argument, Proposition, Sentence, Trace

ROLES = ("_", "A0", "A1", "AM-TMP")


def contract(*, traced: bool = False) -> Sentence:
    """Two propositions; two words are A1 of the first at the start, one of them in the result."""
    words = ("Hiti", "signed", "the", "contract", "yesterday", "and", "left", ".")
    text = "Hiti signed the contract yesterday and left."
    offsets = ((0, 4), (5, 11), (12, 15), (16, 24), (25, 34), (35, 38), (39, 43), (43, 44))
    signed = Proposition(
        1,
        "sign.01",
        (Argument("A0", 0, 0.99), Argument("A1", 3, 0.97), Argument("AM-TMP", 4, 0.95)),
        probability=0.98,
        trace=signing() if traced else None,
    )
    left = Proposition(6, "leave.01", (Argument("A0", 0, 0.81),), probability=0.6)
    return Sentence(words, text=text, offsets=offsets).with_propositions([signed, left])


def signing() -> Trace:
    """Two iterations over the words of `contract`."""
    beliefs = np.zeros((3, 8, 4), dtype=np.float32)
    beliefs[:, :, 0] = 1.0
    beliefs[:, 0] = [[0.25, 0.5, 0.25, 0.0], [0.0, 0.75, 0.25, 0.0], [0.01, 0.99, 0.0, 0.0]]
    beliefs[:, 3] = [[0.5, 0.25, 0.25, 0.0], [0.25, 0.125, 0.625, 0.0], [0.02, 0.01, 0.97, 0.0]]
    beliefs[:, 4] = [[0.0, 0.0, 0.75, 0.25], [0.0, 0.0, 0.25, 0.75], [0.05, 0.0, 0.0, 0.95]]
    beliefs[:, 6] = [[0.25, 0.0, 0.75, 0.0], [0.5, 0.0, 0.5, 0.0], [0.9, 0.0, 0.1, 0.0]]
    return Trace(roles=ROLES, beliefs=beliefs)


def with_meanings(sentence: Sentence, meanings: Mapping[str, Mapping[str, str]]) -> Sentence:
    """The sentence with meanings of its roles: sense -> role -> meaning."""
    return replace(
        sentence,
        propositions=tuple(
            replace(
                proposition,
                arguments=tuple(
                    replace(each, meaning=meanings.get(proposition.sense or "", {}).get(each.role))
                    for each in proposition.arguments
                ),
            )
            for proposition in sentence.propositions
        ),
    )


def long_sentence(n_words: int = 60) -> Sentence:
    """Every fifth word a predicate with arguments near, far, across lines, and itself."""
    words = tuple(("word", "i", "WWW", "argumentation", ",")[n % 5] for n in range(n_words))
    propositions = [
        Proposition(
            n,
            f"sense{n}.01",
            tuple(
                Argument(role, target, 0.5)
                for role, target in (
                    ("A0", n - 1),
                    ("AM-TMP", n + 1),
                    ("A1", n + 4),
                    ("C-A1", (n * 7) % n_words),
                    ("A2", n),
                )
                if 0 <= target < n_words
            ),
        )
        for n in range(0, n_words, 5)
    ]
    return Sentence(words).with_propositions(propositions)
