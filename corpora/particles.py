"""Move particles behind the object: *took off his coat* becomes *took his coat off*.

In the corpora a particle stands apart from its verb in one of five sentences, too few to learn for
rare verbs that a word behind the object belongs to the sense (take_off.07). Sentences in which the
particle precedes a short object mean the same with the two exchanged, and their annotation is
known. They have only the predicate with the particle, so a recipe names the file in `data.partial`.
"""

from collections.abc import Iterable, Iterator

from capsrl.frames.index import unnumbered
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.phrases import find_phrase

_LONGEST = 4  # words of an object; particles behind longer ones are rare
_OF_NOUNS = ("N", "J", "CD", "DT", "PRP$", "POS", "WP$")  # beginnings of tags in a simple object


def move_particles(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield a sentence for each predicate with a particle that can stand behind the object."""
    for sentence in sentences:
        for proposition in sentence.propositions:
            if last := _last_of_object(sentence, proposition):
                yield _exchange(sentence, proposition, last)


def _last_of_object(sentence: Sentence, proposition: Proposition) -> int | None:
    """The last word of a short object directly behind the particle; None if there is none."""
    tags, particle = sentence.tags or (), proposition.predicate + 1
    _, _, name = unnumbered(proposition.sense or "").partition("_")
    if sentence.words[particle : particle + 1] != (name,) or tags[particle] != "RP":
        return None
    for argument in proposition.arguments:
        phrase = find_phrase(sentence, proposition.predicate, argument.role, argument.word)
        if argument.role == "A1" and phrase and phrase[0] == particle + 1:
            object_tags = tags[particle + 1 : phrase[1] + 1]
            if len(object_tags) <= _LONGEST and all(t.startswith(_OF_NOUNS) for t in object_tags):
                return phrase[1]
    return None


def _exchange(sentence: Sentence, proposition: Proposition, last: int) -> Sentence:
    """The sentence with the particle behind word `last`, and this proposition alone."""
    particle = proposition.predicate + 1
    order = [*range(particle), *range(particle + 1, last + 1), particle]
    order += range(last + 1, len(sentence.words))
    arguments = [Argument(each.role, order.index(each.word)) for each in proposition.arguments]
    arguments = sorted([*arguments, Argument("C-V", last)], key=lambda each: each.word)
    return Sentence(
        tuple(sentence.words[old] for old in order),
        (Proposition(proposition.predicate, proposition.sense, tuple(arguments)),),
        lemmas=sentence.lemmas and tuple(sentence.lemmas[old] for old in order),
        tags=sentence.tags and tuple(sentence.tags[old] for old in order),
    )
