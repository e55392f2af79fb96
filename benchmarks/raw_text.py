"""How well an English model does end to end: gold tokens, then nothing but the text.

    python benchmarks/raw_text.py GOLD.conll09 TREEBANK.conllu [MODEL]

GOLD has the propositions, TREEBANK (the UD file of the same sentences) their untokenized text.
Rows: predicates given; found in gold tokens; the same without tags and lemmas; and raw text, where
sentences, words and predicates are all found. In the last row, a predicted word that is not a gold
word has a position of its own where nothing is right: mismatched tokens count as errors.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

import capsrl
from capsrl import Argument, Proposition, Sentence
from capsrl.formats.formats import read_sentences
from capsrl.score import Scores, score

Span = tuple[int, int]


def with_text(gold: Iterable[Sentence], treebank: Iterable[Sentence]) -> Iterator[Sentence]:
    """The gold sentences that the treebank has, with its text and offsets."""
    by_words: dict[tuple[str, ...], list[Sentence]] = defaultdict(list)
    for sentence in treebank:
        by_words[tuple(word.replace(" ", "_") for word in sentence.words)].append(sentence)
    for sentence in gold:
        for found in by_words.get(sentence.words, [])[:1]:
            if found.offsets is not None:
                yield Sentence(
                    sentence.words, sentence.propositions, text=found.text, offsets=found.offsets
                )


def on_gold_words(gold: Sentence, predicted: Iterable[Sentence]) -> tuple[Sentence, Sentence]:
    """Both sides over the gold words, then the predicted words that are none of them."""
    assert gold.offsets is not None
    places: dict[Span, int] = {span: i for i, span in enumerate(gold.offsets)}
    propositions: list[Proposition] = []
    for sentence in predicted:
        assert sentence.offsets is not None and sentence.start is not None
        spans = [(sentence.start + start, sentence.start + end) for start, end in sentence.offsets]
        at = [places.setdefault(span, len(places)) for span in spans]
        for found in sentence.propositions:
            arguments = tuple(Argument(a.role, at[a.word]) for a in found.arguments)
            propositions.append(Proposition(at[found.predicate], found.sense, arguments))
    words = (*gold.words, *["<extra>"] * (len(places) - len(gold.words)))
    ordered = sorted(propositions, key=lambda proposition: proposition.predicate)
    return Sentence(words, gold.propositions), Sentence(words, tuple(ordered))


def show(name: str, scores: Scores) -> None:
    """One row of the table."""
    counts = scores.counts
    print(
        f"{name:34} {counts.predicates.f1:10.2f} {counts.labeled.precision:10.2f} "
        f"{counts.labeled.recall:8.2f} {counts.labeled.f1:8.2f} {counts.exact_match:8.2f}"
    )


def main() -> None:
    """Print the table."""
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    everything = list(read_sentences(sys.argv[1]))
    gold = list(with_text(everything, read_sentences(sys.argv[2])))
    labeler = capsrl.load(*sys.argv[3:])
    print(f"{len(everything)} gold sentences, {len(gold)} of them with their text")
    print(f"{'':34} predicates  precision   recall       F1       EM")
    marked = labeler.label_sentences(everything, predicates="marked")
    show("predicates given, all", score(everything, marked))
    found = labeler.label_sentences(everything, predicates="found")
    show("predicates found, all", score(everything, found))
    bare = [Sentence(sentence.words) for sentence in gold]
    show("words alone", score(gold, labeler.label_sentences(bare, predicates="found")))
    texts = [sentence.text or "" for sentence in gold]
    labeled = labeler.label_many(texts)
    pairs = [on_gold_words(one, many) for one, many in zip(gold, labeled, strict=True)]
    show("raw text", score([one for one, _ in pairs], [other for _, other in pairs]))


if __name__ == "__main__":
    main()
