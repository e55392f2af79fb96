"""The network of a run: a new one, or that of a model with the labels of the corpus added."""

import dataclasses
import shutil
import signal
from pathlib import Path

import pytest
import torch

from capsrl.errors import ConfigError, ModelError
from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.labeler import Labeler
from capsrl.network.save import load_network, load_weights
from capsrl.predict.folder import fingerprint
from capsrl.predict.inventory import build_inventory
from capsrl.recipe import read_recipe
from capsrl.text.lemmatizer import Lemmatizer
from capsrl.train.checkpoint import load_checkpoint
from capsrl.train.corpus import read_training_files
from capsrl.train.log import read_log
from capsrl.train.loop import Interrupted, run
from capsrl.train.start import build_network, merge_inventories, start_network
from tests.helpers.tiny_networks import (
    SENTENCES,
    assert_same_answers,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)
from tests.helpers.tiny_runs import SETTINGS, TINY

# A new role, a new sense of a lemma that SENTENCES have, new lemmas, words and letters.
ADDED = [
    sentence(
        "Zoë sees no reason to quit today",
        (1, "see.03", {0: "A0", 3: "A2"}),
        (5, "quit.xx", {0: "A0", 6: "AM-TMP"}),
        lemmas="zoë see no reason to quit today",
    ),
    sentence("Zoë sees it", (1, "see.01", {0: "A0", 2: "A1"}), lemmas="zoë see it"),
]
CONFIGS = {
    "learned": make_config(embeddings={"learned": 10, "characters": 6}),
    "vector": make_config(predicate="vector", variant="capsule", form="factored"),
    "squashed": make_config(global_from="squashed", form="factored", variant="capsule+global"),
    "word": make_config(variant="word"),
    "spans": make_config(phrase_width=6, encoder={"predicate_width": 5}),
    "frames": make_config(frames={"roles": "every", "descriptions": 3}),
}


def save(config, folder: Path, **options) -> Path:
    make_labeler(config).save(folder, **options)
    return folder


def started(folder: Path, sentences, config=None):
    config = config or load_network(folder)[1]
    return start_network(folder, config, build_inventory(sentences), words={"Zoë": 2, "sees": 2})


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_same_labels_give_the_same_answers(config, tmp_path):
    folder = save(config, tmp_path / "model")
    network = started(folder, SENTENCES[:2])
    before, after = (
        list(labeler.label_sentences(SENTENCES))
        for labeler in (Labeler.load(folder, device="cpu"), Labeler(network, config, device="cpu"))
    )
    assert sum(len(each.propositions) for each in before) > 3
    assert_same_answers(after, before, tolerance=1e-7)


@pytest.mark.parametrize("precision", ["full", "compact"])
def test_transformer(tmp_path, precision):
    write_encoder(tmp_path / "encoder")
    embeddings = {"transformer": str(tmp_path / "encoder"), "fine_tune": True}
    folder = save(make_config(embeddings=embeddings), tmp_path / "model", precision=precision)
    shutil.rmtree(tmp_path / "encoder")
    saved, grown = load_weights(folder), started(folder, ADDED).state_dict()
    encoder = [name for name in saved if name.startswith("vectors.")]
    assert len(encoder) > 20
    assert all(torch.equal(saved[name], grown[name]) for name in encoder)


def test_vectors_of_a_file(tmp_path):
    lines = [f"{word} {n} 1 -1" for n, word in enumerate(("the", "sees", "Zoë"))]
    (tmp_path / "some.vec").write_text("\n".join(lines) + "\n")
    folder = save(make_config(embeddings={"fasttext": f"{tmp_path}/some.vec"}), tmp_path / "model")
    source = started(folder, ADDED).vectors.sources["fasttext"]
    assert source.words == ["sees", "the"]
    assert source.index(ADDED[1]).new.tolist() == [[2, 1, -1]]  # Zoë, from the file
    (tmp_path / "some.vec").unlink()
    with pytest.warns(UserWarning, match="no such file; the model was trained with these vectors"):
        source = started(folder, ADDED, make_config(embeddings={"fasttext": "x"}))
    assert source.vectors.sources["fasttext"].index(ADDED[1]).rows.tolist() == [0, 1, 0]


def rows_by_name(weights, inventory):
    """The weights of each label, under its name."""
    none = object()  # senses without a pattern
    patterns = [*inventory.patterns, none]
    roles = list(inventory.roles)
    node = weights["routing.node.weight"].unflatten(1, (len(roles), -1))
    tables = {
        "capsules": (roles, weights["forms.weight"]),
        "node": (roles, node.transpose(0, 1)),
        "senses": (inventory.senses, weights["senses.senses.weight"]),
        "prior": (inventory.senses, weights["senses.prior"]),
        "patterns": (patterns, weights["senses.patterns.weight"]),
        "pattern prior": (patterns, weights["senses.pattern_prior"]),
        "words": (inventory.words, weights["vectors.sources.learned.vectors.weight"]),
        "letters": (inventory.characters, weights["vectors.sources.characters.vectors.weight"]),
        "tags": (inventory.tags, weights["tagger.score.weight"]),
    }
    found = {
        (table, str(name)): row
        for table, (names, rows) in tables.items()
        for name, row in zip((n if n is not none else "none" for n in names), rows, strict=True)
    }
    of_senses = (patterns[i] for i in weights["senses.pattern_of"].tolist())
    names = dict(
        zip(inventory.senses, ("none" if p is none else p for p in of_senses), strict=True)
    )
    return found, names


def test_weights_of_shared_labels_are_copied_by_name(tmp_path):
    config = dataclasses.replace(make_config(), tagger=True)
    folder = save(config, tmp_path / "model")
    network = started(folder, ADDED)
    old, known = load_network(folder)[0], network.inventory
    before, patterns_before = rows_by_name(old.state_dict(), old.inventory)
    after, patterns_after = rows_by_name(network.state_dict(), known)
    assert len(before) > 50
    assert all(torch.equal(row, after[key]) for key, row in before.items())
    assert {sense: patterns_after[sense] for sense in patterns_before} == patterns_before
    assert patterns_after["quit.xx"] == "{}.xx"
    new = {name for table, name in after.keys() - before.keys()}
    assert {"A2", "see.03", "quit.xx", "{}.xx", "Zoë"} <= new
    assert after["capsules", "A2"].abs().max() < 0.5 * before["capsules", "A1"].abs().max()
    assert not after["node", "A2"].any()
    rest = {name for name, tensor in old.state_dict().items() if "forms.of_" in name}
    assert len(rest) == 4
    assert all(torch.equal(old.state_dict()[n], network.state_dict()[n]) for n in rest)


def test_word_counts_add_up(tmp_path):
    network = started(save(make_config(), tmp_path / "model"), ADDED)
    source, words = network.vectors.sources["learned"], network.inventory.words
    assert source.counts[words.id("Zoë")] == 2
    assert source.counts[words.id("sees")] == float("inf")  # the helper counts no words


def test_merged_inventory():
    known = dataclasses.replace(
        build_inventory(SENTENCES),
        lemmatizer=Lemmatizer(frozenset({"hope"}), {"verb": {"seen": "see"}}),
    )
    lemmatizer = Lemmatizer(frozenset({"quit"}), {"verb": {"seen": "x", "quat": "quit"}})
    added = dataclasses.replace(build_inventory(ADDED), lemmatizer=lemmatizer)
    merged = merge_inventories(known, added)
    for name in ("roles", "senses", "patterns", "words", "characters", "tags"):
        before, after = list(getattr(known, name)), list(getattr(merged, name))
        assert after[: len(before)] == before
        assert set(after) == {*before, *getattr(added, name)}
    counts = dict(zip(merged.senses, merged.sense_counts, strict=True))
    assert (counts["see.01"], counts["see.02"], counts["see.03"]) == (3, 1, 1)
    names = {lemma: [merged.senses[i] for i in ids] for lemma, ids in merged.candidates.items()}
    assert names["see"] == ["see.01", "see.02", "see.03"]
    assert (names["quit"], names["bark"]) == (["quit.xx"], ["bark.01"])
    assert merged.lemmatizer.known == {"hope", "quit"}
    assert merged.lemmatizer.exceptions == {"verb": {"seen": "see", "quat": "quit"}}
    assert merge_inventories(build_inventory(SENTENCES), added).lemmatizer is lemmatizer


def test_a_damaged_model_is_named(tmp_path):
    folder = save(make_config(), tmp_path / "model")
    other = dataclasses.replace(make_config(), phrase_width=4)
    with pytest.raises(ModelError, match=f"{folder}: no tensor spans"):
        started(folder, ADDED, other)
    with pytest.raises(ModelError, match=f"{folder}: expected forms.weight of shape"):
        started(folder, ADDED, make_config(size=5))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    recipe = read_recipe(TINY, [*SETTINGS, "train.epochs=25", "train.learning_rate=1e-2"])
    return run(recipe, folder, device="cpu").model


def start_recipe(tmp_path: Path, model: Path, *settings: str):
    """Train on the tiny corpus with one role renamed."""
    renamed = [
        each.with_propositions(
            [
                dataclasses.replace(
                    p,
                    arguments=tuple(
                        dataclasses.replace(a, role="NEW" if a.role == "AM-TMP" else a.role)
                        for a in p.arguments
                    ),
                )
                for p in each.propositions
            ]
        )
        for each in read_sentences(TINY.parent / "tiny" / "train.conll09")
    ]
    write_sentences(renamed, tmp_path / "renamed.jsonl")
    data = f'train = "{tmp_path}/renamed.jsonl"\ndev = "{tmp_path}/renamed.jsonl"\n'
    (tmp_path / "recipe.toml").write_text(f"[data]\n{data}[loss]\nl2 = 0.0\n")
    train = ("train.batch_words=60", "train.learning_rate=5e-3", "train.epochs=6")
    return read_recipe(
        tmp_path / "recipe.toml",
        [*train, f"train.from={model}", "model.encoder.dropout=0.1", *settings],
    )


def test_a_run_learns_a_new_role_and_keeps_the_others(tiny, tmp_path):
    recipe = start_recipe(tmp_path, tiny)
    result = run(recipe, tmp_path / "run", device="cpu")
    epochs = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert epochs[0]["dev_argument_f1"] > 50  # from scratch: 0
    dev = list(read_sentences(recipe.data.dev))
    labeler = Labeler.load(result.model, device="cpu")
    roles = {
        a.role for s in labeler.label_sentences(dev) for p in s.propositions for a in p.arguments
    }
    assert "NEW" in roles and "AM-TMP" not in roles
    assert "AM-TMP" in labeler.inventory.roles
    assert labeler.config.encoder.dropout == 0.1
    card = (result.model / "README.md").read_text()
    assert f"- started from the model model (sha256 {fingerprint(tiny)}), which was" in card
    assert 'train.from = "model"\n' in card


def test_a_stopped_run_is_resumed_exactly(tiny, tmp_path):
    recipe = start_recipe(tmp_path, tiny, "train.epochs=2")

    def stop(record):
        signal.raise_signal(signal.SIGTERM)

    ends = [run(recipe, tmp_path / "straight", device="cpu").model]
    with pytest.raises(Interrupted):
        run(recipe, tmp_path / "stopped", device="cpu", report=stop)
    assert load_checkpoint(tmp_path / "stopped" / "checkpoint.safetensors").state.epoch == 1
    ends.append(run(recipe, tmp_path / "stopped", device="cpu").model)
    first, second = map(load_weights, ends)
    assert all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def test_a_run_from_another_model_is_not_resumed(tiny, tmp_path):
    copy = shutil.copytree(tiny, tmp_path / "model")
    run(start_recipe(tmp_path, copy, "train.epochs=1"), tmp_path / "run", device="cpu")
    shutil.rmtree(copy)
    Labeler.load(tmp_path / "run" / "model", device="cpu").save(copy)
    with pytest.raises(ConfigError, match=r"recipe: train.from was \"model \(sha256 "):
        run(start_recipe(tmp_path, copy, "train.epochs=1"), tmp_path / "run", device="cpu")


def build(*settings: str):
    recipe = read_recipe(TINY, [*SETTINGS, *settings])
    return build_network(recipe, read_training_files(recipe.data))


def test_the_language_is_that_of_the_data():
    german = build("data.language=de").inventory
    assert (german.language, german.lemmatizer) == ("de", None)
    assert merge_inventories(build_inventory(SENTENCES), german).language == "de"
    assert merge_inventories(german, build_inventory(SENTENCES)).language == "de"


def test_seed_decides_the_weights():
    first, same, other = (build(f"train.seed={seed}").state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(value, same[name]) for name, value in first.items())
    assert not all(torch.equal(value, other[name]) for name, value in first.items())


def test_other_processes_draw_other_numbers():
    recipe = read_recipe(TINY, SETTINGS)
    corpus = read_training_files(recipe.data)
    weights, draws = [], []
    for rank in (0, 1):
        weights.append(build_network(recipe, corpus, rank=rank).state_dict())
        draws.append(torch.rand(4))
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())
    assert not torch.equal(*draws)
