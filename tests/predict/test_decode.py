import dataclasses

import numpy as np
import pytest

from capsrl.errors import ModelError
from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset
from capsrl.options import Options
from capsrl.predict.backend import PropositionScores
from capsrl.predict.candidates import Candidates, Untrained, probability_of, score_senses
from capsrl.predict.consistency import Consistency
from capsrl.predict.decode import _best_trained, build_propositions, decode, most_probable
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Argument, Sentence
from capsrl.text.lemmatizer import learn_lemmas
from tests.helpers.tiny_sentences import SENTENCES

INVENTORY = build_inventory(SENTENCES)
ROLES = list(INVENTORY.roles)
DEFAULTS = Options()
# A lemma of two trained senses, and one without candidates.
CANDIDATES = [
    Candidates(INVENTORY.candidates_of("see"), (), "see", guessed=False),
    Candidates((), (), "zzz", guessed=True),
]


def logits_of(probs):
    return np.log(np.array(probs, np.float32))


def roles_of(logits):
    probs, ids = most_probable(logits)
    return {"roles": ids, "probs": probs, "role_logits": lambda rows: logits[rows]}


def make_scores(**trace):
    """A predicate of a known lemma with two senses, and one of an unseen lemma; T = 3."""
    a0 = {"_": 0.2, "A0": 0.6, "A1": 0.1, "AM-TMP": 0.1}
    none = {"_": 0.7, "A0": 0.1, "A1": 0.1, "AM-TMP": 0.1}
    unsure = {"_": 0.3, "A0": 0.2, "A1": 0.4, "AM-TMP": 0.1}
    rows = [[a0, none, unsure], [none, a0, a0]]
    probs = [[[word[role] for role in ROLES] for word in row] for row in rows]
    patterns = [[0.1, 0.9], [0.25, 0.75]]
    assert list(INVENTORY.patterns) == ["{}.01", "{}.02"]
    roles = logits_of(probs)
    return PropositionScores(
        **roles_of(roles),
        steps=np.stack([np.zeros((2, 3, 4), np.float32), roles]),
        senses=logits_of([[0.2, 0.8], [0.5, 0.5]]),
        patterns=logits_of(patterns),
        **trace,
    )


def run(found, candidates=None, inventory=INVENTORY, frames=NO_FRAMES, built=DEFAULTS, **options):
    decoded = decode(
        found,
        positions=[1, 0],
        candidates=candidates or CANDIDATES,
        lengths=[3, 2],
        inventory=inventory,
        **options,
    )
    sentences = [Sentence(("I", "see", "it")), Sentence(("Go", "on"))]
    return build_propositions(decoded, sentences, built, frames)


def test_most_probable_sense_and_roles():
    known, unseen = run(make_scores())
    assert (known.predicate, known.sense) == (1, "see.02")
    assert known.probability == pytest.approx(0.8)
    assert [(a.role, a.word) for a in known.arguments] == [("A0", 0), ("A1", 2)]
    assert [a.probability for a in known.arguments] == pytest.approx([0.6, 0.4])
    # An unseen lemma gets a pattern; its sentence has two words, the third is padding.
    assert (unseen.predicate, unseen.sense) == (0, "zzz.02")
    assert unseen.probability == pytest.approx(0.75)
    assert [(a.role, a.word) for a in unseen.arguments] == [("A0", 1)]
    assert known.trace is None
    assert (known.guessed, unseen.guessed) == (False, True)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["probs", "senses", "patterns"])
def test_scores_that_are_not_finite(name, value):
    """They were no proposition, or another sense with probability 1."""
    found = make_scores()
    array = getattr(found, name).copy()
    array[0, 0] = value
    with pytest.raises(ModelError, match="scores that are not finite: its weights are damaged"):
        run(dataclasses.replace(found, **{name: array}))


def test_only_candidates_are_chosen():
    """The second sense is left out; see.09 has log-odds of 3 against the first."""
    first = INVENTORY.candidates_of("see")[:1]
    left = [Candidates(first, (), "see", guessed=False), CANDIDATES[1]]
    known, _ = run(make_scores(), left)
    assert (known.sense, known.probability) == ("see.01", 1.0)
    more = [Candidates(first, (Untrained("see.09", None, 3.0),), "see", False), CANDIDATES[1]]
    known, _ = run(make_scores(), more)
    assert known.sense == "see.09"
    assert known.probability == pytest.approx(1 / (1 + np.exp(-3)))


def test_untrained_candidates_of_an_unseen_lemma():
    """By their patterns, {}.02 before {}.01, and by their roles."""
    frames = FrameIndex.from_rolesets(
        [Roleset("zed.01", roles=(FrameRole("A0"),)), Roleset("zed.02", roles=(FrameRole("A4"),))]
    )
    inventory = dataclasses.replace(INVENTORY, frames=frames)
    both = (Untrained("zed.01", 0), Untrained("zed.02", 1))
    candidates = [CANDIDATES[0], Candidates((), both, "zed", guessed=False)]
    _, unseen = run(make_scores(), candidates, inventory=inventory)
    assert unseen.sense == "zed.02"  # log 3 more by its pattern, 1 less by its roles
    assert unseen.probability == pytest.approx(3 / (3 + np.e))
    assert not unseen.guessed


def test_meanings():
    frames = FrameIndex.from_rolesets(
        [
            Roleset(
                "see.02",
                roles=(FrameRole("A0", "PAG", "Experiencer"), FrameRole("A1", description="view")),
                links=("framenet:Seeing",),
                definition="perceive",
            )
        ]
    )
    known, unseen = run(make_scores(), frames=frames)
    assert (known.definition, known.frames) == ("perceive", ("framenet:Seeing",))
    assert [argument.meaning for argument in known.arguments] == ["Experiencer", "view"]
    assert (unseen.definition, unseen.frames) == (None, ())
    assert [argument.meaning for argument in unseen.arguments] == [None]


def test_joint_probability_is_that_of_all_words():
    known, unseen = run(make_scores())
    assert known.joint_probability == pytest.approx(0.8 * 0.6 * 0.7 * 0.4)
    assert unseen.joint_probability == pytest.approx(0.75 * 0.7 * 0.6)


def test_consistent_roles():
    """Of two A0 the more probable one stays; the other has the next role, with its probability."""
    frames = FrameIndex.from_rolesets([Roleset("see.02", roles=(FrameRole("A0"), FrameRole("A1")))])
    inventory = dataclasses.replace(INVENTORY, frames=frames, lemmatizer=learn_lemmas(SENTENCES))
    words = [{"_": 0.1, "A0": 0.5, "A1": 0.4}, {"_": 1.0}, {"_": 0.2, "A0": 0.6, "A1": 0.2}]
    row = [[word.get(role, 1e-9) for role in ROLES] for word in words]
    found = dataclasses.replace(make_scores(), **roles_of(logits_of([row, row])))
    known, _ = run(found, inventory=inventory)
    assert [(a.role, a.word) for a in known.arguments] == [("A0", 0), ("A0", 2)]
    known, _ = run(found, inventory=inventory, consistency=Consistency(inventory))
    assert [(a.role, a.word) for a in known.arguments] == [("A1", 0), ("A0", 2)]
    assert [a.probability for a in known.arguments] == pytest.approx([0.4, 0.6])
    assert known.joint_probability == pytest.approx(0.8 * 0.4 * 0.6)


@pytest.mark.parametrize("consistent", [True, False])
def test_consistent_phrases(consistent):
    """The phrase of *it* contains *I*, the head of another."""
    edges = {"firsts": np.array([[0, 1, 0]] * 2), "lasts": np.array([[0, 1, 2]] * 2)}
    known, _ = run(make_scores(**edges), built=Options(consistent=consistent))
    assert [(a.phrase.first, a.phrase.last) for a in known.arguments] == [
        (0, 0),
        (1 if consistent else 0, 2),
    ]


def test_probabilities_near_one_are_told_apart():
    """Single precision ends at 1 - 6e-8."""
    roles = np.zeros((2, 3, 4), np.float32)
    roles[:, :, 1] = [20.0, 24.0, 28.0]
    known, _ = run(dataclasses.replace(make_scores(), **roles_of(roles)))
    odds = [a.probability / (1 - a.probability) for a in known.arguments]
    assert np.log(odds) == pytest.approx([20 - np.log(3), 24 - np.log(3), 28 - np.log(3)], abs=1e-3)


def test_trace_has_the_length_of_the_sentence():
    random = np.random.default_rng(1)
    capsules, nodes = random.normal(size=(1, 2, 4, 5)), random.normal(size=(1, 2, 5))
    known, unseen = run(make_scores(capsules=capsules, nodes=nodes), trace=True)
    assert known.trace.roles == tuple(ROLES)
    assert known.trace.beliefs.shape == (2, 3, 4)
    assert unseen.trace.beliefs.shape == (2, 2, 4)
    np.testing.assert_allclose(known.trace.beliefs[0], 0.25)
    assert known.trace.beliefs[1, 0, ROLES.index("A0")] == pytest.approx(0.6)
    np.testing.assert_array_equal(unseen.trace.capsules[0], capsules[0, 1])
    np.testing.assert_array_equal(unseen.trace.nodes[0], nodes[0, 1])


def test_trace_without_role_capsules():
    known, _ = run(make_scores(), trace=True)
    assert known.sense in dict(known.trace.senses)
    assert sum(dict(known.trace.senses).values()) == pytest.approx(1)
    assert known.trace.capsules is None and known.trace.nodes is None


def test_numbers_are_python_numbers():
    """So that they go into JSON."""
    known, _ = run(make_scores())
    assert type(known.probability) is float
    assert known.arguments[0] == Argument("A0", 0, known.arguments[0].probability)
    assert type(known.arguments[0].probability) is float and type(known.arguments[0].word) is int


def test_probabilities_of_senses_are_those_of_one_predicate_at_a_time():
    """Against the exact formula, with senses that training did not have and without."""
    random = np.random.default_rng(4)
    trained = INVENTORY.candidates_of("see")
    more = (Untrained("see.08", None), Untrained("see.09", None))
    candidates = [
        Candidates(ids, untrained, "see", guessed=False)
        for ids in (trained, trained[:1])
        for untrained in ((), more)
    ]
    logits = (8 * random.normal(size=(4, 2))).astype(np.float32)
    best, probs = _best_trained(logits, candidates)
    for row, each in enumerate(candidates):
        _, scored = score_senses(
            each, logits[row, : len(each.ids)], np.zeros(2, np.float32), set(), INVENTORY.frames
        )
        assert best[row] == scored.argmax()
        assert probs[row] == pytest.approx(probability_of(int(best[row]), scored), abs=1e-9)
        assert (probs[row] == 1) == (probability_of(int(best[row]), scored) == 1)
