"""Corpus statistics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from capsrl.sentence import Sentence

LENGTH_STEP = 10  # bins of sentence lengths: 0-9, 10-19, ... as in the paper


@dataclass(slots=True)
class CorpusStats:
    """Counts over the sentences of a corpus.

    roles        arguments with each role
    senses       predicates with each sense; predicates without a sense are not counted
    lemmas       predicates with each lemma; empty if the file has no lemmas
    lengths      bin (0 for 0-9 words, 1 for 10-19, ...) -> number of sentences
    predicates_per_sentence  number of predicates -> number of sentences
    n_duplicate  propositions in which a role occurs more than once
    n_multiple   words with more than one role in a proposition
    """

    n_sentences: int = 0
    n_tokens: int = 0
    n_predicates: int = 0
    n_arguments: int = 0
    n_duplicate: int = 0
    n_multiple: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    senses: Counter[str] = field(default_factory=Counter)
    lemmas: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    predicates_per_sentence: Counter[int] = field(default_factory=Counter)

    @property
    def duplicate_share(self) -> float:
        """Percentage of propositions in which a role occurs more than once."""
        return 100 * self.n_duplicate / self.n_predicates if self.n_predicates else 0.0

    def add(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.n_sentences += 1
        self.n_tokens += len(sentence)
        self.n_predicates += len(sentence.propositions)
        self.lengths[len(sentence) // LENGTH_STEP] += 1
        self.predicates_per_sentence[len(sentence.propositions)] += 1
        for proposition in sentence.propositions:
            roles = [argument.role for argument in proposition.arguments]
            words = [argument.word for argument in proposition.arguments]
            self.n_arguments += len(roles)
            self.roles.update(roles)
            self.n_duplicate += len(set(roles)) < len(roles)
            self.n_multiple += sum(count > 1 for count in Counter(words).values())
            if proposition.sense is not None:
                self.senses[proposition.sense] += 1
            if sentence.lemmas is not None:
                self.lemmas[sentence.lemmas[proposition.predicate]] += 1

    def to_dict(self) -> dict[str, object]:
        """Return the counts as JSON values; roles, senses and lemmas by decreasing frequency."""
        return {
            "sentences": self.n_sentences,
            "tokens": self.n_tokens,
            "predicates": self.n_predicates,
            "arguments": self.n_arguments,
            "duplicate_role_propositions": self.n_duplicate,
            "duplicate_role_percent": self.duplicate_share,
            "multiple_role_words": self.n_multiple,
            "lengths": {length_bin(n): count for n, count in sorted(self.lengths.items())},
            "predicates_per_sentence": {
                str(n): count for n, count in sorted(self.predicates_per_sentence.items())
            },
            "roles": dict(ranked(self.roles)),
            "senses": dict(ranked(self.senses)),
            "lemmas": dict(ranked(self.lemmas)),
        }


def count_sentences(sentences: Iterable[Sentence]) -> CorpusStats:
    """Count the sentences of a corpus, holding one at a time."""
    stats = CorpusStats()
    for sentence in sentences:
        stats.add(sentence)
    return stats


def length_bin(number: int) -> str:
    """Return the name of a bin of sentence lengths: 0-9, 10-19, ..."""
    return f"{LENGTH_STEP * number}-{LENGTH_STEP * number + LENGTH_STEP - 1}"


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return names and counts by decreasing frequency, ties by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
