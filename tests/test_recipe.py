"""Recipes are read, checked with all mistakes in one error, and compared."""

import json
from pathlib import Path

import pytest

from capsrl.config import DataConfig, Recipe, TrainConfig
from capsrl.errors import ConfigError
from capsrl.recipe import (
    DEFAULTS,
    defining_settings,
    load_values,
    read_recipe,
    recipe_paths,
    settings_by_name,
)
from capsrl.settings import flatten, to_values

ROOT = Path(__file__).resolve().parent.parent
RECIPES = sorted((ROOT / "recipes").glob("*.toml"))
GOOD = """
[data]
train = "corpus/train.conll09"
dev = "/elsewhere/dev.conll09"
test = { one = "corpus/one.conll09" }
[model.embeddings]
learned = 10
[train]
epochs = 7
learning_rate = 1
"""


def write(folder: Path, text: str = GOOD) -> Path:
    path = folder / "x.toml"
    path.write_text(text)
    return path


def problems(path: Path, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_recipe(path, overrides)
    return str(caught.value).splitlines()


def test_unnamed_settings_keep_their_defaults(tmp_path):
    recipe = read_recipe(write(tmp_path))
    assert recipe.train == TrainConfig(epochs=7, learning_rate=1)
    assert recipe.model.embeddings.learned == 10
    assert recipe.loss == Recipe(data=recipe.data).loss


def test_paths_are_relative_to_the_recipe(tmp_path):
    assert read_recipe(write(tmp_path)).data == DataConfig(
        train=str(tmp_path / "corpus/train.conll09"),
        dev="/elsewhere/dev.conll09",
        test={"one": str(tmp_path / "corpus/one.conll09")},
    )


def test_partial_files(tmp_path):
    path = write(tmp_path, GOOD.replace("[data]", '[data]\npartial = ["a.jsonl", "/b/b.jsonl"]'))
    recipe = read_recipe(path)
    assert recipe.data.partial == [str(tmp_path / "a.jsonl"), "/b/b.jsonl"]
    assert recipe_paths(recipe)["data.partial[1]"] == "/b/b.jsonl"
    assert settings_by_name(recipe)["data.partial"] == ["a.jsonl", "b.jsonl"]
    assert read_recipe(path, ['data.partial=["c.jsonl"]']).data.partial == ["c.jsonl"]
    assert problems(path, "data.partial=3") == [
        "--set: data.partial: expected a list of strings, got 3"
    ]


def test_a_transformer_is_a_folder_or_a_package(tmp_path):
    (tmp_path / "encoder").mkdir()
    path = tmp_path / "x.toml"

    def transformer(value: str) -> str | None:
        path.write_text(GOOD.replace("learned = 10", f'transformer = "{value}"'))
        return read_recipe(path).model.embeddings.transformer

    assert transformer("encoder") == str(tmp_path / "encoder")
    assert transformer("./missing") == str(tmp_path / "missing")
    assert transformer("some_package") == "some_package"


def test_overrides(tmp_path):
    recipe = read_recipe(
        write(tmp_path),
        (
            "train.epochs=3",
            "train.schedule=linear",
            "train.bf16=false",
            'data.name="a = b"',
            "data.train=here.conll09",
            "data.test.two=two.conll09",
            "train.learning_rate=",
        ),
    )
    assert (recipe.train.epochs, recipe.train.schedule, recipe.train.bf16) == (3, "linear", False)
    assert recipe.data.name == "a = b"
    assert recipe.data.train == "here.conll09"  # the command line means the working directory
    assert recipe.data.test["two"] == "two.conll09"
    assert recipe.train.learning_rate == TrainConfig().learning_rate


def test_all_bad_keys_in_one_error(tmp_path):
    path = write(
        tmp_path,
        """
        [data]
        train = "a"
        dev = "b"
        batch_words = 3
        [model.embeddings]
        learned = 10
        [train]
        lerning_rate = 1.0
        epochs = "many"
        bf16 = 1
        schedule = "steep"
        [zzz]
        a = 1
        """,
    )
    assert sorted(problems(path, "train.patience=1.5", "loss.xyzzy=1")) == [
        "--set: train.patience: expected an integer, got 1.5",
        "--set: unknown key loss.xyzzy; `capsrl train --keys` lists all",
        f"{path}: train.bf16: expected true or false, got 1",
        f'{path}: train.epochs: expected an integer, got "many"',
        f"{path}: train.schedule: expected 'constant', 'linear' or 'cosine', got \"steep\"",
        f"{path}: unknown key data.batch_words; did you mean train.batch_words?",
        f"{path}: unknown key train.lerning_rate; did you mean train.learning_rate?",
        f"{path}: unknown key zzz; `capsrl train --keys` lists all",
    ]


def test_numbers_out_of_range(tmp_path):
    path = write(tmp_path)
    found = problems(
        path,
        "model.encoder.dropout=1.0",
        "train.epochs=0",
        "train.clip_norm=nan",
        "train.layer_decay=1.1",
        "loss.l2=-1e-4",
    )
    assert sorted(found) == [
        "--set: loss.l2: expected at least 0, got -0.0001",
        "--set: model.encoder.dropout: expected at least 0 and below 1, got 1.0",
        "--set: train.clip_norm: expected above 0, got nan",
        "--set: train.epochs: expected at least 1, got 0",
        "--set: train.layer_decay: expected above 0 and at most 1, got 1.1",
    ]


def test_ranges_and_types_in_one_error(tmp_path):
    path = write(tmp_path)
    overrides = ("train.epochs=many", "train.batch_words=-5", "model.encoder.width=false")
    assert problems(path, *overrides) == [
        "--set: model.encoder.width: expected an integer, got false",
        '--set: train.epochs: expected an integer, got "many"',
        "--set: train.batch_words: expected at least 1, got -5",
    ]


def test_contradictions(tmp_path):
    path = write(tmp_path)
    found = problems(path, "model.embeddings.learned=", "model.embeddings.fine_tune=true")
    assert found == [
        f"{path}: model.embeddings: no source of word vectors is set: transformer, elmo, fasttext, "
        "learned, characters",
        "--set: model.embeddings.fine_tune: needs model.embeddings.transformer",
    ]


@pytest.mark.parametrize(
    "others",
    [
        (),
        ("model.embeddings.transformer=x", "model.embeddings.fine_tune=true"),
        ("model.embeddings.transformer=x", "model.embeddings.mark_predicate=true"),
    ],
)
def test_only_fixed_states_can_be_cached(tmp_path, others):
    path = write(tmp_path)
    assert problems(path, "train.cache_states=true", *others) == [
        "--set: train.cache_states: needs ELMo or a transformer with neither fine_tune nor "
        "mark_predicate, whose states do not change"
    ]
    for source in ("transformer=x", "elmo=x"):
        frozen = read_recipe(path, ["train.cache_states=true", f"model.embeddings.{source}"])
        assert frozen.train.cache_states


def test_l2_excludes_weight_decay(tmp_path):
    path = write(tmp_path)
    assert problems(path, "train.weight_decay=0.01") == [
        "--set: train.weight_decay: expected 0 where loss.l2 is not 0, got 0.01 and "
        "loss.l2 = 0.0004; set loss.l2 = 0.0 to use weight decay instead"
    ]
    assert read_recipe(path, ["train.weight_decay=0.01", "loss.l2=0.0"]).train.weight_decay == 0.01


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[train]\nepochs = 1\n[model.embeddings]\nlearned = 1",
            "data.train is missing; name",
        ),
        ("[data]\ntrain = 'a'\n[model.embeddings]\nlearned = 1", "data.dev is missing"),
        ("data = 3", "data: expected a table, got 3"),
        ("[data\n", "not TOML: .*line 1"),
    ],
)
def test_not_a_recipe(tmp_path, text, message):
    with pytest.raises(ConfigError, match=f"x.toml: {message}"):
        read_recipe(write(tmp_path, text))


def test_unreadable_file(tmp_path):
    with pytest.raises(ConfigError, match="none.toml: no such file"):
        read_recipe(tmp_path / "none.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="x.toml: not UTF-8 text"):
        read_recipe(tmp_path / "x.toml")


@pytest.mark.parametrize("override", ["train.epochs", "=3", "train..epochs=3"])
def test_malformed_override(tmp_path, override):
    with pytest.raises(ConfigError, match=f"--set {override}: expected KEY=VALUE"):
        read_recipe(write(tmp_path), [override])


def test_override_inside_a_value(tmp_path):
    with pytest.raises(
        ConfigError, match="--set train.epochs.x=1: expected a table at epochs, got 7"
    ):
        read_recipe(write(tmp_path), ["train.epochs.x=1"])


def test_recipe_paths(tmp_path):
    path = write(tmp_path)
    assert recipe_paths(read_recipe(path, ["model.embeddings.transformer=a_package"])) == {
        "data.train": str(tmp_path / "corpus/train.conll09"),
        "data.dev": "/elsewhere/dev.conll09",
        "data.test.one": str(tmp_path / "corpus/one.conll09"),
    }
    paths = recipe_paths(read_recipe(path, ["model.embeddings.transformer=../encoder"]))
    assert paths["model.embeddings.transformer"] == "../encoder"


def test_defining_settings():
    settings = defining_settings({"train.epochs": 3, "train.cache_states": True, "data.name": "x"})
    assert settings["train.epochs"] == 3
    assert settings["train.patience"] == TrainConfig().patience
    cosmetic = {
        "train.checkpoint_every",
        "train.cache_states",
        "train.precision",
        "train.workers",
        "data.name",
        "data.license",
    }
    unused = {"data.partial_share", "distill.gold", "distill.weight", "distill.temperature"}
    assert DEFAULTS.keys() - settings.keys() == cosmetic | unused
    used = defining_settings({"data.partial": ["x"], "distill.shards": "soft"})
    assert unused <= used.keys()


@pytest.mark.parametrize(
    ("variant", "iterations", "ignored"),
    [
        ("capsule", 2, set()),
        ("capsule", 1, {"loss.intermediate_weight"}),
        ("word", 2, {"loss.intermediate_weight", "model.capsules.iterations"}),
    ],
)
def test_iterations_that_do_not_matter(variant, iterations, ignored):
    capsules = {"model.capsules.variant": variant, "model.capsules.iterations": iterations}
    keys = {"loss.intermediate_weight", "model.capsules.iterations"}
    assert keys - defining_settings(capsules).keys() == ignored


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_shipped_recipes_are_valid(path):
    assert read_recipe(path).data.license


def test_shipped_recipes_name_no_defaults():
    for path in RECIPES:
        recipe = read_recipe(path)
        defaults = flatten(to_values(Recipe(data=recipe.data)))
        said = flatten({k: v for k, v in load_values(path).items() if k != "data"})
        assert [key for key, value in said.items() if value == defaults[key]] == [], path


@pytest.mark.parametrize("name", ["paper-english", "paper-multilingual", "authors-code"])
def test_recipes_after_the_paper(name):
    """What they have in common: docs/paper.md."""
    recipe = read_recipe(ROOT / "recipes" / f"{name}.toml")
    model, loss, train = recipe.model, recipe.loss, recipe.train
    dropout = model.embeddings.dropout, model.encoder.recurrent_dropout
    dropout += model.encoder.output_dropout, model.capsules.projection_dropout
    assert dropout == (0.3, 0.3, 0.3, 0.3) and model.encoder.dropout == 0
    assert (model.encoder.width, model.capsules.size, model.capsules.iterations) == (500, 16, 2)
    assert (model.capsules.predicate, model.capsules.form) == ("state", "dense")
    assert (loss.predicates, loss.uniqueness, loss.intermediate_weight) == (0, 0, 0)
    assert (loss.sense, loss.sense_per, loss.uniqueness_per) == (1, "word", "proposition")
    if name == "authors-code":
        assert model.encoder.highway and model.embeddings.tags == 64 and loss.gumbel
        assert (loss.l2, loss.l2_on, train.learning_rate) == (1e-4, "mix", 4e-4)
        assert (model.capsules.global_from, model.capsules.global_bias) == ("squashed", False)
    else:
        assert not model.encoder.highway and model.embeddings.tags == 0 and not loss.gumbel
        assert (loss.l2, loss.l2_on, train.learning_rate) == (4e-4, "all", 1e-4)
        assert model.capsules.global_from == "intermediate"


def make_model(folder: Path, **changes: object) -> Path:
    """Write the settings of a model, all that a recipe reads of it."""
    folder.mkdir()
    embeddings = {"transformer": "../encoders/some", "fine_tune": True}
    config = {"format": 1, "phrase_width": 8, "embeddings": embeddings, **changes}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def write_start(tmp_path: Path, model: str, *lines: str) -> Path:
    path = tmp_path / "recipe.toml"
    data = '[data]\ntrain = "a"\ndev = "b"\n'
    path.write_text("\n".join([data, "[train]", f'from = "{model}"', *lines]))
    return path


def test_settings_of_the_start_model(tmp_path):
    make_model(tmp_path / "start")
    changes = ("[model.embeddings]", "dropout = 0.3", "[model.capsules]", "iterations = 4")
    recipe = read_recipe(write_start(tmp_path, "start", *changes))
    assert recipe.train.from_ == str(tmp_path / "start")
    assert (recipe.model.phrase_width, recipe.model.embeddings.fine_tune) == (8, True)
    assert recipe.model.embeddings.transformer == "../encoders/some"
    assert (recipe.model.embeddings.dropout, recipe.model.capsules.iterations) == (0.3, 4)
    assert settings_by_name(recipe)["train.from"] == "start"
    assert recipe_paths(recipe)["train.from"] == str(tmp_path / "start")


def test_a_shipped_model_is_named(tmp_path):
    (tmp_path / "en").mkdir()  # as in capsrl.load, the name comes first
    recipe = read_recipe(write_start(tmp_path, "en"))
    assert recipe.train.from_ == "en" and recipe.model.tagger
    assert "train.from" not in recipe_paths(recipe)


def test_settings_that_conflict_with_the_start_model(tmp_path):
    make_model(tmp_path / "start")
    path = write_start(tmp_path, "start", "[model]", "phrase_width = 4", "[model.embeddings]")
    assert problems(path, "model.embeddings.learned=7") == [
        f"{path}: model.phrase_width: expected 8 as in {tmp_path / 'start'}, from which training "
        "starts, got 4; remove it",
        f"--set: model.embeddings.learned: expected 0 as in {tmp_path / 'start'}, from which "
        "training starts, got 7; remove it",
    ]


def test_no_start_model(tmp_path):
    path = write_start(tmp_path, "nowhere")
    assert problems(path) == [
        f"{path}: train.from: {tmp_path / 'nowhere'}: not a model folder, nor the name of a "
        "model that ships with capsrl (en)"
    ]
    make_model(tmp_path / "new", format=99)
    [problem] = problems(write_start(tmp_path, "new"))
    assert "config.json: expected a model folder of format 1 or older, got 99" in problem


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "1" * 5000,
        "#" * (1 << 19),
        ".".join("a" * 5000) + " = 1",  # 100 MB, and a hundred times as much for ten times as many
        "x = {" + ".".join("a" * 5000) + " = 1}",
    ],
    ids=["deep", "long number", "long", "long key", "long key in a table"],
)
def test_toml_beyond_the_limits_of_the_parser_is_a_config_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="not TOML"):
        load_values(path)


def test_name_longer_than_a_file_system_allows_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(f'[model.embeddings]\ntransformer = "{"x" * 5000}"')
    assert load_values(path)["model"]["embeddings"]["transformer"] == "x" * 5000
