"""benchmarks/raw_text.py: predicted words by their place in the text."""

from benchmarks.raw_text import on_gold_words
from capsrl import Argument, Proposition, Sentence
from capsrl.score import score

TEXT = "Mira sold it. Omar paid."
WORDS = ("Mira", "sold", "it", ".", "Omar", "paid", ".")
OFFSETS = ((0, 4), (5, 9), (10, 12), (12, 13), (14, 18), (19, 23), (23, 24))
SOLD = Proposition(1, "sell.01", (Argument("A0", 0), Argument("A1", 2)))
PAID = Proposition(5, "pay.01", (Argument("A0", 4),))
GOLD = Sentence(WORDS, (SOLD, PAID), text=TEXT, offsets=OFFSETS)


def test_offsets_of_later_sentences_count_from_their_start():
    first = Sentence(WORDS[:4], (SOLD,), text=TEXT[:13], offsets=OFFSETS[:4], start=0)
    offsets = tuple((start - 14, end - 14) for start, end in OFFSETS[4:])
    paid = Proposition(1, "pay.01", (Argument("A0", 0),))
    second = Sentence(WORDS[4:], (paid,), text=TEXT[14:], offsets=offsets, start=14)
    gold, predicted = on_gold_words(GOLD, [first, second])
    assert score([gold], [predicted]).counts.labeled.f1 == 100


def test_a_word_that_gold_does_not_have_is_wrong():
    words = Sentence(("Mira", "soldit"), text=TEXT, offsets=((0, 4), (5, 12)), start=0)
    sold = Proposition(1, "sell.01", (Argument("A0", 0),))
    gold, predicted = on_gold_words(GOLD, [words.with_propositions([sold])])
    assert len(gold.words) == len(WORDS) + 1
    assert [each.predicate for each in predicted.propositions] == [len(WORDS)]
