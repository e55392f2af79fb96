"""Model folders from strangers: whatever is in them, an error says so, soon and in little memory.

They have no manifest, or one that lists what they are: it protects against damage alone.
"""

import json
import os
import resource
import shutil
import signal

import pytest

import capsrl
from capsrl.errors import CapsrlError, ModelError
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST, shard_name

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")

TEXTS = (
    "config.json",
    "vocab.json",
    "calibration.json",
    "frames.tsv",
    "transformer/config.json",
    "transformer/tokenizer.json",
    MANIFEST,
)
JSON = tuple(name for name in TEXTS if name.endswith("json"))
WEIGHTS = shard_name(1, 2)
GRAPHS = ("sentences.onnx", "propositions.onnx")
SECONDS, MEMORY = 120, 2 << 30


@pytest.fixture(autouse=True)
def limits():
    """A file that never ends, or a size that is believed, must not stop the other tests."""

    def stop(number, frame):
        raise TimeoutError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def model(tmp_path):
    """A copy of the model that ships."""
    copied = shutil.copytree(find_model("en"), tmp_path / "model")
    (copied / MANIFEST).unlink()
    return copied


def load(folder, **choices):
    labeler = capsrl.load(folder, **({"device": "cpu", "runtime": "onnx"} | choices))
    labeler.label("Mira sold her bicycle.")
    return labeler.label("Mira sold her bicycle.", trace=True)


def test_the_copy_is_a_model(model):
    assert load(model)[0].propositions


def test_files_that_are_links(model, tmp_path):
    """As in the cache of Hugging Face: to files in another folder, which have other names."""
    (tmp_path / "blobs").mkdir()
    for number, file in enumerate(sorted(path for path in model.rglob("*") if path.is_file())):
        file.rename(tmp_path / "blobs" / str(number))
        file.symlink_to(tmp_path / "blobs" / str(number))
    assert load(model)[0].propositions


@pytest.mark.parametrize("name", [*TEXTS, WEIGHTS, *GRAPHS])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop"])
def test_something_else_than_a_file(model, name, kind):
    file = model / name
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(file.name)
    with pytest.raises(ModelError, match=file.name):
        load(model)


@pytest.mark.parametrize("name", [*TEXTS, WEIGHTS])
def test_a_file_without_an_end(model, name):
    (model / name).unlink(missing_ok=True)
    with open(model / name, "wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(ModelError, match=f"{(model / name).name}: (expected at most|not a safe)"):
        load(model)


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize(
    "content",
    [
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        f'{{"format": {"9" * 5000}}}',
        "1e999",
        "{}",
    ],
    ids=["objects", "lists", "digits", "infinity", "empty"],
)
def test_strange_json(model, name, content):
    if content == "{}" and name == "transformer/config.json":
        pytest.skip("without torch nothing in it is needed")
    (model / name).write_text(content)
    with pytest.raises(ModelError):
        load(model)


def header_of(data):
    return 8 + int.from_bytes(data[:8], "little")


@pytest.mark.parametrize(
    "change",
    [
        lambda header: "[" * 100_000,
        lambda header: '{"a":' * 100_000,
        lambda header: "[]",
        lambda header: json.dumps(dict.fromkeys(header, 3)),
        lambda header: json.dumps(dict.fromkeys(header, {})),
        lambda header: json.dumps({k: v | {"shape": [10**9]} for k, v in header.items()}),
        lambda header: json.dumps({k: v | {"shape": [-1, -1]} for k, v in header.items()}),
        lambda header: json.dumps({k: v | {"data_offsets": [0, 1e12]} for k, v in header.items()}),
        lambda header: json.dumps({k: v | {"data_offsets": [-8, 0]} for k, v in header.items()}),
        lambda header: json.dumps({k: v | {"data_offsets": "ab"} for k, v in header.items()}),
        lambda header: json.dumps({k: v | {"dtype": "F32"} for k, v in header.items()}),
    ],
)
def test_headers_of_weights(model, change):
    file = model / WEIGHTS
    data = file.read_bytes()
    header = json.loads(data[8 : header_of(data)])
    header.pop("__metadata__", None)
    new = change(header).encode()
    file.write_bytes(len(new).to_bytes(8, "little") + new + data[header_of(data) :])
    with pytest.raises(ModelError, match=f"{WEIGHTS}: not a safetensors file"):
        load(model)


def test_inserted_bytes(model):
    file = model / WEIGHTS
    data, at = file.read_bytes(), file.stat().st_size // 2
    file.write_bytes(data[:at] + data[at : at + 8] + data[at:])
    with pytest.raises(ModelError, match=f"tensors up to byte {len(data)} in a file of"):
        load(model)


@pytest.mark.parametrize("value", [b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f"], ids=["nan", "inf"])
def test_values_that_are_not_finite(model, value):
    file = model / WEIGHTS
    data = bytearray(file.read_bytes())
    header = json.loads(data[8 : header_of(data)])
    floats = {k: v for k, v in header.items() if v.get("dtype") == "F32"}
    name, place = min(floats.items())
    start = header_of(data) + place["data_offsets"][0]
    data[start : start + 4] = value
    file.write_bytes(data)
    with pytest.raises(ModelError, match=f"{WEIGHTS}: {name} has values that are not finite"):
        load(model)


def edit(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize("value", [0, -5, 2, "x", None, [1], 1e9, {}])
def test_numbers_of_positions(model, value):
    edit(model / "transformer" / "config.json", max_position_embeddings=value)
    with pytest.raises(ModelError, match="max_position_embeddings"):
        load(model)


@pytest.mark.parametrize("value", [0, -1, 10**9, 2**70, 2.5, "2", None, [2]])
def test_numbers_of_iterations(model, value):
    config = json.loads((model / "config.json").read_text())
    edit(model / "config.json", capsules=config["capsules"] | {"iterations": value})
    with pytest.raises(ModelError, match=r"capsules\.iterations: expected"):
        load(model)


@pytest.mark.parametrize(
    "listed",
    [
        {"/etc/passwd": {"size": 1, "sha256": "", "sum": ""}},
        {"../../passwd": {"size": 1, "sha256": "", "sum": ""}},
        {"config.json": 3},
        {"config.json": {}},
        ["config.json"],
        {"none": {"size": 1, "sha256": "", "sum": ""}},
    ],
)
def test_manifests(model, listed):
    (model / MANIFEST).write_text(json.dumps({"format": 1, "files": listed}))
    with pytest.raises(ModelError, match=r"expected (files in|sizes and)|none is missing"):
        load(model)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    "attack", ["passwd", "above", "share", "operator", "domain", "empty", "cut", "zeros", "other"]
)
def test_graphs(model, graph, attack):
    onnx = pytest.importorskip("onnx")
    file = model / graph
    proto = onnx.load(file, load_external_data=False)
    places = {"passwd": "/etc/passwd", "above": "../../../etc/passwd", "share": "//host/share"}
    if attack in places:
        for tensor in proto.graph.initializer:
            for entry in tensor.external_data:
                if entry.key == "location":
                    entry.value = places[attack]
    elif attack == "operator":
        proto.graph.node[0].op_type = "Evil"
    elif attack == "domain":
        proto.graph.node[0].domain = "evil"
    content = {
        "empty": b"",
        "cut": proto.SerializeToString()[:-100],
        "zeros": b"\0" * 1000,
        "other": (model / next(each for each in GRAPHS if each != graph)).read_bytes(),
    }.get(attack, proto.SerializeToString())
    for each in (file, model / graph.replace(".", "-u8.")):  # the processor decides which is read
        each.write_bytes(content)
    with pytest.raises(ModelError):
        load(model)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("config.json", {"encoder": {"width": 10**6, "layers": 3}}),
        ("config.json", {"encoder": {"width": 4, "layers": 10**7}}),
        ("config.json", {"phrase_width": 10**9}),
        ("transformer/config.json", {"hidden_size": 10**6}),
        ("transformer/config.json", {"hidden_size": -1}),
        ("transformer/config.json", {"num_hidden_layers": 10**7}),
        ("transformer/config.json", {"num_hidden_layers": 2**63}),
        ("transformer/config.json", {"num_hidden_layers": "many"}),
        ("transformer/config.json", {"intermediate_size": 10**10}),
        ("transformer/config.json", {"vocab_size": 10**10}),
        ("transformer/config.json", {"max_position_embeddings": 10**10}),
        ("transformer/config.json", {"num_attention_heads": 0}),
        ("transformer/config.json", {"layer_norm_eps": [1]}),
        ("transformer/config.json", {"layer_norm_eps": "small"}),
    ],
)
def test_sizes(model, name, changes):
    """They are compared with the weights before memory is taken."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    edit(model / name, **changes)
    with pytest.raises(CapsrlError):
        load(model, runtime="torch")


@pytest.mark.parametrize(
    "change",
    [
        lambda options: options["lstm"].update(n_layers=2**63),
        lambda options: options["lstm"].update(n_layers="two"),
        lambda options: options["lstm"].update(dim=10**9),
        lambda options: options["lstm"].update(dim=2**20, n_layers=1000),
        lambda options: options["lstm"].update(projection_dim=-4),
        lambda options: options["char_cnn"].update(n_highway=10**9),
        lambda options: options["char_cnn"].update(filters=[[1, 10**12]]),
        lambda options: options["char_cnn"].update(filters=3),
        lambda options: options["char_cnn"].update(embedding=None),
    ],
)
def test_options_of_elmo(tmp_path, change):
    elmo = pytest.importorskip("capsrl.network.embeddings.elmo")
    networks = pytest.importorskip("tests.helpers.tiny_networks")
    options = {
        "lstm": {"dim": 8, "n_layers": 2, "projection_dim": 4},
        "char_cnn": {
            "activation": "relu",
            "embedding": {"dim": 3},
            "filters": [[1, 4], [2, 4]],
            "max_characters_per_token": 50,
        },
    }
    labeler = networks.make_labeler()
    labeler.save(tmp_path / "model")
    edit(tmp_path / "model" / "config.json", embeddings={"elmo": "elmo"})
    elmo.Elmo(options=options).save_files(tmp_path / "model" / "elmo")
    (tmp_path / "model" / MANIFEST).unlink()
    with pytest.raises(ModelError, match="no tensor"):  # these options make a network
        load(tmp_path / "model", runtime="torch")
    change(options)
    (tmp_path / "model" / "elmo" / "options.json").write_text(json.dumps(options))
    with pytest.raises(ModelError, match="its settings|options.json: expected sizes from 0 to"):
        load(tmp_path / "model", runtime="torch")


@pytest.mark.parametrize("runtime", ["onnx", "torch"])
def test_code_is_never_run(model, runtime, monkeypatch, tmp_path):
    if runtime == "torch":
        pytest.importorskip("transformers")
    edit(
        model / "transformer" / "config.json",
        model_type="evil",
        auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"},
    )
    (model / "transformer" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.setattr("builtins.input", lambda *prompt: pytest.fail("asked to run code"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    if runtime == "torch":
        with pytest.raises(ModelError, match="not an encoder of transformers"):
            load(model, runtime=runtime)
    else:
        load(model)
    assert not (tmp_path / "ran").exists()
