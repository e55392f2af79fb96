"""Against AllenNLP's saved outputs, and against one word at a time in plain numpy."""

import builtins
import json
import os

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.network.embeddings.elmo import FILLER, WORD_END, WORD_START, Elmo, read_elmo
from capsrl.sentence import Sentence

h5py = pytest.importorskip("h5py")
OPTIONS = {
    "lstm": {"dim": 7, "projection_dim": 3, "n_layers": 3, "cell_clip": 0.4, "proj_clip": 0.2},
    "char_cnn": {
        "embedding": {"dim": 4},
        "filters": [[1, 3], [2, 5]],
        "n_highway": 2,
        "max_characters_per_token": 12,
        "activation": "tanh",
    },
}
TEXTS = ["a", "The große 猫 saw incomprehensibilities", "the a", "yes indeed it was"]


def write_model(folder, options, seed=0):
    random = np.random.default_rng(seed)
    lstm, cnn = options["lstm"], options["char_cnn"]
    n, width, cells = sum(f for _, f in cnn["filters"]), lstm["projection_dim"], lstm["dim"]
    folder.mkdir(exist_ok=True)
    (folder / "options.json").write_text(json.dumps(options))
    with h5py.File(folder / "weights.hdf5", "w") as file:

        def put(name, *shape):
            file[name] = random.normal(0, 0.7, shape).astype(np.float32)

        put("char_embed", 261, cnn["embedding"]["dim"])
        for k, (length, filters) in enumerate(cnn["filters"]):
            put(f"CNN/W_cnn_{k}", 1, length, cnn["embedding"]["dim"], filters)
            put(f"CNN/b_cnn_{k}", filters)
        for k in range(cnn.get("n_highway", 0)):
            for part in ("carry", "transform"):
                put(f"CNN_high_{k}/W_{part}", n, n)
                put(f"CNN_high_{k}/b_{part}", n)
        put("CNN_proj/W_proj", n, width)
        put("CNN_proj/b_proj", width)
        for direction in range(2):
            for layer in range(lstm["n_layers"]):
                cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
                put(f"{cell}/W_0", 2 * width, 4 * cells)
                put(f"{cell}/B", 4 * cells)
                put(f"{cell}/W_P_0", cells, width)
    return folder


@pytest.fixture(params=[True, False], ids=["skip", "no-skip"])
def folder(tmp_path, request):
    lstm = OPTIONS["lstm"] | {"use_skip_connections": request.param}
    return write_model(tmp_path / "elmo", OPTIONS | {"lstm": lstm})


def sentence(text):
    return Sentence(words=tuple(text.split()))


def run(module, *texts):
    return module(module.collate([module.index(sentence(text)) for text in texts]))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def word_vector(file, options, ids):
    cnn = options["char_cnn"]
    letters = np.concatenate([np.zeros((1, 4)), file["char_embed"]])[ids]
    found = []
    for k, (length, _) in enumerate(cnn["filters"]):
        weight, bias = file[f"CNN/W_cnn_{k}"][0], file[f"CNN/b_cnn_{k}"][...]
        windows = [letters[i : i + length] for i in range(len(ids) - length + 1)]
        found.append(np.max([np.tensordot(w, weight, 2) + bias for w in windows], axis=0))
    x = np.tanh(np.concatenate(found))
    for k in range(cnn["n_highway"]):
        high = file[f"CNN_high_{k}"]
        gate = sigmoid(x @ high["W_carry"][...] + high["b_carry"][...])
        new = np.maximum(x @ high["W_transform"][...] + high["b_transform"][...], 0)
        x = gate * new + (1 - gate) * x
    return x @ file["CNN_proj/W_proj"][...] + file["CNN_proj/b_proj"][...]


def read_one_way(file, options, direction, words):
    """Each layer's states for words in reading order."""
    lstm = options["lstm"]
    layers = [words]
    for layer in range(lstm["n_layers"]):
        cell = file[f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"]
        c, h, out = np.zeros(lstm["dim"]), np.zeros(lstm["projection_dim"]), []
        for x in layers[-1]:
            z = np.concatenate([x, h]) @ cell["W_0"][...] + cell["B"][...]
            i, j, f, o = np.split(z, 4)
            c = sigmoid(i) * np.tanh(j) + sigmoid(f + 1) * c
            c = np.clip(c, -lstm["cell_clip"], lstm["cell_clip"])
            h = (sigmoid(o) * np.tanh(c)) @ cell["W_P_0"][...]
            h = np.clip(h, -lstm["proj_clip"], lstm["proj_clip"])
            out.append(h + x if layer and lstm["use_skip_connections"] else h)
        layers.append(np.array(out))
    return layers


def expected_layers(folder, text):
    """L T E of one sentence, word by word."""
    options = json.loads((folder / "options.json").read_text())
    size = options["char_cnn"]["max_characters_per_token"]
    spelled = [[WORD_START, 257, WORD_END]]
    for word in text.split():
        letters = [byte + 1 for byte in word.encode()][: size - 2]
        spelled.append([WORD_START, *letters, WORD_END])
    spelled.append([WORD_START, 258, WORD_END])
    with h5py.File(folder / "weights.hdf5") as file:
        ids = [word + [FILLER] * (size - len(word)) for word in spelled]
        words = np.array([word_vector(file, options, row) for row in ids])
        forward_states = read_one_way(file, options, 0, words)
        backward_states = [layer[::-1] for layer in read_one_way(file, options, 1, words[::-1])]
    return np.concatenate([forward_states, backward_states], -1)[:, 1:-1]


def test_equals_numpy(folder):
    module = Elmo.from_folder(folder)
    module.mix.weights.data = torch.tensor([0.3, -1.0, 2.0, 0.5])
    module.mix.gamma.data = torch.tensor(1.7)
    vectors = run(module, *TEXTS)
    assert vectors.shape == (4, 5, 6) and module.width == 6
    weights = np.exp([0.3, -1.0, 2.0, 0.5]) / np.exp([0.3, -1.0, 2.0, 0.5]).sum()
    for number, text in enumerate(TEXTS):
        mixed = 1.7 * np.tensordot(weights, expected_layers(folder, text), 1)
        assert_close(vectors[number, : len(mixed)], torch.tensor(mixed).float(), atol=1e-5, rtol=0)
        assert not vectors[number, len(mixed) :].any()


def test_alone_equals_batch(folder):
    module = Elmo.from_folder(folder)
    together = run(module, *TEXTS)
    for number, text in enumerate(TEXTS):
        alone = run(module, text)[0]
        assert_close(together[number, : len(alone)], alone, atol=1e-6, rtol=0)
    assert torch.equal(run(module, *TEXTS), together)  # no state is carried over
    assert run(module, "").shape == (1, 0, 6)
    assert not run(module, "", "a")[0].any()


def test_only_the_mix_is_trained(folder):
    module = Elmo.from_folder(folder)
    assert {name for name, p in module.named_parameters() if p.requires_grad} == {
        "mix.weights",
        "mix.gamma",
    }
    (run(module, *TEXTS) ** 2).sum().backward()
    assert module.mix.weights.grad.abs().min() > 0 and module.mix.gamma.grad.abs() > 0


def test_rebuild_from_options_and_state_dict(folder):
    module = Elmo.from_folder(folder)
    module.mix.weights.data = torch.tensor([1.0, 2.0, 3.0, 4.0])
    again = Elmo(options=json.loads(json.dumps(module.options)))
    again.load_state_dict(module.state_dict())
    assert torch.equal(run(again, *TEXTS), run(module, *TEXTS))


def test_distinct_words_are_spelled_once(folder):
    module = Elmo.from_folder(folder)
    inputs = module.collate([module.index(sentence(text)) for text in ["a b a", "b", "a"]])
    assert inputs["rows"].tolist() == [[0, 2, 3, 2, 1], [0, 3, 1, 0, 0], [0, 2, 1, 0, 0]]
    spelled = inputs["spellings"][:, :4].tolist()
    assert spelled[0] == [WORD_START, 257, WORD_END, FILLER]
    assert spelled[2] == [WORD_START, ord("a") + 1, WORD_END, FILLER]
    assert module.index(sentence("incomprehensible")).words == (b"incomprehe",)  # 12 - 2 bytes


def test_cached_states(folder):
    module = Elmo.from_folder(folder)
    with torch.no_grad():
        module.mix.weights.copy_(torch.arange(len(module.mix.weights), dtype=torch.float))
    before = run(module, *TEXTS)
    module.cache_states([sentence(text) for text in TEXTS[:2]])
    assert "rows" in module.collate([module.index(sentence(text)) for text in TEXTS])
    assert_close(run(module, *TEXTS), before, atol=0, rtol=0)  # one of them is not cached
    # Rows of cached states stay; the others are added in two batches.
    module.cache_states([sentence(text) for text in [*TEXTS, TEXTS[2]]], batch_words=4)
    assert len(module._cache._states) == sum(len(text.split()) for text in TEXTS)
    inputs = module.collate([module.index(sentence(text)) for text in TEXTS])
    assert inputs.keys() == {"cached", "lengths"}
    after = module(inputs)
    assert_close(after, before, atol=2e-3, rtol=1e-3)  # half precision; padding is zeros in both
    assert bool((after[0, 1:] == 0).all())
    expected = gradient_of_mix(module, before)
    assert expected.abs().max() > 0.01
    assert_close(gradient_of_mix(module, after), expected, atol=1e-2, rtol=1e-2)


def gradient_of_mix(module, vectors):
    [gradient] = torch.autograd.grad(vectors.square().sum(), [module.mix.weights])
    return gradient


def test_half_precision(folder):
    module = Elmo.from_folder(folder)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = run(module, *TEXTS)
    assert_close(vectors.float(), run(module, *TEXTS), atol=0.05, rtol=0.05)


def elmo_oracle(shared):
    folder = shared / "oracles" / "elmo"
    lists = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    return folder, Elmo.from_folder(folder), lists


def test_mixed_layers_equal_allennlp(shared):
    folder, module, lists = elmo_oracle(shared)
    expected = torch.from_numpy(np.load(folder / "allennlp_scalar_mix_first_batch.npy"))
    vectors = run(module, *(texts[0] for texts in lists))
    assert expected.shape == vectors.shape and expected.abs().sum() > 100
    assert_close(vectors, expected, atol=1e-5, rtol=0)


def test_top_layer_equals_allennlp(shared):
    """Carrying the state over equals reading all sentences as one.

    For the backward direction each sentence is reversed by itself; the sentences stay in order.
    """
    folder, module, lists = elmo_oracle(shared)
    for number, texts in enumerate(lists):
        inputs = module.collate([module.index(sentence(text)) for text in texts])
        words = module.words(inputs["spellings"])[inputs["rows"]]
        ends = (inputs["lengths"] + 2).tolist()
        rows = [row[:end] for row, end in zip(words, ends, strict=True)]
        forward_states = torch.cat(rows)
        backward_states = torch.cat([row.flip(0) for row in rows])
        top = module._run_lstms(torch.stack([forward_states, backward_states]).unsqueeze(1))[
            -1
        ].squeeze(1)
        with h5py.File(folder / f"lm_embeddings_{number}.hdf5") as file:
            for k, (a, b) in enumerate(zip(*(way.split(ends) for way in top), strict=True)):
                found = torch.stack([a[1:-1], b.flip(0)[1:-1]])
                expected = torch.from_numpy(file[str(k)][...])
                assert expected.shape == found.shape
                assert_close(found, expected, atol=1e-5, rtol=0)


def test_word_encoder_equals_published_vectors(shared):
    folder, module, _ = elmo_oracle(shared)
    words = (folder / "vocab_test.txt").read_text(encoding="utf-8").splitlines()
    with h5py.File(folder / "elmo_token_embeddings.hdf5") as file:
        expected = torch.from_numpy(file["embedding"][...])
    inputs = module.collate([module.index(Sentence(words=(word,))) for word in words])
    rows = inputs["rows"][:, 1].tolist()
    for row, name in enumerate(["<S>", "</S>"]):  # sentence ends, in that list; words in ours
        rows[words.index(name)] = row
    assert_close(module.words(inputs["spellings"])[rows], expected, atol=1e-5, rtol=0)


SMALL = {
    "lstm": {"dim": 3, "projection_dim": 2, "n_layers": 1, "cell_clip": 3, "proj_clip": 3},
    "char_cnn": {
        "embedding": {"dim": 2},
        "filters": [[1, 4]],
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}
SHAPES = {
    "char_embed": (261, 2),
    "CNN/W_cnn_0": (1, 1, 2, 4),
    "CNN/b_cnn_0": (4,),
    "CNN_proj/W_proj": (4, 2),
    "CNN_proj/b_proj": (2,),
}
for direction in range(2):
    cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell0/LSTMCell"
    SHAPES |= {f"{cell}/W_0": (4, 12), f"{cell}/B": (12,), f"{cell}/W_P_0": (3, 2)}


@pytest.fixture
def small(tmp_path):
    (tmp_path / "elmo_2x_options.json").write_text(json.dumps(SMALL))
    with h5py.File(tmp_path / "elmo_2x_weights.hdf5", "w") as file:
        for number, (name, shape) in enumerate(SHAPES.items()):
            file[name] = np.full(shape, number, dtype=np.float32)
        file["softmax/W"] = np.zeros(3)
    return tmp_path


def test_only_required_arrays_are_read(small):
    options, weights = read_elmo(small)
    assert options == SMALL
    expected = {name: p.shape for name, p in Elmo(options=SMALL).named_parameters()}
    del expected["mix.weights"], expected["mix.gamma"]  # not those of the language model
    assert {name: weight.shape for name, weight in weights.items()} == expected
    assert weights["words.convolutions.0.bias"].tolist() == [2, 2, 2, 2]


def change(small, name, value):
    with h5py.File(small / "elmo_2x_weights.hdf5", "a") as file:
        del file[name]
        if value is not None:
            file[name] = value


def test_missing_or_wrong_arrays(small):
    change(small, "CNN_proj/W_proj", np.zeros((2, 4)))
    message = r"2x_weights\.hdf5: expected CNN_proj/W_proj of shape \(4, 2\), got \(2, 4\); do"
    with pytest.raises(DataError, match=message):
        read_elmo(small)
    change(small, "CNN_proj/W_proj", None)
    with pytest.raises(DataError, match=r"2x_weights\.hdf5: no array CNN_proj/W_proj$"):
        read_elmo(small)
    with h5py.File(small / "elmo_2x_weights.hdf5", "r+") as file:
        file["CNN_proj/W_proj"] = np.dtype(np.float32)  # a type, which HDF5 can store too
    with pytest.raises(DataError, match="arrays of ELMo cannot be read: .* no attribute"):
        read_elmo(small)


def test_missing_or_extra_files(small):
    (small / "other_weights.hdf5").touch()
    message = r"expected one file \*weights\.hdf5 .* got elmo_2x_weights\.hdf5, other_weights\.hdf5"
    with pytest.raises(DataError, match=message):
        read_elmo(small)
    with pytest.raises(DataError, match=r"none: expected one file \*options\.json .* got none"):
        read_elmo(small / "none")


def test_not_hdf5(small):
    (small / "elmo_2x_weights.hdf5").write_bytes(b"<html>not found</html>")
    with pytest.raises(DataError, match=r"2x_weights\.hdf5: not an HDF5 file: .*signature"):
        read_elmo(small)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"2x_options\.json: not the options of an ELMo model: not JSON: Expecting property"),
        ("[]", r"2x_options\.json: not the options of an ELMo model: expected a JSON obj"),
        ('{"lstm": 3}', r"2x_options\.json: not the options .*: no lstm\.dim"),
        (
            json.dumps(SMALL | {"char_cnn": {"activation": "relu"}}),
            r"2x_options\.json: not the options .*: no char_cnn\.embedding",
        ),
        (
            json.dumps(SMALL).replace("relu", "gelu"),
            r"2x_options\.json: expected char_cnn\.activation relu or tanh, got 'gelu'",
        ),
    ],
)
def test_unsupported_options(small, text, message):
    (small / "elmo_2x_options.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_elmo(small)


def test_without_h5py(small, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "h5py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match=r"ELMo needs h5py: pip install 'capsrl\[elmo\]'"):
        read_elmo(small)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("lstm", "n_layers", 2**63),
        ("lstm", "dim", "7"),
        ("lstm", "projection_dim", -3),
        ("lstm", "cell_clip", "wide"),
        ("char_cnn", "n_highway", 10**9),
        ("char_cnn", "embedding", 4),
        ("char_cnn", "filters", [[1, 3], [2]]),
        ("char_cnn", "filters", [[13, 3]]),
        ("char_cnn", "filters", []),
        ("char_cnn", "filters", {"dim": 4}),
        ("char_cnn", "max_characters_per_token", 2),
        ("char_cnn", "max_characters_per_token", 10**9),
    ],
)
def test_sizes_are_checked_before_memory_is_taken(small, part, key, value):
    """Also in a model folder, where there is nothing but the options."""
    options = OPTIONS | {part: OPTIONS[part] | {key: value}}
    next(small.glob("*options.json")).write_text(json.dumps(options))
    (small / "saved").mkdir()
    (small / "saved" / "options.json").write_text(json.dumps(options))
    with pytest.raises(DataError, match=r"options.json: expected sizes from 0 to 1,048,576 that"):
        read_elmo(small)
    with pytest.raises(ModelError, match=r"options.json: expected sizes from 0 to 1,048,576 that"):
        Elmo.from_saved(small / "saved")


def test_arrays_that_were_never_written(small):
    """A file of a kilobyte may tell of an array of gigabytes."""
    with h5py.File(next(small.glob("*weights.hdf5")), "a") as file:
        del file["CNN_proj/b_proj"]
        file.create_dataset("CNN_proj/b_proj", (2,), np.float32, chunks=True)
    with pytest.raises(DataError, match=r"expected CNN_proj/b_proj with 8 bytes, got fewer"):
        read_elmo(small)


def test_pipes(small):
    file = next(small.glob("*weights.hdf5"))
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ModelError, match=r"weights.hdf5: expected a file, got a pipe or device"):
        read_elmo(small)
