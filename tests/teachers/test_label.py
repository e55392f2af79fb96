"""The soft labels of teachers."""

import pytest
import torch

from capsrl.errors import ModelError
from capsrl.sentence import Sentence
from teachers.label import label_softly, load_teachers
from tests.helpers.tiny_networks import SENTENCES, make_config, make_labeler, write_encoder
from tests.helpers.tiny_networks import make_teacher as make

TEXT = [Sentence(s.words) for s in SENTENCES]
CPU = torch.device("cpu")


def test_probabilities_are_those_of_the_labeler():
    config = make_config(iterations=2)
    labeler, labels = make_labeler(config, seed=5), label_softly(make(config, seed=5), TEXT)
    labeled = list(labeler.label_sentences(TEXT, predicates="found"))
    assert labels.n_predicates.tolist() == [len(s.propositions) for s in labeled]
    assert labels.n_predicates.sum() > 3
    propositions = [p for s in labeled for p in s.propositions]
    assert labels.positions.tolist() == [p.predicate for p in propositions]
    roles, names = labels.sparse["roles.1"], list(labeler.inventory.roles)
    found = {
        (int(owner), int(word), names[id]): float(prob)
        for owner, word, id, prob in zip(
            roles.owners, roles.words, roles.ids, roles.probs, strict=True
        )
    }
    for number, proposition in enumerate(propositions):
        for argument in proposition.arguments:
            probability = found[number, argument.word, argument.role]
            assert probability == pytest.approx(argument.probability, rel=2e-3)
    assert not any(name == "_" for _, _, name in found)


def test_several_teachers_load_as_one(tmp_path):
    for seed in (1, 2):
        make_labeler(seed=seed).save(tmp_path / str(seed))
    assert load_teachers([tmp_path / "1"], CPU).network.n_iterations == 2
    both = load_teachers([tmp_path / "1", tmp_path / "2"], CPU)
    assert len(both.network.members) == 2


def test_a_teacher_that_marks_predicates(tmp_path):
    write_encoder(tmp_path / "bert")
    config = make_config(
        embeddings={
            "transformer": str(tmp_path / "bert"),
            "fine_tune": True,
            "mark_predicate": True,
        }
    )
    make_labeler(config).save(tmp_path / "model")
    with pytest.raises(ModelError, match="model: a model with .*mark_predicate cannot be"):
        load_teachers([tmp_path / "model"], CPU)
