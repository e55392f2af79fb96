"""What the frames add to the role logits, against loops over predicates, senses and roles."""

import math

import pytest
import torch
from torch.testing import assert_close

from capsrl.errors import ConfigError
from capsrl.frames.kinds import CORE_ROLES, find_kinds
from capsrl.labeler import Labeler
from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from tests.helpers.tiny_networks import (
    DESCRIPTIONS,
    FRAMES,
    SENTENCES,
    UNSEEN,
    assert_same_answers,
    blind,
    make_config,
    make_labeler,
)

DESCRIBED = {"roles": "first", "descriptions": 3}
VARIANTS = pytest.mark.parametrize("variant", ["capsule+global", "capsule", "word", "baseline"])


def make(roles="first", **settings):
    frames = {"roles": roles, "descriptions": 3} if roles != "none" else {}
    return make_labeler(make_config(frames=frames, **settings)).network.eval()


def score(network, sentences=(*SENTENCES, UNSEEN)):
    """The logits of the predicates of some sentences, and what the network was given."""
    batch = network.collate([network.index(one) for one in sentences])
    states = network.encode(batch)
    logits = network.score_propositions(states, batch.mask, batch.predicates)
    return logits, states, batch


def features_in_loops(network, senses, candidates):
    """f of every role of one predicate, from the frames themselves.

    senses      logits of the candidates
    candidates  names of senses
    """
    frames, rank = network.frames, network.frames.modifier.shape[0]
    kinds = find_kinds(network.inventory.senses, FRAMES, DESCRIPTIONS)
    total = sum(math.exp(one) for one in senses)
    probs = {name: math.exp(x) / total for name, x in zip(candidates, senses, strict=True)}
    best = sorted(probs, key=lambda name: -probs[name])[:3]
    vectors = []
    for role in network.inventory.roles:
        prefix, bare = (role[:2], role[2:]) if role[:2] in ("R-", "C-") else ("", role)
        vector = torch.zeros(rank)
        if bare in CORE_ROLES:
            place = ("", "R-", "C-").index(prefix)
            for name in best or [None]:
                kind = 1
                if name is not None:
                    number = network.inventory.senses.index(name)
                    kind = int(kinds.of_role[number, CORE_ROLES.index(bare)])
                for table, ids in (("functions", "function_of"), ("thematic", "thematic_of")):
                    row = getattr(frames, table)[int(getattr(frames, ids)[kind])]
                    vector = vector + probs.get(name, 1.0) * row.unflatten(0, (3, rank))[place]
                row = None if name is None else DESCRIPTIONS.row(name, bare)
                if row is not None:
                    described = torch.from_numpy(DESCRIPTIONS.vectors[row])
                    vector = vector + probs[name] * frames.of_description.weight @ described
        elif role != "_":
            vector = frames.modifier
        vectors.append(vector)
    return torch.stack(vectors)


@VARIANTS
@pytest.mark.parametrize("form", ["dense", "factored"])
def test_one_iteration_adds_what_the_loops_add(variant, form):
    network = make(variant=variant, form=form, iterations=1)
    logits, states, batch = score(network)
    frames, network.frames = network.frames, None
    without, _, _ = score(network)
    network.frames = frames
    predicates = batch.predicates
    joint = network.forms.of_word(states[predicates.rows]) * network.forms.of_predicate(
        states[predicates.rows, predicates.positions]
    ).unsqueeze(1)
    added = logits.routing.final - without.routing.final
    for row, count in enumerate(predicates.n_candidates.tolist()):
        names = [network.inventory.senses[i] for i in predicates.candidates[row, :count]]
        features = features_in_loops(network, logits.senses[row, :count].tolist(), names)
        assert_close(added[row], joint[row] @ features.T, atol=1e-5, rtol=1e-4)
    assert added.abs().max() > 0.1
    assert 0 in predicates.n_candidates  # a lemma that nothing is known of


def test_frames_are_added_once_or_in_every_iteration():
    """With agreement 0 the logits of routing stay 0, and only the frames are left."""
    for roles, factor in (("first", 1), ("every", 3)):
        network = make(roles, variant="capsule", iterations=3)
        network.routing.agreement.data.zero_()
        steps = score(network)[0].routing.logits
        assert_close(steps[3], factor * steps[1])
        assert not steps[0].any()


@VARIANTS
def test_a_new_network_answers_as_without_frames(variant):
    config = make_config(variant=variant, frames=DESCRIBED)
    inventory = build_inventory(SENTENCES, frames=FRAMES)
    with_frames = make_network(config, inventory, descriptions=DESCRIPTIONS).eval()
    without = make_network(make_config(variant=variant), inventory).eval()
    shared = {n: w for n, w in with_frames.state_dict().items() if not n.startswith("frames.")}
    without.load_state_dict(shared)
    assert torch.equal(score(with_frames)[0].routing.final, score(without)[0].routing.final)


def test_chunks_give_the_same_gradients():
    gradients = []
    for chunks in (1, 2):
        network = make(form="factored", routing_chunks=chunks).train()
        logits, *_ = score(network)
        logits.routing.final.square().sum().backward()
        gradients.append([w.grad for w in network.frames.parameters()])
        assert network.senses.prior.grad is None  # the senses do not learn from the roles
    assert_close(gradients[0], gradients[1])
    assert all(gradient.any() for gradient in gradients[0])


@pytest.mark.parametrize("precision", ["full", "compact"])
def test_saved_and_loaded(precision, tmp_path):
    labeler = make_labeler(make_config(frames=DESCRIBED))
    labeler.save(tmp_path / "model", precision=precision)
    text = [*map(blind, SENTENCES), UNSEEN]
    loaded = Labeler.load(tmp_path / "model", device="cpu", runtime="torch")
    network, again = labeler.network, loaded.network
    for name, buffer in network.frames.named_buffers():
        if not buffer.is_floating_point():
            assert torch.equal(buffer, again.frames.get_buffer(name)), name
    if precision == "full":
        assert_same_answers(
            list(loaded.label_sentences(text, predicates="marked")),
            list(labeler.label_sentences(text, predicates="marked")),
        )


def test_what_is_missing_is_named():
    config = make_config(frames=DESCRIBED)
    with pytest.raises(ConfigError, match="model.frames.roles needs frames: set data.frames"):
        make_network(config, build_inventory(SENTENCES), descriptions=DESCRIPTIONS)
    inventory = build_inventory(SENTENCES, frames=FRAMES)
    with pytest.raises(ConfigError, match=r"descriptions is 3, but .* have a width of 0"):
        make_network(config, inventory)


def test_a_batch_without_predicates_trains():
    """The shortest sentences of a corpus can be a batch of their own, in which nothing happens."""
    network = make()
    logits, _, _ = score(network, [one.with_propositions(()) for one in SENTENCES])
    assert logits.routing.final.shape[0] == 0
    logits.routing.final.sum().backward()
