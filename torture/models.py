"""The files of model folders."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import capsrl
from capsrl.models import find_model
from capsrl.predict.calibration import load_calibration
from capsrl.predict.folder import MANIFEST, find_stored, read_config, read_inventory
from capsrl.predict.manifest import check_manifest
from capsrl.predict.subwords import read_encoder_config, read_tokenizer
from torture.target import TEXT, Target, Wrong, folder

SHIPPED = find_model("en")
SMALL = ("config.json", "vocab.json", "calibration.json", "frames.tsv")
ENCODER = ("transformer/config.json", "transformer/tokenizer.json")


def models() -> Iterator[Target]:
    """The files of the model that ships: alone, and in a model with and without its manifest."""
    parsers: dict[str, Callable[[Path], object]] = {
        "config.json": read_config,
        "vocab.json": read_inventory,
        "calibration.json": load_calibration,
        "frames.tsv": read_inventory,
        "transformer/config.json": lambda folder: read_encoder_config(folder / "transformer"),
        "transformer/tokenizer.json": lambda folder: read_tokenizer(folder / "transformer"),
        "weights-00001-of-00002.safetensors": find_stored,
    }
    small = _small_model()
    for name, parse in parsers.items():
        seed = (small / name).read_bytes()
        yield Target(f"parse/{name}", [seed], partial(_parse_file, small, name, parse), cost=2)
    for name in [*SMALL, *ENCODER, MANIFEST, *_large()]:
        seed = (SHIPPED / name).read_bytes()
        cost = 400 if len(seed) > 1_000_000 else 100
        yield Target(f"model/{name}", [seed], partial(_open_model, True, name), cost=cost)
        if name != MANIFEST:
            read = partial(_open_model, False, name)
            yield Target(f"stranger/{name}", [seed], read, cost=max(cost, 600))


def _large() -> list[str]:
    return sorted(
        path.name for path in SHIPPED.iterdir() if path.suffix in (".onnx", ".safetensors")
    )


@cache
def _small_model() -> Path:
    """The files of the model without most of their entries, to be parsed quickly."""
    small = folder() / "small"
    shutil.copytree(SHIPPED, small, ignore=shutil.ignore_patterns("*.onnx", MANIFEST))
    lines = (SHIPPED / "frames.tsv").read_bytes().splitlines(True)
    (small / "frames.tsv").write_bytes(b"".join(lines[:40]))
    for name in ("vocab.json", "transformer/tokenizer.json"):
        data = _shortened(json.loads((SHIPPED / name).read_bytes()))
        if candidates := data.get("candidates"):  # ids of senses, most of which are gone
            data["candidates"] = {lemma: [n] for n, lemma in enumerate(candidates)}
        (small / name).write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    tensors = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
    header = json.dumps(tensors | {"b": {"dtype": "I8", "shape": [8], "data_offsets": [24, 32]}})
    weights = len(header).to_bytes(8, "little") + header.encode() + bytes(32)
    (small / "weights-00001-of-00002.safetensors").write_bytes(weights)
    return small


def _shortened(data: Any) -> Any:  # noqa: ANN401
    """JSON with at most 200 entries in each list and object."""
    if isinstance(data, dict):
        return {name: _shortened(value) for name, value in islice(data.items(), 200)}
    return [_shortened(value) for value in data[:200]] if isinstance(data, list) else data


def _parse_file(folder: Path, name: str, parse: Callable[[Path], object], data: bytes) -> object:
    with _damaged(folder / name, data):
        return parse(folder)


@contextmanager
def _damaged(file: Path, data: bytes) -> Iterator[None]:
    """Write other bytes into a file, and put it back afterwards."""
    good = file.read_bytes()
    file.write_bytes(data)
    try:
        yield
    finally:
        file.write_bytes(good)


@cache
def _model_folder(has_manifest: bool) -> Path:
    copied = shutil.copytree(SHIPPED, folder() / f"model-{has_manifest}")
    if not has_manifest:
        (copied / MANIFEST).unlink()
    return copied


def _open_model(has_manifest: bool, name: str, data: bytes) -> object:
    model = _model_folder(has_manifest)
    with _damaged(model / name, data):
        if has_manifest:
            check_manifest(model)
        found = _answer(model)
    if has_manifest and found != _right_answer():
        raise Wrong("another answer")
    return found


def _answer(model: Path, runtime: str = "onnx") -> str:
    labeler = capsrl.load(model, device="cpu", runtime=runtime, threads=1)
    return "".join(sentence.to_json() for sentence in labeler.label(TEXT, trace=True))


@cache
def _right_answer() -> str:
    return _answer(SHIPPED)


def tiny_models() -> Iterator[Target]:
    """The files of networks of a few kilobytes, which torch runs, without a manifest."""
    from tests.helpers.tiny_networks import make_config, make_labeler, write_encoder
    from tests.network.embeddings.test_elmo import OPTIONS, write_model

    write_encoder(folder() / "encoder")
    encoder = {"transformer": str(folder() / "encoder"), "learned": 4}
    for kind, embeddings in (("words", None), ("encoder", encoder)):
        model = folder() / f"tiny-{kind}"
        make_labeler(make_config(embeddings=embeddings)).save(model)
        (model / MANIFEST).unlink()
        for file in sorted(model.rglob("*")):
            name = file.relative_to(model).as_posix()
            if file.is_file() and file.suffix != ".md":
                read = partial(_open_tiny, model, name)
                yield Target(f"torch/{kind}/{name}", [file.read_bytes()], read, cost=100)
    elmo = write_model(folder() / "elmo", OPTIONS)
    for file in sorted(elmo.iterdir()):
        read = partial(_open_elmo, elmo, file.name)
        yield Target(f"elmo/{file.name}", [file.read_bytes()], read, cost=10)


def _open_tiny(model: Path, name: str, data: bytes) -> object:
    with _damaged(model / name, data):
        return _answer(model, "torch")


def _open_elmo(elmo: Path, name: str, data: bytes) -> object:
    from capsrl.network.embeddings.elmo import read_elmo

    with _damaged(elmo / name, data):
        return read_elmo(elmo)
