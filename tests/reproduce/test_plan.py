"""A plan says which runs; what is wrong with it is said at once, and by name."""

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


def test_changes_to_the_recipe_and_words_for_the_report(tmp_path):
    words = 'language = "English"\nannotation = "gold"\nencoder = "words"\npaper = "en"\n'
    path = write_plan(tmp_path, corpus(changes=["train.epochs = 5"]) + words + EXPERIMENT)
    run = read_plan(path)[0]
    assert (run.recipe.train.epochs, run.recipe.model.encoder.width) == (5, 8)
    assert run.recipe.model.embeddings.learned == 64  # of the recipe
    assert run.recipe.train.learning_rate == 3e-3
    about = run.corpus
    assert (about.name, about.language, about.annotation) == ("one", "English", "gold")
    assert (about.encoder, about.paper) == ("words", "en")


def test_paths_are_relative_to_the_plan(tmp_path, monkeypatch):
    changes = (
        'model.embeddings.fasttext = "vectors/x.vec"',
        'model.embeddings.transformer = "./encoder"',
        'data.frames = "frames"',
    )
    path = write_plan(tmp_path / "plans", corpus(changes=changes) + 'ood = "ood.conll09"\n')
    path.write_text(path.read_text() + EXPERIMENT)
    shutil.copy(tmp_path / "plans" / "corpus" / "dev.conll09", tmp_path / "plans" / "ood.conll09")
    monkeypatch.chdir(tmp_path)
    recipe = read_plan(Path("plans/plan.toml"))[0].recipe
    assert recipe.model.embeddings.fasttext == "plans/vectors/x.vec"
    assert recipe.model.embeddings.transformer == "plans/encoder"
    assert recipe.data.frames == "plans/frames"
    assert recipe.data.train == "plans/corpus/train.conll09"
    assert recipe.data.dev == "plans/corpus/dev.conll09"
    # Those of the recipe itself (`unseen`) are gone.
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
    "change",
    ["train.epochs = 61", "train.bf16 = false", "loss.gumbel = true", 'data.language = "de"']
    + ["model.encoder.dropout = 0.1", "model.capsules.parts = 2"],
)
def test_another_setting_is_another_run(tmp_path, change):
    assert set(names(tmp_path)).isdisjoint(names(tmp_path, change))


@pytest.mark.parametrize(
    "change",
    ["train.checkpoint_every = 0", "train.keep_states = true", 'data.name = "x"']
    + ['data.licence = "x"'],
)
def test_settings_that_do_not_matter_do_not_make_another_run(tmp_path, change):
    encoder = 'model.embeddings.transformer = "./encoder"'
    assert names(tmp_path, encoder) == names(tmp_path, encoder, change)


@pytest.mark.parametrize("change", ["model.capsules.iterations = 3", "loss.earlier = 0.5"])
def test_iterations_matter_only_where_there_is_routing(tmp_path, change):
    variants = EXPERIMENT.replace('"baseline", "capsule"', '"baseline", "word", "capsule"')
    assert variants != EXPERIMENT
    *idle, routed = names(tmp_path, text=corpus() + variants)
    *again, other = names(tmp_path, text=corpus(changes=[change]) + variants)
    assert idle == again
    assert routed != other


def test_with_one_iteration_there_is_no_earlier_one(tmp_path):
    def one(*changes):
        return names(tmp_path, "model.capsules.iterations = 1", *changes)

    assert one() == one("loss.earlier = 0.5")


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
    one, two, first, second = "corpora.one", "corpora.two", "experiment 1", "experiment 2"
    whole, number = "a whole number of at least", "a number of at least 0"
    files = "recipe, set, train, dev, test, ood, language, annotation, encoder, paper"
    variants = "baseline, word, capsule, capsule+global"
    assert mistakes(path) == [
        f"{path}: {text}"
        for text in (
            "expected one of corpora, experiments, got corpra; did you mean corpora?",
            f"{one}: expected one of {files}, got trian; did you mean train?",
            f"{one}: expected train, got none",
            f"{one}.dev: expected a string, got 3",
            f"{one}.set: expected a table, got [1]",
            f"{two}.paper: expected one of ja, es, ca, de, cs, zh, en, got 'cz'",
            f"{two}.set.data: expected a table, got 'x'",
            "corpora.a/b: expected a name of letters, digits and . _ + - alone, got 'a/b'",
            f"{first}: corpora: expected one of one, two, a/b, got 'three'",
            f"{first}: variants: expected a list, got 'capsule'",
            f"{first}: seeds: expected a list, got []",
            f"{second}: expected one of corpora, variants, seeds, iterations, uniqueness, "
            "got sedes; did you mean seeds?",
            f"{second}: expected corpora, got none",
            f"{second}: variants: expected one of {variants}, got 'capsules'",
            f"{second}: seeds: expected {whole} 0, got -1",
            f"{second}: seeds: expected {whole} 0, got True",
            f"{second}: seeds: expected {whole} 0, got 1.0",
            f"{second}: iterations: expected {whole} 1, got 0",
            f"{second}: uniqueness: expected {number}, got -0.1",
            f"{second}: uniqueness: expected {number}, got nan",
            f"{second}: uniqueness: expected {number}, got inf",
            f"{second}: uniqueness: expected {number}, got 'x'",
        )
    ]


def test_mistakes_in_the_recipes_of_all_corpora(tmp_path):
    tables = corpus("one", changes=["train.epoch = 3"]), corpus("two", changes=["train.clip = 0"])
    path = write_plan(tmp_path, "".join(tables) + corpus("three", recipe="no.toml") + EXPERIMENT)
    assert mistakes(path) == [
        f"{path}, corpora.one: unknown key train.epoch; did you mean train.epochs?",
        f"{path}, corpora.two: train.clip: expected above 0, got 0",
        f"{tmp_path / 'no.toml'}: cannot be read: No such file or directory",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected tables [corpora.NAME], got none"),
        ("corpora = 3", "expected tables [corpora.NAME], got none"),
        ("[corpora]\nx = 3\n", "expected tables [corpora.NAME], got none"),
        (corpus(), "expected tables [[experiments]], got none"),
        (corpus() + "[experiments]\nx = 3", "expected tables [[experiments]], got none"),
        ("[corpora", "expected TOML, got a syntax error: "),
    ],
)
def test_what_is_no_plan(tmp_path, text, message):
    path = write_plan(tmp_path, text)
    [found] = mistakes(path)
    assert found.startswith(f"{path}: {message}")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file"):
        read_plan(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"bytes\.toml: expected TOML, got a syntax error: 'utf"):
        read_plan(tmp_path / "bytes.toml")
    path = write_plan(tmp_path, corpus() + EXPERIMENT)
    (tmp_path / "corpus" / "dev.conll09").unlink()
    with pytest.raises(DataError, match=r"corpus/dev\.conll09: cannot be read: No such file"):
        read_plan(path)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plans_that_come_with_capsrl(path, request):
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    files = [table[key] for table in values["corpora"].values() for key in ("train", "test")]
    if any("shared/" in file for file in files):
        request.getfixturevalue("shared")
    missing = [file for file in files if not (path.parent / file).exists()]
    if missing and "shared/" not in missing[0]:
        pytest.skip(f"no {missing[0]}, which is not for everyone to have")
    runs = read_plan(path)
    asked = {name for table in values["experiments"] for name in table["corpora"]}
    assert {run.corpus.name for run in runs} == asked == set(values["corpora"])
    assert len({run.name for run in runs}) == len(runs) >= 6
