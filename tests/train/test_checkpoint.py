"""Checkpoints are restored exactly; those of other runs and damaged ones are refused."""

import dataclasses
import random

import numpy as np
import pytest
import torch
from torch import nn

from capsrl.config import (
    CapsulesConfig,
    DataConfig,
    EmbeddingsConfig,
    LossConfig,
    ModelConfig,
    Recipe,
    TrainConfig,
)
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.train.checkpoint import (
    State,
    check_resumable,
    load_checkpoint,
    optimizer_tensors,
    random_tensors,
    restore_optimizer,
    restore_random,
    run_fingerprint,
    save_checkpoint,
)

STATE = State(epoch=3, position=7, step=99, best_f1=81.25, best_epoch=2, seconds=1.5, log_size=10)


def make_recipe(folder, **data) -> Recipe:
    for name in ("train.conll09", "dev.conll09"):
        (folder / name).write_text(f"1\t{name}\n\n")
    files = {"train": str(folder / "train.conll09"), "dev": str(folder / "dev.conll09")}
    return Recipe(data=DataConfig(**{**files, **data}))


def test_round_trip(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    flat = torch.arange(6.0)
    tensors = {"a": flat[:3], "b": flat[2:], "t": torch.ones(2, 3).T, "i": torch.tensor(5)}
    save_checkpoint(path, tensors, STATE, {"train.epochs": 3})
    found = load_checkpoint(path)
    assert found.state == STATE
    assert found.fingerprint == {"train.epochs": 3}
    assert found.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(found.tensors[name], tensor)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_failed_write_keeps_the_old_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, {"a": torch.ones(1)}, STATE, {})
    with pytest.raises(TypeError):
        save_checkpoint(path, {"a": torch.zeros(1)}, STATE, {"x": object()})
    assert load_checkpoint(path).tensors["a"] == 1


@pytest.mark.parametrize("damage", ["cut", "text", "foreign"])
def test_damaged_checkpoint(tmp_path, damage):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, {"a": torch.ones(100)}, STATE, {})
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-8])
    elif damage == "text":
        path.write_text("not a checkpoint at all")
    else:
        from safetensors.torch import save_file

        save_file({"a": torch.ones(1)}, path)
    match = "checkpoint.safetensors: not a checkpoint of capsrl: .*; delete it"
    with pytest.raises(ModelError, match=match):
        load_checkpoint(path)


def test_every_damaged_byte_is_noticed(tmp_path):
    """In tensors, their names and the state; the seal itself is no loss."""
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, {"a": torch.ones(5), "b": torch.arange(3)}, STATE, {"x": "y"})
    data = path.read_bytes()
    mark = data.index(b'"sha256":"')
    for place in (*range(mark), *range(mark + 10, len(data))):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ModelError, match="not a checkpoint of capsrl: .*; delete it"):
            load_checkpoint(path)
    path.write_bytes(data)
    assert load_checkpoint(path).fingerprint == {"x": "y"}


@pytest.mark.parametrize("header", ["[]", "3", "{}", '{"format": 2}', "[" * 9999])
def test_checkpoints_with_another_header(tmp_path, header):
    from safetensors.torch import save_file

    path = tmp_path / "checkpoint.safetensors"
    save_file({"a": torch.ones(1)}, path, metadata={"capsrl": header})
    with pytest.raises(ModelError, match="not a checkpoint of capsrl: .*; delete it"):
        load_checkpoint(path)


def test_other_format(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.safetensors"
    monkeypatch.setattr("capsrl.train.checkpoint._VERSION", 7)
    save_checkpoint(path, {}, STATE, {})
    monkeypatch.undo()
    with pytest.raises(ModelError, match="expected checkpoint format 2, got 7"):
        load_checkpoint(path)


def test_other_recipe(tmp_path):
    recipe = make_recipe(tmp_path)
    other = dataclasses.replace(
        recipe,
        train=TrainConfig(epochs=5, seed=4),
        model=ModelConfig(embeddings=EmbeddingsConfig(learned=3)),
    )
    check_resumable(tmp_path, run_fingerprint(recipe), run_fingerprint(recipe), STATE)
    with pytest.raises(ConfigError) as caught:
        check_resumable(tmp_path, run_fingerprint(recipe), run_fingerprint(other), STATE)
    assert str(caught.value) == (
        f"{tmp_path}: belongs to another recipe: model.embeddings.learned was 0, now 3, "
        "train.epochs was 100, now 5, train.seed was 1, now 4; name another folder with --out, or "
        "delete this one"
    )


def with_epochs(recipe, epochs, **settings):
    train = TrainConfig(epochs=epochs, **settings)
    return run_fingerprint(dataclasses.replace(recipe, train=train))


def test_a_run_of_constant_rates_may_have_more_epochs(tmp_path):
    recipe = make_recipe(tmp_path)
    short, long = (with_epochs(recipe, n, warmup=0.0) for n in (6, 12))
    check_resumable(tmp_path, short, long, State(epoch=6))
    check_resumable(tmp_path, long, short, State(epoch=6))
    for state in (State(epoch=6, position=1), State(epoch=7)):
        with pytest.raises(ConfigError, match="train.epochs was 12, now 6;.*this one$"):
            check_resumable(tmp_path, long, short, state)


@pytest.mark.parametrize("settings", [{}, {"warmup": 0.0, "schedule": "linear"}])
def test_other_runs_are_trained_further_by_another_run(tmp_path, settings):
    recipe = make_recipe(tmp_path)
    short, long = (with_epochs(recipe, n, **settings) for n in (6, 12))
    model = tmp_path / "model"
    with pytest.raises(ConfigError, match=rf"was 6, now 12;.* with --set train.from={model}$"):
        check_resumable(tmp_path / "checkpoint.safetensors", short, long, State(epoch=6))


def test_cosmetic_settings_may_differ(tmp_path):
    recipe = make_recipe(tmp_path)
    other = dataclasses.replace(
        recipe,
        train=TrainConfig(checkpoint_every=7, cache_states=True),
        data=dataclasses.replace(recipe.data, name="x", license="y"),
    )
    assert run_fingerprint(other) != run_fingerprint(recipe)
    check_resumable(tmp_path, run_fingerprint(recipe), run_fingerprint(other), STATE)


def test_iterations_may_differ_without_routing(tmp_path):
    recipe = make_recipe(tmp_path)

    def fingerprint(variant, iterations):
        capsules = CapsulesConfig(variant=variant, iterations=iterations)
        return run_fingerprint(dataclasses.replace(recipe, model=ModelConfig(capsules=capsules)))

    for variant in ("baseline", "word"):
        check_resumable(tmp_path, fingerprint(variant, 2), fingerprint(variant, 3), STATE)
    for variant in ("capsule", "capsule+global"):
        with pytest.raises(ConfigError, match="recipe: model.capsules.iterations was 2, now 3;"):
            check_resumable(tmp_path, fingerprint(variant, 2), fingerprint(variant, 3), STATE)


def test_missing_keys_have_their_defaults(tmp_path):
    recipe = make_recipe(tmp_path)
    now = run_fingerprint(recipe)
    then = {key: value for key, value in now.items() if key != "loss.intermediate_weight"}
    check_resumable(tmp_path, then, now, STATE)
    changed = run_fingerprint(dataclasses.replace(recipe, loss=LossConfig(intermediate_weight=0.5)))
    with pytest.raises(ConfigError, match="recipe: loss.intermediate_weight was 0.0, now 0.5;"):
        check_resumable(tmp_path, then, changed, STATE)


def test_only_differences_are_named(tmp_path):
    recipe = make_recipe(tmp_path)
    first, second = (
        run_fingerprint(dataclasses.replace(recipe, model=ModelConfig(capsules=capsules)))
        for capsules in (CapsulesConfig(variant="baseline"), CapsulesConfig(variant="capsule"))
    )
    variants = 'recipe: model.capsules.variant was "baseline", now "capsule";'
    with pytest.raises(ConfigError, match=variants):
        check_resumable(tmp_path, first, second, STATE)


def test_files_are_compared_by_content(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = make_recipe(tmp_path / "a"), make_recipe(tmp_path / "b", test={"x": "y"})
    assert run_fingerprint(first) == run_fingerprint(second)
    (tmp_path / "b" / "train.conll09").write_text("other\n")
    with pytest.raises(ConfigError, match=r"recipe: data.train was \"train.conll09 \(sha256 "):
        check_resumable(tmp_path, run_fingerprint(first), run_fingerprint(second), STATE)


def test_missing_file(tmp_path):
    recipe = make_recipe(tmp_path, train="nowhere.conll09")
    with pytest.raises(DataError, match="nowhere.conll09: no such file"):
        run_fingerprint(recipe)


def test_restored_optimizer_continues_exactly():
    def steps(net, optimizer, n):
        for _ in range(n):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()

    def make():
        torch.manual_seed(0)
        net = nn.Linear(3, 2)
        return net, torch.optim.AdamW([{"params": [net.weight]}, {"params": [net.bias]}])

    straight, straight_optimizer = make()
    steps(straight, straight_optimizer, 5)
    net, optimizer = make()
    steps(net, optimizer, 2)
    saved = {name: tensor.clone() for name, tensor in optimizer_tensors(optimizer).items()}
    assert len(saved) == 6
    resumed, fresh = make()
    resumed.load_state_dict(net.state_dict())
    restore_optimizer(fresh, {**saved, "weight.x": torch.ones(1)})
    steps(resumed, fresh, 3)
    assert torch.equal(resumed.weight, straight.weight)
    assert torch.equal(resumed.bias, straight.bias)


def test_restored_generators_continue_exactly():
    def draw():
        return (
            random.random(),
            random.gauss(),
            np.random.standard_normal(3).tolist(),  # noqa: NPY002
            torch.rand(3).tolist(),
        )

    random.gauss()  # leaves the second of a pair behind
    np.random.standard_normal()  # noqa: NPY002
    state = {
        name: tensor.clone()
        for name, tensor in random_tensors(lambda state: state.unsqueeze(0)).items()
    }
    first = draw()
    assert draw() != first
    restore_random(state, rank=1)  # a process that is new
    assert draw() != first
    restore_random(state, rank=0)
    assert draw() == first
