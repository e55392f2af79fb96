"""Triples of subject, predicate and object, as graphs and narrative analysis need them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence

SUBJECTS = ("A0", "A1")
OBJECTS = ("A1", "A2", "A3", "A4")


@dataclass(frozen=True, slots=True)
class Triple:
    """Who did what to whom.

    subject       the argument without its preposition, as are the object and what continues them
    predicate     the lemma: give_up, give_speech
    object        as the subject
    negated       whether the sentence denies it
    sense         the roleset, for a light verb that of its noun
    probability   that the sense and all arguments are right; None if nothing predicted it
    subject_span, predicate_span, object_span
                  start and end in the text that was labeled; None of sentences without text
    """

    subject: str
    predicate: str
    object: str
    negated: bool
    sense: str | None
    probability: float | None
    subject_span: tuple[int, int] | None
    predicate_span: tuple[int, int] | None
    object_span: tuple[int, int] | None


def triples(
    sentences: Sentence | Iterable[Any],
    *,
    subjects: Sequence[str] = SUBJECTS,
    objects: Sequence[str] = OBJECTS,
    threshold: float = 0.0,
) -> Iterator[Triple]:
    """Yield the triples of sentences; propositions without a subject or an object have none.

    sentences  one, or several: what `labeler.label` returned for a text, or for several texts
    subjects   roles of the subject; the first that is filled counts
    objects    roles of the object; the first that is filled and is not the subject counts
    threshold  leave out propositions whose joint probability is below this
    """
    if isinstance(sentences, str):
        raise DataError(f"triples: expected labeled sentences, got {sentences!r:.60}")
    if not isinstance(sentences, Sentence):
        for some in sentences:
            yield from triples(some, subjects=subjects, objects=objects, threshold=threshold)
        return
    shift = sentences.start or 0
    for each in sentences.facts:
        subject = _first(each, subjects)
        object = _first(each, [role for role in objects if subject and role != subject.role])
        probability = each.probability_with_noun("joint_probability")
        is_sure = probability is None or probability >= threshold
        if subject is not None and object is not None and is_sure:
            ends = ((part.start, part.end) for part in (subject.core, each, object.core))
            spans = (None if a is None or b is None else (a + shift, b + shift) for a, b in ends)
            sense = (each.noun or each).sense
            words = (subject.text, each.lemma, object.text)
            yield Triple(*words, each.negated, sense, probability, *spans)


def _first(proposition: Proposition, roles: Iterable[str]) -> Argument | None:
    return next((found for role in roles if (found := proposition.get(role))), None)
