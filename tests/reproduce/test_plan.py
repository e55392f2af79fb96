"""The runs of a plan, their names, and the mistakes of a plan."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from capsrl.errors import ConfigError, DataError
from reproduce.plan import read_plan
from tests.helpers.tiny_plans import EXPERIMENT, ROOT, corpus, write_plan

PLANS = sorted((ROOT / "plans").glob("*.toml"))


def labels(path):
    return [run.label for run in read_plan(path)]


def mistakes(path):
    with pytest.raises(ConfigError) as caught:
        read_plan(path)
    return str(caught.value).splitlines()


def experiment(**lists):
    """An experiment on the corpus `one`, each list as TOML."""
    given = {"corpora": '["one"]', "variants": '["capsule"]', "seeds": "[1]"} | lists
    return "\n".join(["[[experiments]]", *(f"{key} = {value}" for key, value in given.items())])


def test_every_combination_in_the_order_of_the_plan(tmp_path):
    given = experiment(
        variants='["word", "capsule"]', seeds="[2, 1]", iterations="[1, 3]", uniqueness="[0, 0.5]"
    )
    path = write_plan(tmp_path, corpus() + given)
    assert labels(path) == [
        *("one word eta0 seed2", "one word eta0.5 seed2"),  # nothing to iterate
        *("one word eta0 seed1", "one word eta0.5 seed1"),
        *("one capsule n1 eta0 seed2", "one capsule n1 eta0.5 seed2"),
        *("one capsule n3 eta0 seed2", "one capsule n3 eta0.5 seed2"),
        *("one capsule n1 eta0 seed1", "one capsule n1 eta0.5 seed1"),
        *("one capsule n3 eta0 seed1", "one capsule n3 eta0.5 seed1"),
    ]
    runs = {run.label: run.recipe for run in read_plan(path)}
    recipe = runs["one capsule n3 eta0.5 seed2"]
    assert recipe.model.capsules.variant == "capsule"
    assert recipe.model.capsules.iterations == 3
    assert (recipe.loss.uniqueness, recipe.train.seed) == (0.5, 2)
    assert runs["one word eta0 seed1"].model.capsules.iterations == 2  # as in the recipe
    assert len({run.name for run in read_plan(path)}) == 12


def test_what_an_experiment_does_not_say_is_as_in_the_recipe(tmp_path):
    changes = ("model.capsules.iterations = 4", "loss.uniqueness = 0.25")
    path = write_plan(tmp_path, corpus(changes=changes) + experiment())
    assert labels(path) == ["one capsule n4 eta0.25 seed1"]


def test_what_two_experiments_ask_for_is_run_once(tmp_path):
    grid = experiment(iterations="[1, 2]", uniqueness="[0.0, 1.0]")
    path = write_plan(tmp_path, corpus() + experiment(seeds="[1, 2, 1]") + "\n" + grid)
    assert labels(path) == [
        "one capsule n2 eta0 seed1",
        "one capsule n2 eta0 seed2",
        "one capsule n1 eta0 seed1",
        "one capsule n1 eta1 seed1",
        "one capsule n2 eta1 seed1",
    ]


def test_changes_to_the_recipe_and_descriptions(tmp_path):
    words = 'language = "English"\nannotation = "gold"\nencoder = "words"\npaper = "en"\n'
    path = write_plan(tmp_path, corpus(changes=["train.epochs = 5"]) + words + EXPERIMENT)
    run = read_plan(path)[0]
    assert (run.recipe.train.epochs, run.recipe.model.encoder.width) == (5, 8)
    assert run.recipe.model.embeddings.learned == 64  # from the recipe
    about = run.corpus
    assert (run.corpus_name, about.language, about.annotation) == ("one", "English", "gold")
    assert (about.encoder, about.paper) == ("words", "en")


def test_paths_are_relative_to_the_plan(tmp_path, monkeypatch):
    changes = (
        'model.embeddings.fasttext = "./vectors/x.vec"',
        'model.embeddings.transformer = "a-package"',
        'data.frames = "../frames"',
    )
    path = write_plan(tmp_path / "plans", corpus(changes=changes) + 'ood = "ood.conll09"\n')
    path.write_text(path.read_text() + EXPERIMENT)
    shutil.copy(tmp_path / "plans" / "corpus" / "dev.conll09", tmp_path / "plans" / "ood.conll09")
    monkeypatch.chdir(tmp_path)
    recipe = read_plan(Path("plans/plan.toml"))[0].recipe
    assert recipe.model.embeddings.fasttext == "plans/vectors/x.vec"
    assert recipe.model.embeddings.transformer == "a-package"
    assert recipe.data.frames == "frames"
    assert recipe.data.train == "plans/corpus/train.conll09"
    assert recipe.data.dev == "plans/corpus/dev.conll09"
    # Instead of the test files of the recipe.
    assert recipe.data.test == {"test": "plans/corpus/dev.conll09", "ood": "plans/ood.conll09"}


def names(folder, *changes, text=None):
    path = write_plan(folder, text or corpus(changes=changes) + EXPERIMENT)
    return [run.name for run in read_plan(path)]


def test_a_name_is_the_label_and_a_digest(tmp_path):
    first, second = names(tmp_path)
    assert re.fullmatch("one_baseline_eta0_seed1_[0-9a-f]{8}", first)
    assert re.fullmatch("one_capsule_n2_eta0_seed1_[0-9a-f]{8}", second)
    assert first[-8:] != second[-8:]


@pytest.mark.parametrize(
    "change", ["train.epochs = 61", 'data.language = "de"', "model.encoder.dropout = 0.1"]
)
def test_another_setting_is_another_run(tmp_path, change):
    assert set(names(tmp_path)).isdisjoint(names(tmp_path, change))


@pytest.mark.parametrize("change", ["train.checkpoint_every = 0", 'data.name = "x"'])
def test_settings_without_effect_do_not_make_another_run(tmp_path, change):
    assert names(tmp_path) == names(tmp_path, change)


def test_iterations_make_another_run_only_with_routing(tmp_path):
    variants = EXPERIMENT.replace('"baseline", "capsule"', '"baseline", "word", "capsule"')
    *unrouted, routed = names(tmp_path, text=corpus() + variants)
    changes = ["model.capsules.iterations = 3"]
    *again, other = names(tmp_path, text=corpus(changes=changes) + variants)
    assert unrouted == again
    assert routed != other


@pytest.mark.parametrize("file", ["train", "dev", "ood"])
def test_another_content_of_a_file_is_another_run(tmp_path, file):
    tables = corpus() + 'ood = "corpus/ood.conll09"\n' + EXPERIMENT
    write_plan(tmp_path, tables)
    shutil.copy(tmp_path / "corpus" / "dev.conll09", tmp_path / "corpus" / "ood.conll09")
    before = names(tmp_path, text=tables)
    assert names(tmp_path, text=tables) == before
    with open(tmp_path / "corpus" / f"{file}.conll09", "a") as changed:
        changed.write("\n")
    assert set(names(tmp_path, text=tables)).isdisjoint(before)


def test_the_place_of_plan_and_files_does_not_matter(tmp_path, monkeypatch):
    before = names(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    monkeypatch.chdir(tmp_path)
    assert [run.name for run in read_plan(Path("there/plan.toml"))] == before


def test_all_mistakes_at_once(tmp_path):
    path = write_plan(
        tmp_path,
        """
        corpra = 1
        [corpora.one]
        recipe = "x.toml"
        trian = "x"
        dev = 3
        test = "x"
        set = [1]
        [corpora.two]
        recipe = "x.toml"
        train = "x"
        dev = "x"
        test = "x"
        set = { data = "x" }
        paper = "cz"
        [corpora."a/b"]
        recipe = "x.toml"
        train = "x"
        dev = "x"
        test = "x"
        [[experiments]]
        corpora = ["one", "three"]
        variants = "capsule"
        seeds = []
        [[experiments]]
        variants = ["capsule", "capsules"]
        seeds = [1, -1, true, 1.0]
        iterations = [0, 2]
        uniqueness = [0, -0.1, nan, inf, "x"]
        sedes = [1]
        """,
    )
    found = mistakes(path)
    for wanted in (
        "corpra: expected one of corpora, experiments, got another key; did you mean corpora?",
        "corpora.one.train: expected a value, got none",
        "corpora.one.trian: expected one of recipe, set, train, dev, test, ood, language, "
        "annotation, encoder, paper, got another key; did you mean train?",
        "corpora.one.dev: expected a valid string, got 3",
        "corpora.one.set: expected a valid dictionary, got [1]",
        "corpora.two.paper: expected '', 'ja', 'es', 'ca', 'de', 'cs', 'zh' or 'en', got 'cz'",
        "corpora.a/b: expected a name of letters, digits and . _ + -, got 'a/b'",
        "experiments.0.variants: expected a valid list, got 'capsule'",
        "experiments.0.seeds: expected at least one item, got []",
        "experiments.1.corpora: expected a value, got none",
        "experiments.1.variants.1: expected 'baseline', 'word', 'capsule' or 'capsule+global', "
        "got 'capsules'",
        "experiments.1.seeds.1: expected greater than or equal to 0, got -1",
        "experiments.1.seeds.2: expected a valid integer, got True",
        "experiments.1.seeds.3: expected a valid integer, got 1.0",
        "experiments.1.iterations.0: expected greater than or equal to 1, got 0",
        "experiments.1.uniqueness.1: expected greater than or equal to 0, got -0.1",
        "experiments.1.uniqueness.2: expected a finite number, got nan",
        "experiments.1.uniqueness.3: expected a finite number, got inf",
        "experiments.1.uniqueness.4: expected a valid number, got 'x'",
        "experiments.1.sedes: expected one of corpora, variants, seeds, iterations, uniqueness, "
        "got another key; did you mean seeds?",
    ):
        assert found.pop(found.index(f"{path}: {wanted}"))
    assert found == []


def test_a_corpus_that_is_not_there(tmp_path):
    path = write_plan(tmp_path, corpus() + experiment(corpora='["one", "two"]'))
    assert mistakes(path) == [f"{path}: experiments.0.corpora: expected one of one, got 'two'"]


def test_mistakes_in_the_recipes_of_all_corpora(tmp_path):
    tables = corpus("one", changes=["train.epoch = 3"]), corpus("two", changes=["train.epochs = 0"])
    path = write_plan(tmp_path, "".join(tables) + corpus("three", recipe="no.toml") + EXPERIMENT)
    first, second, third = mistakes(path)
    assert first.startswith(f"{path}: corpora.one.set: unknown key train.epoch; did you mean")
    assert second.startswith(f"{path}: corpora.two.set: train.epochs: expected at least 1, got 0")
    assert third == f"{tmp_path / 'no.toml'}: no such file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "corpora: expected a value, got none"),
        ("corpora = 3", "corpora: expected a valid dictionary, got 3"),
        (corpus(), "experiments: expected a value, got none"),
        (corpus() + "[experiments]\nx = 3", "experiments: expected a valid list, got {'x': 3}"),
        ("[corpora", "expected TOML, got a syntax error: "),
    ],
)
def test_files_that_are_not_plans(tmp_path, text, message):
    path = write_plan(tmp_path, text)
    assert mistakes(path)[0].startswith(f"{path}: {message}")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: no such file"):
        read_plan(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"bytes\.toml: expected TOML, got a syntax error: 'utf"):
        read_plan(tmp_path / "bytes.toml")
    path = write_plan(tmp_path, corpus() + EXPERIMENT)
    (tmp_path / "corpus" / "dev.conll09").unlink()
    with pytest.raises(DataError, match=r"corpus/dev\.conll09: no such file"):
        read_plan(path)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plans_in_the_repository(path, request):
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    files = [table[key] for table in values["corpora"].values() for key in ("train", "test")]
    if any("shared/" in file for file in files):
        request.getfixturevalue("shared")
    missing = [file for file in files if not (path.parent / file).exists()]
    if missing and "shared/" not in missing[0]:
        pytest.skip(f"no {missing[0]}, which is not for everyone to have")
    runs = read_plan(path)
    asked = {name for table in values["experiments"] for name in table["corpora"]}
    assert {run.corpus_name for run in runs} == asked == set(values["corpora"])
    assert len({run.name for run in runs}) == len(runs) >= 6
