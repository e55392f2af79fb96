"""Sentences, a calibration and comparisons for tests that need no torch."""

import dataclasses
import json
from pathlib import Path

import numpy as np

from capsrl.frames.descriptions import Descriptions
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from capsrl.predict.calibration import Calibration, Confidences, Curve, group_of
from capsrl.sentence import Argument, Phrase, Proposition, Sentence


def sentence(text, *propositions, lemmas=None):
    """A sentence from its words and (predicate, sense, {word: role}) for each proposition."""
    return Sentence(
        words=tuple(text.split()),
        lemmas=tuple(lemmas.split()) if lemmas else None,
        propositions=tuple(
            Proposition(
                position,
                sense,
                tuple(Argument(role, word) for word, role in sorted(arguments.items())),
            )
            for position, sense, arguments in propositions
        ),
    )


SENTENCES = [
    sentence("Mary sees him", (1, "see.01", {0: "A0", 2: "A1"}), lemmas="mary see he"),
    sentence("dogs bark", (1, "bark.01", {0: "A0"}), lemmas="dog bark"),
    # Two predicates, and a word that is an argument of both.
    sentence(
        "yesterday the old man wanted to leave the house",
        (4, "want.01", {0: "AM-TMP", 3: "A0", 6: "A1"}),
        (6, "leave.01", {3: "A0", 8: "A1"}),
        lemmas="yesterday the old man want to leave the house",
    ),
    sentence("no verb at all", lemmas="no verb at all"),
    # Two senses of one lemma; a sentence longer than all others.
    sentence(
        "she sees a doctor and he sees no end to it all this long long year",
        (1, "see.02", {0: "A0", 3: "A1"}),
        (6, "see.01", {5: "A0", 8: "A1"}),
        lemmas="she see a doctor and he see no end to it all this long long year",
    ),
    sentence("go", (0, "go.01", {}), lemmas="go"),
]


def with_phrases(given, phrases):
    """The sentence with the phrases of some words, for all predicates."""
    propositions = [
        dataclasses.replace(
            proposition,
            arguments=tuple(
                dataclasses.replace(
                    argument,
                    phrase=Phrase(*phrases[argument.word]) if argument.word in phrases else None,
                )
                for argument in proposition.arguments
            ),
        )
        for proposition in given.propositions
    ]
    return given.with_propositions(propositions)


OLD_MAN = with_phrases(SENTENCES[2], {0: (0, 0), 3: (1, 3), 6: (5, 8), 8: (7, 8)})
# Lemmas that SENTENCES do not have, and letters that no tokenizer here has.
UNSEEN = sentence("猫 zzz naïve words", (1, None, {}), lemmas="猫 zzz naïve word")

CALIBRATION = Calibration(
    predicates=Curve((-10.0, 10.0), (-4.0, 5.0)),
    senses=Curve((-10.0, 0.0, 10.0), (-5.0, 0.5, 2.0), {"1-3": 0.25, "only 1-3": -0.5}),
    arguments=Curve((-10.0, 10.0), (-6.0, 3.0), {"A0": 1.0, "AM-TMP": -1.0}),
    propositions=Curve((-30.0, 10.0), (-10.0, 2.0)),
)


def apply_calibration(propositions, sense_counts):
    """Propositions that the network predicts, with the probabilities of CALIBRATION."""
    arguments = [argument for each in propositions for argument in each.arguments]
    owners = [number for number, each in enumerate(propositions) for _ in each.arguments]
    raw = Confidences(
        predicates=np.array([each.predicate_probability for each in propositions], np.float64),
        senses=np.array([each.probability for each in propositions]),
        propositions=np.array([each.joint_probability for each in propositions]),
        arguments=np.array([argument.probability for argument in arguments]),
        owners=np.array(owners, np.int64),
    )
    groups = [
        group_of(each.sense, sense_counts, is_only=each.probability == 1, guessed=each.guessed)
        for each in propositions
    ]
    found = CALIBRATION.calibrate(raw, groups, [argument.role for argument in arguments])
    probs = iter(found.arguments.tolist())
    return [
        dataclasses.replace(
            each,
            arguments=tuple(
                dataclasses.replace(a, probability=next(probs)) for a in each.arguments
            ),
            probability=float(found.senses[row]),
            predicate_probability=None
            if each.predicate_probability is None
            else float(found.predicates[row]),
            joint_probability=float(found.propositions[row]),
        )
        for row, each in enumerate(propositions)
    ]


def blind(given):
    """The same sentence with only the positions of its predicates."""
    return given.with_propositions([Proposition(p.predicate) for p in given.propositions])


def assert_same_answers(ours, theirs, *, tolerance=1e-5):
    """The same propositions, with probabilities equal within a tolerance."""
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.words == other.words
        assert bare(mine) == bare(other)
        for left, right in zip(mine.propositions, other.propositions, strict=True):
            assert abs(left.probability - right.probability) <= tolerance
            assert abs(left.joint_probability - right.joint_probability) <= 10 * tolerance
            found = [p.predicate_probability for p in (left, right)]
            assert found == [None, None] or abs(found[0] - found[1]) <= tolerance
            for a, b in zip(left.arguments, right.arguments, strict=True):
                assert abs(a.probability - b.probability) <= tolerance


def bare(given):
    """The propositions of a sentence without probabilities."""
    return [_bare(proposition) for proposition in given.propositions]


def _bare(proposition):
    arguments = tuple(dataclasses.replace(a, probability=None) for a in proposition.arguments)
    return dataclasses.replace(
        proposition,
        probability=None,
        predicate_probability=None,
        joint_probability=None,
        arguments=arguments,
    )


def edit_json(file, **changes):
    """Change some entries of a JSON file; None removes one."""
    data = json.loads(Path(file).read_text(encoding="utf-8"))
    data |= changes
    for name in [name for name, value in changes.items() if value is None]:
        del data[name]
    Path(file).write_text(json.dumps(data), encoding="utf-8")


def without_phrases(sentence):
    """The sentence with head words only."""
    return sentence.with_propositions(
        dataclasses.replace(
            each, arguments=tuple(dataclasses.replace(a, phrase=None) for a in each.arguments)
        )
        for each in sentence.propositions
    )


# What the frames say of some of the senses.
FRAMES = FrameIndex.from_rolesets(
    [
        Roleset("see.01", roles=(FrameRole("A0", "PAG", "Experiencer"), FrameRole("A1", "PPT"))),
        Roleset("see.02", roles=(FrameRole("A0", "PAG", "Agent"), FrameRole("A1", "GOL"))),
        Roleset("bark.01", roles=(FrameRole("A0", "PAG", "Agent"),)),
        Roleset("want.01", roles=(FrameRole("A0", "PAG"), FrameRole("A1", "PPT", "Theme"))),
        Roleset("leave.01", roles=(FrameRole("A0", "PAG", "Agent"), FrameRole("A1", "DIR"))),
    ]
)
DESCRIPTIONS = Descriptions(
    np.random.default_rng(4).normal(size=(4, 3)).astype(np.float32),
    {"see.01": {"A0": 0, "A1": 2}, "see.02": {"A0": 0, "A1": 1}, "leave.01": {"A1": 3}},
)
