"""How well an English model finds senses that it saw in training and others, and lemmas.

    python benchmarks/senses.py TRAIN.conll09 GOLD.conll09 [MODEL]

Senses: those of the gold predicates, with gold lemmas and tags, then from the words alone. They are
seen in TRAIN, or other senses of a lemma that TRAIN has, or of another lemma. A sense is right if
it is the gold sense, not only its number. Then the predicates are found from the words alone, and
senses that neither the frames of the model nor TRAIN have are counted. Lemmas: those of the gold
predicates, by form and gold tag.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

import capsrl
from capsrl import Labeler, Proposition, Sentence
from capsrl.formats.formats import read_sentences
from capsrl.score import score

KINDS = ("seen", "other sense", "other lemma")


class Training:
    """The senses and the lemmas of the predicates of a training file."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.senses: set[str | None] = set()
        self.lemmas: set[str] = set()
        for sentence in sentences:
            self.senses |= {proposition.sense for proposition in sentence.propositions}
            self.lemmas |= {lemma_of(sentence, position) for position in sentence.predicates}

    def kind(self, sentence: Sentence, proposition: Proposition) -> str:
        """Which of KINDS a gold sense is."""
        if proposition.sense in self.senses:
            return "seen"
        known = lemma_of(sentence, proposition.predicate) in self.lemmas
        return "other sense" if known else "other lemma"


def lemma_of(sentence: Sentence, position: int) -> str:
    """The lemma of a word in lower case."""
    return (sentence.lemmas or sentence.words)[position].lower()


def words_alone(sentence: Sentence) -> Sentence:
    """The words of a sentence and the positions of its predicates."""
    marks = tuple(Proposition(position) for position in sentence.predicates)
    return Sentence(sentence.words, marks)


def show_senses(
    name: str, training: Training, gold: Sequence[Sentence], found: Sequence[Sentence]
) -> None:
    """Print the accuracy of senses by kind, and the official F1."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for sentence, answer in zip(gold, found, strict=True):
        for one, other in zip(sentence.propositions, answer.propositions, strict=True):
            kind = training.kind(sentence, one)
            total[kind] += 1
            right[kind] += one.sense == other.sense
    rows = (
        f"{kind} {right[kind]}/{total[kind]} = {100 * right[kind] / max(total[kind], 1):.1f} %"
        for kind in KINDS
    )
    all_kinds = 100 * right.total() / total.total()
    print(
        f"{name}: {', '.join(rows)}, all {all_kinds:.2f} %, F1 {score(gold, found).labeled_f1:.2f}"
    )


def show_outside(training: Training, gold: Sequence[Sentence], labeler: Labeler) -> None:
    """Print how many senses of found predicates nobody has."""
    bare = (Sentence(sentence.words) for sentence in gold)
    found = list(labeler.label_sentences(bare, predicates="found"))
    propositions = [each for sentence in found for each in sentence.propositions]
    outside = [
        each
        for each in propositions
        if each.sense not in training.senses and not labeler.inventory.frames.has(each.sense or "")
    ]
    print(
        f"predicates found: {len(propositions)}, F1 {score(gold, found).labeled_f1:.2f}; "
        f"senses outside frames and corpus: {len(outside)}, of which "
        f"{sum(each.guessed for each in outside)} are marked as guesses; "
        f"guesses: {sum(each.guessed for each in propositions)}"
    )


def show_lemmas(gold: Iterable[Sentence], labeler: Labeler) -> None:
    """Print the accuracy of lemmas."""
    lemmatizer = labeler.inventory.lemmatizer
    assert lemmatizer is not None, "expected an English model"
    right = [
        lemmatizer.find(sentence.words[i], sentence.tags[i] if sentence.tags else None)
        == lemma_of(sentence, i)
        for sentence in gold
        for i in sentence.predicates
    ]
    print(f"lemmas of gold predicates by gold tag: {100 * sum(right) / len(right):.2f} %")


def main() -> None:
    """Print all figures."""
    train, test, *model = sys.argv[1:]
    training, gold = Training(read_sentences(train)), list(read_sentences(test))
    labeler = capsrl.load(*model)
    given = list(labeler.label_sentences(gold, predicates="marked"))
    show_senses("gold lemmas and tags", training, gold, given)
    bare = list(labeler.label_sentences(map(words_alone, gold), predicates="marked"))
    show_senses("words alone", training, gold, bare)
    show_outside(training, gold, labeler)
    show_lemmas(gold, labeler)


if __name__ == "__main__":
    main()
