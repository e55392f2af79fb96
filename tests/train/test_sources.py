"""Training with word vectors and frame files: what is saved in the model folder."""

import random

import pytest

from capsrl.errors import DataError
from capsrl.formats.formats import read_sentences
from capsrl.labeler import Labeler
from capsrl.recipe import read_recipe
from capsrl.score import score
from capsrl.train.log import read_log
from capsrl.train.loop import run
from tests.helpers.conll2009_standins import write_elmo
from tests.helpers.tiny_networks import write_encoder
from tests.helpers.tiny_runs import SETTINGS, TINY

SOURCES = {"transformer": write_encoder, "elmo": write_elmo}
UNSEEN = TINY.parent / "tiny" / "dev.conll09"
FRAMES = """<frameset><predicate lemma="twirl"><roleset id="twirl.01"><roles>
<role n="0" descr="dancer"/></roles></roleset></predicate></frameset>"""


def words_of(path):
    return {word for sentence in read_sentences(path) for word in sentence.words}


@pytest.fixture
def vectors(tmp_path):
    draw = random.Random(0)
    words = sorted(words_of(TINY.parent / "tiny" / "train.conll09") | words_of(UNSEEN))
    lines = [f"{word} {' '.join(str(draw.gauss(0, 1)) for _ in range(20))}" for word in words]
    (tmp_path / "tiny.vec").write_text("\n".join(lines) + "\n")
    return tmp_path / "tiny.vec"


def test_vectors_of_all_files_are_saved(vectors, tmp_path):
    recipe = read_recipe(
        TINY,
        [
            *SETTINGS,
            f"model.embeddings.fasttext={vectors}",
            "model.embeddings.characters=0",
            "model.embeddings.tags=8",
        ],
    )
    result = run(recipe, tmp_path / "run", device="cpu")
    losses = [r["loss"] for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert losses[-1] < 0.7 * losses[0]
    vectors.unlink()
    with pytest.warns(UserWarning, match="tiny.vec: no such file; the model was trained with"):
        labeler = Labeler.load(result.model)
    table = set(labeler.network.vectors.sources["fasttext"].words)
    assert table == words_of(recipe.data.train) | words_of(UNSEEN)
    unseen = list(read_sentences(UNSEEN))
    again = score(unseen, labeler.label_sentences(unseen))
    assert again.labeled_f1 == result.tests["unseen"].labeled_f1 > 0


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("paper-english", []),
        ("paper-english", ["model.capsules.predicate=vector"]),
        ("authors-code", ["loss.uniqueness=0.1"]),
    ],
)
def test_recipes_after_the_paper_learn(name, changes, tmp_path):
    write_elmo(tmp_path / "elmo")
    small = ["model.encoder.layers=2", "model.encoder.width=16", "model.capsules.rank=16"]
    data = {"train": TINY.parent / "tiny" / "train.conll09", "dev": UNSEEN, "test": ""}
    recipe = read_recipe(
        TINY.parent / f"{name}.toml",
        [
            *(f"data.{key}={value}" for key, value in data.items()),
            *(f"data.test.unseen={UNSEEN}", f"model.embeddings.elmo={tmp_path / 'elmo'}"),
            *(*small, *changes, "train.epochs=6", "train.batch_words=60"),
            "train.learning_rate=1e-2",
        ],
    )
    result = run(recipe, tmp_path / "run", device="cpu")
    losses = [r["loss"] for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert losses[-1] < 0.7 * losses[0]
    unseen = list(read_sentences(UNSEEN))
    again = score(unseen, Labeler.load(result.model).label_sentences(unseen))
    assert again.labeled_f1 == result.tests["unseen"].labeled_f1 > 0


def test_word_counts_are_saved(tmp_path):
    recipe = read_recipe(TINY, [*SETTINGS, "train.epochs=1"])
    run(recipe, tmp_path / "run", device="cpu")
    words = Labeler.load(tmp_path / "run" / "model").network.vectors.sources["learned"]
    sentences = list(read_sentences(recipe.data.train))
    seen = sum(word == "the" for sentence in sentences for word in sentence.words)
    assert words.counts[words.vocab.id("the")] == seen > 1


def test_frames_are_saved(tmp_path):
    (tmp_path / "frames").mkdir()
    recipe = read_recipe(TINY, [*SETTINGS, "train.epochs=1", f"data.frames={tmp_path / 'frames'}"])
    with pytest.raises(DataError, match="frames: has no PropBank frame files"):
        run(recipe, tmp_path / "run", device="cpu")
    (tmp_path / "frames" / "twirl.xml").write_text(FRAMES)
    run(recipe, tmp_path / "run", device="cpu")
    inventory = Labeler.load(tmp_path / "run" / "model").inventory
    assert inventory.frames.meaning("twirl.01", "A0") == "dancer"
    assert [inventory.senses[i] for i in inventory.candidates_of("twirl")] == ["twirl.01"]


@pytest.mark.parametrize("source", SOURCES)
def test_cached_states(tmp_path, source):
    """Training with cached states is the same, except for half precision."""
    SOURCES[source](tmp_path / "encoder")
    settings = [
        *SETTINGS,
        f"model.embeddings.{source}={tmp_path / 'encoder'}",
        "model.embeddings.learned=0",
        "model.embeddings.characters=0",
        "train.epochs=4",
    ]
    runs = {}
    for cached in ("false", "true"):
        recipe = read_recipe(TINY, [*settings, f"train.cache_states={cached}"])
        result = run(recipe, tmp_path / cached, device="cpu")
        epochs = [r for r in read_log(tmp_path / cached / "log.jsonl") if r["kind"] == "epoch"]
        runs[cached] = result, [record["loss"] for record in epochs]
    (fresh, losses), (cached, cached_losses) = runs["false"], runs["true"]
    assert losses[-1] < 0.95 * losses[0]
    assert cached_losses == pytest.approx(losses, rel=2e-3)
    assert cached_losses != losses
    # The saved model runs the encoder itself.
    unseen = list(read_sentences(UNSEEN))
    again = score(unseen, Labeler.load(cached.model).label_sentences(unseen))
    assert again.labeled_f1 == cached.tests["unseen"].labeled_f1
    assert again.labeled_f1 == pytest.approx(fresh.tests["unseen"].labeled_f1, abs=5)


@pytest.mark.parametrize("source", SOURCES)
def test_shared_states(tmp_path, source):
    """A run that reads the states of another ends with exactly the weights of one that does not."""
    SOURCES[source](tmp_path / "encoder")
    settings = [*SETTINGS, f"model.embeddings.{source}={tmp_path / 'encoder'}", "train.epochs=2"]
    states = tmp_path / "states"
    weights = {}
    for name, folder in {"alone": None, "first": states, "second": states}.items():
        recipe = read_recipe(TINY, [*settings, "train.cache_states=true"])
        model = run(recipe, tmp_path / name, device="cpu", states=folder).model
        [file] = model.glob("*.safetensors")
        weights[name] = file.read_bytes()
    assert [path.name for path in states.iterdir()] == [f"{source}.pt"]
    assert weights["alone"] == weights["first"] == weights["second"]
