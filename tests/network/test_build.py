"""Networks with every combination of word vectors, from tiny files: built, saved, loaded."""

import dataclasses
import itertools
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from capsrl.config import CapsulesConfig, EmbeddingsConfig, EncoderConfig, ModelConfig
from capsrl.errors import ConfigError, ModelError
from capsrl.formats.formats import read_sentences
from capsrl.frames.index import NO_FRAMES, FrameIndex, Roleset
from capsrl.labeler import Labeler
from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from capsrl.recipe import read_recipe
from capsrl.sentence import Proposition, Sentence
from tests.helpers.tiny_networks import compute_test_loss
from tests.network.embeddings.test_elmo import OPTIONS, write_model

ROOT = Path(__file__).resolve().parent.parent.parent
SENTENCES = list(read_sentences(ROOT / "tests" / "fixtures" / "tiny.conll09"))
COUNTS = Counter(word for sentence in SENTENCES for word in sentence.words)
WIDTHS = {"transformer": 8, "elmo": 6, "fasttext": 5, "learned": 7, "characters": 4, "tags": 3}
SUBSETS = [
    names
    for n in range(1, len(WIDTHS) + 1)
    for names in itertools.combinations(WIDTHS, n)
    if names != ("tags",)
]


def write_transformer(folder):
    """A BERT of two layers that knows single letters, under the names of Hugging Face."""
    letters = sorted({letter for word in COUNTS for letter in word})
    vocab = ["[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    config = {"model_type": "bert", "vocab_size": len(vocab), "hidden_size": 8}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 9}
    config |= {"max_position_embeddings": 40, "type_vocab_size": 2}
    shapes = {"embeddings.LayerNorm.weight": (8,), "embeddings.LayerNorm.bias": (8,)}
    for kind, n in [("word", len(vocab)), ("position", 40), ("token_type", 2)]:
        shapes[f"embeddings.{kind}_embeddings.weight"] = (n, 8)
    for layer in range(2):
        parts = {f"attention.self.{part}": (8, 8) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (8, 8), "intermediate.dense": (9, 8)}
        parts |= {"output.dense": (8, 9)}
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{norm}.weight"] = (8,)
            shapes[f"encoder.layer.{layer}.{norm}.bias"] = (8,)
        for name, shape in parts.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
    random = torch.Generator().manual_seed(0)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {name: torch.randn(shape, generator=random) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors")
    return str(folder)


def write_vectors(path, width=5, seed=0):
    random = np.random.default_rng(seed)
    words = [*COUNTS, "zebra"]
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in random.normal(size=width))}" for word in words]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def one_thread():
    """Several threads slow such small matrices down, by seconds on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A pretrained model of each kind."""
    folder = tmp_path_factory.mktemp("pretrained")
    return {
        "transformer": write_transformer(folder / "bert"),
        "elmo": str(write_model(folder / "elmo", OPTIONS)),
        "fasttext": write_vectors(folder / "tiny.vec"),
    }


def config_of(files, *names, **more):
    embeddings = EmbeddingsConfig(**{name: files.get(name, WIDTHS[name]) for name in names} | more)
    return ModelConfig(
        embeddings=embeddings,
        encoder=EncoderConfig(layers=1, width=10),
        capsules=CapsulesConfig(size=4, rank=8, form="factored"),
    )


def make_labeler(config, *, words=COUNTS, frames=NO_FRAMES, seed=0):
    torch.manual_seed(seed)
    inventory = build_inventory(SENTENCES, frames=frames)
    return Labeler(make_network(config, inventory, words=words), config)


def label(labeler, sentences=SENTENCES, predicates="marked", **options):
    """Labeled sentences, and the probabilities of all roles: there may be few arguments."""
    labeled = list(labeler.label_sentences(sentences, predicates=predicates, trace=True, **options))
    return labeled, [p.trace.beliefs.tolist() for s in labeled for p in s.propositions]


def sources_of(labeler):
    return dict(labeler.network.vectors.sources.items())


def assert_alone_as_in_a_batch(labeler):
    together, _ = label(labeler)
    for sentence, expected in zip(SENTENCES, together, strict=True):
        (alone,), _ = label(labeler, [sentence])
        for one, other in zip(alone.propositions, expected.propositions, strict=True):
            assert one.sense == other.sense
            np.testing.assert_allclose(one.trace.beliefs, other.trace.beliefs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("names", SUBSETS, ids="+".join)
def test_combinations_of_sources(names, files, tmp_path):
    labeler = make_labeler(config_of(files, *names))
    assert labeler.network.vectors.width == sum(WIDTHS[name] for name in names)
    labeled = label(labeler)
    assert_alone_as_in_a_batch(labeler)
    labeler.save(tmp_path / "model")
    loaded = Labeler.load(tmp_path / "model")
    assert label(loaded) == labeled
    loaded.save(tmp_path / "again")
    assert label(Labeler.load(tmp_path / "again")) == labeled
    for name in ("config.json", "vocab.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


@pytest.mark.parametrize("fine_tune", [True, False])
def test_all_sources_with_marked_predicates(fine_tune, files, tmp_path):
    labeler = make_labeler(config_of(files, *WIDTHS, fine_tune=fine_tune, mark_predicate=True))
    assert_alone_as_in_a_batch(labeler)
    labeler.save(tmp_path / "model")
    for predicates in ("marked", "found"):
        labeled = label(labeler, predicates=predicates)
        assert label(Labeler.load(tmp_path / "model"), predicates=predicates) == labeled


def test_trained_and_frozen_parameters(files):
    network = make_labeler(config_of(files, *WIDTHS)).network.train()
    batch = network.collate([network.index(sentence) for sentence in SENTENCES])
    compute_test_loss(network(batch), batch).total.backward()
    trained = {name for name, p in network.vectors.named_parameters() if p.grad is not None}
    prefixes = {name.removeprefix("sources.").rpartition(".")[0] for name in trained}
    assert prefixes == {
        "transformer.mix",
        "elmo.mix",
        "learned.vectors",
        "characters.vectors",
        "characters.convolutions.0",
        "characters.convolutions.1",
        "characters.convolutions.2",
        "tags.vectors",
    }
    gradients = {name: p.grad for name, p in network.vectors.named_parameters() if name in trained}
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients.values())


def test_words_of_the_fasttext_table(files, tmp_path):
    config = config_of(files, "fasttext")
    few = {word: count for word, count in COUNTS.items() if word != "cat"} | {"zebra": 0, "xyz": 3}
    sources = sources_of(make_labeler(config, words=few))
    assert sources["fasttext"].words == sorted(few.keys() - {"xyz"})
    plain = sources_of(make_labeler(config, words=None))["fasttext"]
    assert set(plain.words) == {word for word, count in COUNTS.items() if count > 1}


def copied_vectors(files, tmp_path):
    path = tmp_path / "copy.vec"
    shutil.copyfile(files["fasttext"], path)
    return path


def test_model_without_its_vector_file(files, tmp_path):
    path = copied_vectors(files, tmp_path)
    labeler = make_labeler(config_of({"fasttext": str(path)}, "fasttext"))
    new = dataclasses.replace(SENTENCES[1], words=("The", "zebra", "chased", "a", "mouse", "."))
    labeled, expected_new = label(labeler), label(labeler, [new])
    labeler.save(tmp_path / "model")
    assert label(Labeler.load(tmp_path / "model"), [new]) == expected_new
    path.unlink()
    message = rf"copy\.vec: no such file; .* words other than the {len(COUNTS)} in the model"
    with pytest.warns(UserWarning, match=message):
        loaded = Labeler.load(tmp_path / "model")
    assert label(loaded) == labeled
    assert label(loaded, [new]) != expected_new  # the zebra has no vector


def test_wrong_vector_file(files, tmp_path):
    path = copied_vectors(files, tmp_path)
    labeler = make_labeler(config_of({"fasttext": str(path)}, "fasttext"))
    labeler.save(tmp_path / "model")
    write_vectors(path, seed=1)
    message = r"copy\.vec: not the vectors that the model was trained with: another for '!'"
    with pytest.raises(ModelError, match=message):
        Labeler.load(tmp_path / "model")
    write_vectors(path, width=4)
    with pytest.raises(ModelError, match=r"copy\.vec: expected vectors of width 5, got 4"):
        Labeler.load(tmp_path / "model")


@pytest.mark.parametrize("precision", ["half", "compact"])
def test_quantized_weights_match_the_vector_file(precision, files, tmp_path):
    labeler = make_labeler(config_of(files, *WIDTHS))
    labeler.save(tmp_path / "model", precision=precision)
    loaded = Labeler.load(tmp_path / "model")
    assert sources_of(loaded)["fasttext"].file is not None
    for one, other in zip(label(labeler)[1], label(loaded)[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=0.05)


def test_model_folder_contains_elmo(files, tmp_path):
    copy = shutil.copytree(files["elmo"], tmp_path / "elmo")
    labeler = make_labeler(config_of({"elmo": str(copy)}, "elmo"))
    labeler.save(tmp_path / "model")
    shutil.rmtree(copy)
    loaded = Labeler.load(tmp_path / "model")
    assert label(loaded) == label(labeler)
    trained = {name for name, p in loaded.network.vectors.named_parameters() if p.requires_grad}
    assert trained == {"sources.elmo.mix.weights", "sources.elmo.mix.gamma"}


def test_word_counts_are_saved(files, tmp_path):
    labeler = make_labeler(config_of(files, "learned"))
    labeler.save(tmp_path / "model")
    for words in (
        sources_of(labeler)["learned"],
        sources_of(Labeler.load(tmp_path / "model"))["learned"],
    ):
        counts = dict(zip(words.vocab, words.counts.tolist(), strict=True))
        assert counts["the"] == COUNTS["the"] > 1 and counts["<unk>"] == float("inf")
    unseen = make_labeler(config_of(files, "learned"), words=None)
    assert sources_of(unseen)["learned"].counts.isinf().all()


def test_senses_from_frames(files):
    verb = (("v", "nibble"),)
    frames = FrameIndex.from_rolesets([Roleset("nibble.01", verb), Roleset("nibble.02", verb)])
    labeler = make_labeler(config_of(files, "learned"), frames=frames)
    senses = labeler.network.senses.senses.weight
    counts = torch.tensor(labeler.inventory.sense_counts)
    assert (counts == 0).sum() == 2 and not senses[counts == 0].any()
    assert senses[counts > 0].abs().sum(1).min() > 0
    given = Sentence(words=("Mice", "nibble"), propositions=(Proposition(1),))
    with torch.no_grad():  # patterns decide: make .02 the likelier
        labeler.network.senses.pattern_prior[labeler.inventory.patterns.id("{}.02")] += 100
    (labeled,), _ = label(labeler, [given])
    assert labeled.propositions[0].sense == "nibble.02"


def test_recipes_of_the_paper(files, tmp_path):
    lstm = OPTIONS["lstm"] | {"projection_dim": 512, "n_layers": 2}
    elmo = write_model(tmp_path / "elmo", OPTIONS | {"lstm": lstm})
    vectors = write_vectors(tmp_path / "cc.300.vec", width=300)
    settings = [f"model.embeddings.elmo={elmo}"], [f"model.embeddings.fasttext={vectors}"]
    expected = {
        "paper-english": (settings[0], {"elmo": 1024}, 3),
        "paper-multilingual": (settings[1], {"fasttext": 300}, 2),
        "authors-code": (settings[0], {"elmo": 1024, "tags": 64}, 3),
    }
    for name, (overrides, widths, n_layers) in expected.items():
        recipe = read_recipe(ROOT / "recipes" / f"{name}.toml", overrides)
        network = make_labeler(recipe.model).network
        sources = network.vectors.sources
        assert {name: source.width for name, source in sources.items()} == widths
        assert (recipe.model.encoder.layers, network.encoder.width) == (n_layers, 1000)


def test_wrong_settings(files):
    message = "model.embeddings.characters: expected 0 or at least 3, got 2"
    with pytest.raises(ConfigError, match=message):
        make_labeler(config_of(files, characters=2))


def test_damaged_model_folders(files, tmp_path):
    make_labeler(config_of(files, "elmo", "fasttext")).save(tmp_path / "model")
    (tmp_path / "model" / "manifest.json").unlink()  # else it notices the damage first
    words = tmp_path / "model" / "fasttext" / "words.json"
    saved = json.loads(words.read_text())
    words.write_text(json.dumps(saved | {"words": saved["words"][1:]}))
    n = len(COUNTS)
    message = rf"fasttext.table of shape \({n}, 5\), got \({n + 1}, 5\)"
    with pytest.raises(ModelError, match=message):
        Labeler.load(tmp_path / "model")
    words.write_text("{}")
    message = r"words.json: expected the words and the width of a table .* got KeyError\('words'\)"
    with pytest.raises(ModelError, match=message):
        Labeler.load(tmp_path / "model")
    words.unlink()
    with pytest.raises(ModelError, match=r"fasttext: words.json is missing"):
        Labeler.load(tmp_path / "model")
    (tmp_path / "model" / "elmo" / "options.json").write_text("{}")
    with pytest.raises(ModelError, match=r"options.json: not the options .* no lstm.dim"):
        Labeler.load(tmp_path / "model")


def test_settings_stay_where_models_are_made_and_loaded():
    """The other modules of the model take plain arguments."""
    files = [f for room in ("predict", "network") for f in (ROOT / "capsrl" / room).rglob("*.py")]
    readers = {f.name for f in files if "capsrl.config" in f.read_text(encoding="utf-8")}
    assert readers == {"build.py", "folder.py", "save.py"}
