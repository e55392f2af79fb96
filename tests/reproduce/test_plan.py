"""The runs of a plan, their names, and the mistakes of a plan."""

import lzma
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from capsrl.errors import ConfigError
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
        *("one capsule n1 eta0 seed2", "one capsule n1 eta0.5 seed2"),
        *("one capsule n3 eta0 seed2", "one capsule n3 eta0.5 seed2"),
        *("one word eta0 seed1", "one word eta0.5 seed1"),
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
    assert (about.name, about.language, about.annotation) == ("one", "English", "gold")
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
        axes = { sentences = [0], frames = ["on"], train.epochs = 3 }
        """,
    )
    found = mistakes(path)
    for wanted in (
        "corpra: expected one of corpora, experiments, got another key; did you mean corpora?",
        "corpora.one.train: expected a value, got none",
        "corpora.one.trian: expected one of recipe, train, dev, test, ood, set, language, "
        "annotation, encoder, paper, got another key; did you mean train?",
        "corpora.one.dev: expected a string, got 3",
        "corpora.one.set: expected a table, got [1]",
        "corpora.two.paper: expected one of ja, es, ca, de, cs, zh, en, got 'cz'",
        "corpora.a/b: expected a name of letters, digits and . _ + -",
        "experiments.0.variants: expected a list of some of baseline, word, capsule, "
        "capsule+global, got 'capsule'",
        "experiments.0.corpora: expected one of one, two, a/b, got 'three'",
        "experiments.0.seeds: expected a list of integers of at least 0, got []",
        "experiments.1.corpora: expected a value, got none",
        "experiments.1.variants: expected a list of some of baseline, word, capsule, "
        "capsule+global, got ['capsule', 'capsules']",
        "experiments.1.seeds: expected a list of integers of at least 0, got [1, -1, True, 1.0]",
        "experiments.1.iterations: expected a list of integers of at least 1, got [0, 2]",
        "experiments.1.uniqueness: expected a list of numbers of at least 0, "
        "got [0, -0.1, nan, inf, 'x']",
        'experiments.1.axes.sentences: expected numbers, "all" or tables with a name and '
        "settings, got [0]",
        "experiments.1.axes.frames: expected tables with a name and settings, got ['on']",
        "experiments.1.axes.train.epochs: expected a list of values, got 3",
        "experiments.1.sedes: expected one of corpora, variants, seeds, makes, iterations, "
        "uniqueness, axes, got another key; did you mean seeds?",
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
        ("corpora = 3", "experiments: expected a value, got none"),
        (corpus(), "experiments: expected a value, got none"),
        (corpus() + "[experiments]\nx = 3", "experiments: expected a list of tables, got {'x': 3}"),
        ("[corpora", "not TOML: "),
    ],
)
def test_files_that_are_not_plans(tmp_path, text, message):
    path = write_plan(tmp_path, text)
    assert mistakes(path)[0].startswith(f"{path}: {message}")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: no such file"):
        read_plan(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"bytes\.toml: not UTF-8 text"):
        read_plan(tmp_path / "bytes.toml")
    path = write_plan(tmp_path, corpus() + EXPERIMENT)
    (tmp_path / "corpus" / "dev.conll09").unlink()
    with pytest.raises(ConfigError, match=r"corpus/dev\.conll09: no such file \(for one\)"):
        read_plan(path)


def stand_in(path):
    """Make a file, or a folder of an encoder, that is enough for a plan to be read."""
    if "." in path.name:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(f"1\t{path}\t{i}\n\n" for i in range(5000)).encode()
        path.write_bytes(lzma.compress(data, preset=0) if path.suffix == ".xz" else data)
    else:
        path.mkdir(parents=True)
        for name in ("config.json", "tokenizer.json", "options.json", "weights.hdf5"):
            (path / name).touch()


@pytest.mark.parametrize("name", [path.stem for path in PLANS])
def test_plans_in_the_repository(name, tmp_path, monkeypatch):
    """They read nothing outside the repository, and with all files there they can be run."""
    monkeypatch.chdir(tmp_path)
    for folder in ("plans", "recipes", "capsrl/models/en"):
        shutil.copytree(ROOT / folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    path = Path("plans", f"{name}.toml")
    if name != "tiny":
        heading, *missing = mistakes(path)
        assert heading.startswith(f"{len(missing)} missing; docs/corpora.md")
        for line in missing:
            file = Path(line.partition(": no such ")[0])
            assert file.parts[0] in ("data", "encoders", "conll2009")
            stand_in(file)
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    runs = read_plan(path)
    asked = {name for table in values["experiments"] for name in table["corpora"]}
    assert {run.corpus.name for run in runs} == asked == set(values["corpora"])
    assert len({run.name for run in runs}) == len(runs) >= 6


def test_any_setting_is_an_axis(tmp_path):
    axes = """
    axes.train.epochs = [60, 7]
    axes.rate = [{ name = "same" }, { name = "low", train.learning_rate = 1e-5, loss.l2 = 0.1 }]
    """
    path = write_plan(tmp_path, corpus() + experiment() + axes)
    runs = read_plan(path)
    assert [(run.axes, run.recipe.train.epochs, run.recipe.loss.l2) for run in runs] == [
        ({}, 60, 0.0),  # as in the recipe
        ({"rate": "low"}, 60, 0.1),
        ({"epochs": "7"}, 7, 0.0),
        ({"epochs": "7", "rate": "low"}, 7, 0.1),
    ]
    assert runs[3].label == "one capsule n2 eta0 epochs=7 rate=low seed1"
    assert runs[0].name == read_plan(write_plan(tmp_path, corpus() + experiment()))[0].name
    path = write_plan(tmp_path, corpus() + experiment() + "\naxes.train.epoch = [1]\n")
    assert mistakes(path)[0].startswith(f"{path}: experiments: unknown key train.epoch; did you")


def test_numbers_of_training_sentences(tmp_path):
    path = write_plan(tmp_path, corpus() + experiment() + '\naxes.sentences = [5, 9, "all"]\n')
    runs = read_plan(path, cuts=tmp_path / "cuts")
    assert [run.axes.get("sentences") for run in runs] == ["5", "9", None]
    files = [Path(run.recipe.data.train).read_text(encoding="utf-8") for run in runs]
    blocks = [text.split("\n\n")[:-1] for text in files]
    assert [len(found) for found in blocks] == [5, 9, 28]
    assert runs[2].recipe.data.train == str(tmp_path / "corpus" / "train.conll09")
    for few, many in ((0, 1), (1, 2)):  # the fewer are among the more, in the same order
        assert blocks[few] == [block for block in blocks[many] if block in blocks[few]]


def test_changes_and_seeds_of_the_command_line(tmp_path):
    path = write_plan(tmp_path, corpus() + experiment())
    runs = read_plan(path, changes=["train.epochs=3", "data.name=x"], seeds=[4, 5])
    assert [run.label for run in runs] == [
        f"one capsule n2 eta0 epochs=3 seed{seed}" for seed in (4, 5)
    ]
    with pytest.raises(ConfigError, match="--set: unknown key train.epoch;"):
        read_plan(path, changes=["train.epoch=3"])


def test_only_what_a_table_needs(tmp_path):
    tables = experiment(makes='["table1", "fig4"]') + "\n" + experiment(variants='["word"]')
    path = write_plan(tmp_path, corpus() + tables)
    assert [run.label for run in read_plan(path, only="fig4")] == ["one capsule n2 eta0 seed1"]
    assert read_plan(path, only="fig1") == []
    with pytest.raises(ConfigError, match="expected one of fig1, fig2, table1, fig4 to make, got"):
        read_plan(path, only="table2")
