"""Decode the scores of the network to propositions with probabilities.

Everything is decoded in columns first, for all predicates together: making an object for each of
them is most of the time of this part, so it is done once, after probabilities are calibrated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import ModelError
from capsrl.frames.index import NO_FRAMES, FrameIndex
from capsrl.options import Options
from capsrl.predict import Floats, Ids
from capsrl.predict.backend import PropositionScores
from capsrl.predict.calibration import Confidences
from capsrl.predict.candidates import UNTRAINED_ODDS, Candidates, choose_sense, score_senses
from capsrl.predict.consistency import Consistency, separate_phrases
from capsrl.predict.inventory import NO_ROLE_ID, Inventory
from capsrl.sentence import Argument, Proposition, Sentence, Trace, phrase_at
from capsrl.text.phrases import find_phrase

_DEFAULTS = Options()
_NUMBERED = frozenset(f"A{number}" for number in range(6))
_MOST_SENSES = 4  # of a trace


@dataclass(frozen=True)
class Decoded:
    """The senses of P predicates and their A arguments, in columns.

    positions    P  of the predicates
    senses       P
    guessed      P
    traces       P  if asked for
    words        A  head words
    roles        A
    phrases      A  first and last words; None without a phrase scorer
    confidences  probabilities, and the predicate of each argument
    """

    positions: Sequence[int]
    senses: Sequence[str]
    guessed: Sequence[bool]
    traces: Sequence[Trace | None]
    words: Sequence[int]
    roles: Sequence[str]
    phrases: Sequence[tuple[int, int]] | None
    confidences: Confidences


def decode(
    scores: PropositionScores,
    *,
    positions: Sequence[int],
    candidates: Sequence[Candidates],
    lengths: Sequence[int],
    inventory: Inventory,
    consistency: Consistency | None = None,
    trace: bool = False,
) -> Decoded:
    """The most probable sense of each predicate and role of each word.

    The probabilities are those of the network; `Calibration` calibrates them.

    positions   P  position of each predicate
    candidates  P  its possible senses
    lengths     P  words of its sentence
    consistency    changes roles that do not fit each other; None: no constraints are applied, as in
                   the paper, where routing is meant to learn that a role is filled once
    trace          add the role probabilities of every routing iteration
    """
    is_word = np.arange(scores.roles.shape[1]) < np.array(lengths)[:, None]  # P T
    check_scores(scores.probs[is_word], scores.senses, scores.patterns)
    owners, words, roles = _arguments(scores, is_word, inventory)
    senses, probs = _choose_senses(scores, candidates, owners, roles, inventory)
    ranked = _rank_senses(scores, candidates, owners, roles, inventory) if trace else ()
    if consistency is not None:
        settled = consistency.settle(scores, senses, lengths, owners, words)
        if settled is not scores:
            scores = settled
            owners, words, roles = _arguments(scores, is_word, inventory)
    wholes = np.where(is_word, scores.probs, 1.0).prod(1)
    return Decoded(
        positions=positions,
        senses=senses,
        guessed=[each.guessed for each in candidates],
        traces=_traces(scores, ranked, lengths, inventory) if trace else [None] * len(positions),
        words=words.tolist(),
        roles=roles,
        phrases=_phrases(scores, owners, words),
        confidences=Confidences(
            predicates=np.full(len(positions), np.nan),
            senses=probs,
            propositions=probs * wholes,
            arguments=scores.probs[owners, words],
            owners=owners,
        ),
    )


def check_scores(*scores: Floats | NDArray[np.float64]) -> None:
    """Raise ModelError for NaN and infinity: every comparison with NaN says no proposition."""
    if not all(np.isfinite(each).all() for each in scores):
        raise ModelError(
            "the model gives scores that are not finite: its weights are damaged, or its training "
            "diverged"
        )


def build_propositions(
    decoded: Decoded,
    sentences: Sequence[Sentence],
    options: Options = _DEFAULTS,
    frames: FrameIndex = NO_FRAMES,
) -> list[Proposition | None]:
    """Make the proposition of each decoded predicate, with forms, offsets and phrases.

    None for one that is less probable than the options ask for.

    sentences  P  the sentence of each predicate
    frames     say what senses and roles mean
    """
    found = decoded.confidences
    arguments = _build_arguments(decoded, sentences, options, frames)
    propositions: list[Proposition | None] = []
    for row, (sentence, position, sense, predicate, probability, whole) in enumerate(
        zip(
            sentences,
            decoded.positions,
            decoded.senses,
            found.predicates.tolist(),
            found.senses.tolist(),
            found.propositions.tolist(),
            strict=True,
        )
    ):
        if probability < options.sense_threshold or whole < options.proposition_threshold:
            propositions.append(None)
            continue
        start, end = (None, None) if sentence.offsets is None else sentence.offsets[position]
        propositions.append(
            Proposition(
                position,
                sense,
                tuple(arguments[row]),
                probability,
                start,
                end,
                trace=decoded.traces[row],
                form=sentence.words[position],
                guessed=decoded.guessed[row],
                definition=frames.definition(sense),
                frames=frames.links(sense),
                predicate_probability=None if predicate != predicate else predicate,  # NaN: marked
                joint_probability=whole,
            )
        )
    return propositions


def _build_arguments(
    decoded: Decoded, sentences: Sequence[Sentence], options: Options, frames: FrameIndex
) -> list[list[Argument]]:
    """The arguments of each predicate that are as probable as the options ask for."""
    found = decoded.confidences
    arguments: list[list[Argument]] = [[] for _ in sentences]
    owners = found.owners.tolist()
    edges: Sequence[tuple[int, int] | None] = [None] * len(owners)
    if decoded.phrases is not None and options.phrases:
        edges = decoded.phrases
        if options.consistent:
            edges = separate_phrases(decoded.phrases, decoded.words, owners, sentences)
    for owner, word, role, probability, edge in zip(
        owners,
        decoded.words,
        decoded.roles,
        found.arguments.tolist(),
        edges,
        strict=True,
    ):
        if probability < options.threshold:
            continue
        sentence, phrase = sentences[owner], None
        if options.phrases:
            # Without the model's own phrase that of the parse, if there is one.
            edge = edge or find_phrase(sentence, decoded.positions[owner], role, word)
            phrase = edge and phrase_at(sentence, *edge)
        start, end = (None, None) if sentence.offsets is None else sentence.offsets[word]
        meaning = frames.meaning(decoded.senses[owner], role)
        form = sentence.words[word]
        arguments[owner].append(
            Argument(role, word, probability, start, end, form, phrase, meaning)
        )
    return arguments


def _arguments(
    scores: PropositionScores, is_word: NDArray[np.bool_], inventory: Inventory
) -> tuple[Ids, Ids, list[str]]:
    """The predicate, head word and role of each argument."""
    owners, words = np.nonzero((scores.roles != NO_ROLE_ID) & is_word)
    names = list(inventory.roles)
    return owners, words, [names[role] for role in scores.roles[owners, words].tolist()]


def _choose_senses(
    scores: PropositionScores,
    candidates: Sequence[Candidates],
    owners: Ids,
    roles: Sequence[str],
    inventory: Inventory,
) -> tuple[list[str], NDArray[np.float64]]:
    """The most probable candidate of each predicate, and its probability.

    owners  A  the predicate of each argument
    roles   A
    """
    best, probs = _best_trained(scores.senses, candidates)
    senses: list[str] = []
    for row, (possible, number) in enumerate(zip(candidates, best.tolist(), strict=True)):
        if possible.ids and all(each.odds == UNTRAINED_ODDS for each in possible.untrained):
            senses.append(inventory.senses[possible.ids[number]])
            continue
        numbered = _numbered_roles(row, owners, roles)
        sense, probs[row] = choose_sense(
            possible, scores.senses[row], scores.patterns[row], numbered, inventory
        )
        senses.append(sense)
    return senses, probs


def _rank_senses(
    scores: PropositionScores,
    candidates: Sequence[Candidates],
    owners: Ids,
    roles: Sequence[str],
    inventory: Inventory,
) -> list[tuple[tuple[str, float], ...]]:
    """The most probable candidates of each predicate, for its trace; none for a guess."""
    ranked: list[tuple[tuple[str, float], ...]] = []
    for row, possible in enumerate(candidates):
        logits, numbered = (
            scores.senses[row][: len(possible.ids)],
            _numbered_roles(row, owners, roles),
        )
        more, logits = score_senses(
            possible, logits, scores.patterns[row], numbered, inventory.frames
        )
        senses = (*(inventory.senses[id] for id in possible.ids), *more)
        probs = softmax(logits).tolist() if senses else []
        best = sorted(zip(senses, probs, strict=True), key=lambda pair: -pair[1])
        ranked.append(tuple(best[:_MOST_SENSES]))
    return ranked


def _numbered_roles(row: int, owners: Ids, roles: Sequence[str]) -> frozenset[str]:
    first, last = np.searchsorted(owners, (row, row + 1))  # they are sorted
    return _NUMBERED.intersection(roles[first:last])


def _best_trained(
    logits: Floats, candidates: Sequence[Candidates]
) -> tuple[Ids, NDArray[np.float64]]:
    """The best of the trained candidates of each predicate, and its probability.

    Untrained candidates have the odds UNTRAINED_ODDS together: they only lessen the probability.

    logits  P C  of the trained candidates, then padding
    """
    n_trained = np.array([len(each.ids) for each in candidates], np.int64)[:, None]
    is_candidate = np.arange(logits.shape[1]) < n_trained
    masked = np.where(is_candidate, logits.astype(np.float64), -np.inf)
    best = masked.argmax(1)
    highest = np.take_along_axis(masked, best[:, None], 1)
    powers = np.exp(masked - np.where(np.isfinite(highest), highest, 0.0))
    np.put_along_axis(powers, best[:, None], 0.0, 1)
    others = powers.sum(1)
    untrained = np.array([bool(each.untrained) for each in candidates]) * np.exp(UNTRAINED_ODDS)
    more = (1 + others) * untrained
    return best, 1.0 - (others + more) / (1 + others + more)


def _phrases(scores: PropositionScores, owners: Ids, words: Ids) -> list[tuple[int, int]] | None:
    """The first and last word of the phrase of every argument."""
    if scores.firsts is None or scores.lasts is None:
        return None
    firsts, lasts = (edges[owners, words].tolist() for edges in (scores.firsts, scores.lasts))
    return list(zip(firsts, lasts, strict=True))


def most_probable(logits: Floats) -> tuple[NDArray[np.float64], Ids]:
    """The probability of the most probable class, in double precision, and its id.

    logits  ... classes
    """
    ids = logits.argmax(-1)
    best = np.expand_dims(ids, -1)
    odds = np.exp(logits - np.take_along_axis(logits, best, -1))
    # Half of the probabilities are so near to 1 that single precision would round them to it: the
    # others are summed by themselves.
    np.put_along_axis(odds, best, 0.0, -1)
    return 1 / (1 + odds.sum(-1, dtype=np.float64)), ids


def softmax(logits: Floats) -> Floats:
    """Probabilities of classes.

    logits  ... classes
    """
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    probs: Floats = odds / odds.sum(-1, keepdims=True)
    return probs


def _traces(
    scores: PropositionScores,
    ranked: Sequence[tuple[tuple[str, float], ...]],
    lengths: Sequence[int],
    inventory: Inventory,
) -> list[Trace | None]:
    assert scores.steps is not None
    probs = softmax(scores.steps)  # N+1 P T R
    return [
        Trace(
            roles=tuple(inventory.roles),
            beliefs=probs[:, row, :length],
            capsules=None if scores.capsules is None else scores.capsules[:, row],
            nodes=None if scores.nodes is None else scores.nodes[:, row],
            senses=ranked[row],
        )
        for row, length in enumerate(lengths)
    ]
