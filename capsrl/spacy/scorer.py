"""Score the propositions of Docs: the figures of `nlp.evaluate`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from capsrl.formats.fields import Plain
from capsrl.score import PRF, score
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.spacy.storage import read_propositions

Scorer = Callable[..., dict[str, Any]]
SCORER_NAME = "capsrl.scorer.v1"  # in the config of pipelines
_SCORED = ("srl", "srl_senses", "srl_roles", "srl_phrases")
KEYS = tuple(f"{part}_{figure}" for part in _SCORED for figure in "prf")
PER_ROLE = "srl_roles_per_type"


def make_scorer() -> Scorer:
    """The scorer of a config: `{"@scorers": "capsrl.scorer.v1"}`."""
    return score_examples


registry.scorers.register(SCORER_NAME, func=make_scorer)


def score_examples(examples: Iterable[Example], **_: object) -> dict[str, Any]:
    """Compare the propositions of predicted Docs with `doc._.propositions` of reference Docs.

    Precision, recall and F1 are shares of 1, as everywhere in spaCy:

    srl_p, srl_r, srl_f      senses and arguments, the figures of the official CoNLL-2009 scorer
    srl_senses_p, _r, _f     predicates with their senses
    srl_roles_p, _r, _f      arguments: head words with their roles
    srl_roles_per_type       the same for each role
    srl_phrases_p, _r, _f    phrases with their roles, as in CoNLL-2005; None without gold phrases

    All are None if no reference Doc has propositions. If some have, those without count too.
    """
    pairs = [_align(example) for example in examples]
    found: dict[str, Any] = dict.fromkeys((*KEYS, PER_ROLE))
    gold = [proposition for sentence, _ in pairs for proposition in sentence.propositions]
    if not gold:
        return found
    scores = score(*zip(*pairs, strict=True), by=["role"], phrases=True)
    found |= _prf_of("srl", scores.counts.labeled)
    found |= _prf_of("srl_senses", scores.counts.senses)
    found |= _prf_of("srl_roles", scores.counts.arguments)
    found[PER_ROLE] = {role: _shares(row) for role, row in scores.breakdowns["role"].items()}
    if any(argument.phrase for proposition in gold for argument in proposition.arguments):
        assert scores.phrases is not None
        found |= _prf_of("srl_phrases", scores.phrases.end_to_end)
    return found


def _align(example: Example) -> tuple[Sentence, Sentence]:
    """The reference and the predicted Doc with the same words, those of the reference.

    A predicted token that is not exactly one token of the reference is put after them, where gold
    has nothing: what was predicted there is wrong.
    """
    reference, predicted = example.reference, example.predicted
    to_reference, to_predicted = example.alignment.x2y, example.alignment.y2x
    words = [token.text for token in reference]
    positions: dict[int, int] = {}
    for token in predicted:
        same = to_reference[token.i]
        if len(same) == 1 and len(to_predicted[int(same[0])]) == 1:
            positions[token.i] = int(same[0])
        else:
            positions[token.i] = len(words)
            words.append(token.text)
    return (
        Sentence(tuple(words), _moved_propositions(reference, range(len(reference)))),
        Sentence(tuple(words), _moved_propositions(predicted, positions)),
    )


def _moved_propositions(
    doc: Doc, positions: Mapping[int, int] | Sequence[int]
) -> tuple[Proposition, ...]:
    return tuple(
        Proposition(
            positions[each["predicate"]],
            each["sense"],
            tuple(_moved_argument(argument, positions) for argument in each["arguments"]),
        )
        for each in {each["predicate"]: each for each in read_propositions(doc)}.values()
    )


def _moved_argument(argument: Plain, positions: Mapping[int, int] | Sequence[int]) -> Argument:
    phrase = argument.get("phrase")
    return Argument(
        argument["role"],
        positions[argument["word"]],
        phrase=phrase and Phrase(positions[phrase["first"]], positions[phrase["last"]]),
    )


def _prf_of(name: str, prf: PRF) -> dict[str, float]:
    return {f"{name}_{figure}": value for figure, value in _shares(prf).items()}


def _shares(prf: PRF) -> dict[str, float]:
    return {"p": prf.precision / 100, "r": prf.recall / 100, "f": prf.f1 / 100}
