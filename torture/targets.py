"""What reads bytes from outside: the readers of all formats, model files and requests.

A target has seeds, which are valid inputs, and a function that reads an input and raises Wrong if
what it finds is not right: parts of a file must have the rows of the whole file, words the text at
their offsets, damaged models no answer other than before.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import capsrl
from capsrl.bulk.monitor import find_done, read_status
from capsrl.bulk.plan import Plan, read_plan, scan
from capsrl.bulk.storage import Folder
from capsrl.errors import CapsrlError
from capsrl.formats.formats import format_sentences, read_sentences
from capsrl.formats.phrase_file import read_phrases
from capsrl.formats.universal_propbank import read_up2
from capsrl.frames.index import FrameIndex
from capsrl.frames.xml import read_frames
from capsrl.models import find_model
from capsrl.predict.calibration import load_calibration
from capsrl.predict.folder import MANIFEST, find_stored, read_config, read_inventory
from capsrl.predict.manifest import check_manifest
from capsrl.predict.subwords import read_encoder_config, read_tokenizer
from capsrl.recipe import read_recipe
from capsrl.tables.documents import make_input
from capsrl.tables.reading import ReadOptions
from capsrl.text import Layout
from capsrl.text.reading import to_sentences

TEXT = "Mira sold her bicycle to a neighbour. It had not been used, so she did not miss it."
SHIPPED = find_model("en")
SMALL = ("config.json", "vocab.json", "calibration.json", "frames.tsv")
ENCODER = ("transformer/config.json", "transformer/tokenizer.json")


class Wrong(Exception):
    """An input was read, but what was read is not right."""


@dataclass(frozen=True)
class Target:
    """A way in.

    seeds     valid inputs
    read      reads an input
    refusals  the errors by which it may refuse one
    cost      how many inputs of the cheapest target take as long as one, about
    """

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (CapsrlError,)
    cost: int = 1


def all_targets() -> dict[str, Target]:
    """The targets by name; some need packages of extras."""
    found = [*_corpora(), *_tables(), *_other_files(), *_bulk(), *_texts(), *_models(), *_vectors()]
    return {target.name: target for target in found}


@cache
def _folder() -> Path:
    """A temporary folder, removed when the process ends; in memory where the system can."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(prefix="capsrl-torture-", dir=shared)
    _kept.append(folder)
    return Path(folder.name)


_kept: list[object] = []


def _write(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@cache
def _labeled() -> list[capsrl.Sentence]:
    labeler = capsrl.load(device="cpu", runtime="onnx", threads=1)
    texts = [
        TEXT,
        "Omar, whom I consider a friend, gave up smoking — twice.",
        "No.",
        "Zoë naïvely ran.",
    ]
    return [labeler.inventory.fill_lemmas(each) for text in texts for each in labeler.label(text)]


def _corpora() -> Iterator[Target]:
    """Corpora with propositions; what was read is written and read again."""
    for format in ("conll09", "conllup", "jsonl"):
        data = "".join(format_sentences(_labeled(), format)).encode()
        yield Target(format, [data, data[: len(data) // 3]], partial(_read_corpus, format))
    conllu = "# text = Dogs bark\n1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2-3\tbark!\t_\t_\t_\t_\t_\t_\t_\t_\n"
    conllu += "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No\n3\t!\t!\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
    yield Target("conllu", [conllu.encode()], partial(_read_corpus, "conllu"))
    up1 = "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\t_\tA0\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\tbark.01\t_\n\n"
    yield Target("up1", [up1.encode()], partial(_read_corpus, "up1"))
    text = f"{TEXT}\nA second line.\n\nA third, after a blank one.\n".encode()
    yield Target("text", [text], partial(_read_corpus, "text"))
    spans = "".join(format_sentences(_labeled(), "spans")).encode()
    yield Target("spans", [spans], lambda data: list(read_phrases(_write("s.spans.tsv", data))))
    words = "".join(line for line in conllu.splitlines(True)).replace(
        "# text", "# sent_id = 1\n# text"
    )
    standoff = "# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS\n# source_sent_id = . . 1\n1\t_\t_\t_\n2\tbark.01\tA0:1\tA0:1-1\n3\t_\t_\t_\n\n"

    def read_standoff(data: bytes) -> object:
        merge = _write("up2.conllu", words.encode())
        lines = _write("up2.conllup", data).read_text("utf-8", "replace").split("\n")
        return list(read_up2(lines, merge.read_text("utf-8").split("\n"), source="up2"))

    yield Target("up2", [standoff.encode()], read_standoff)


def _read_corpus(format: str, data: bytes) -> object:
    found = list(read_sentences(_write(f"corpus.{format}", data), format))
    if format == "jsonl":
        again = _write("again.jsonl", "".join(format_sentences(found, format)).encode())
        if list(read_sentences(again, format)) != found:
            raise Wrong("written and read again it is another")
    return found


def _tables() -> Iterator[Target]:
    rows = [(f"r{i}", f"Row {i} says: she left.", i) for i in range(9)]
    quoted = '2","3\r\nx,"She said ""go"", then\nleft.",7\r\n\r\ny,He ran.,8\r\n'
    csv = "id,text,n\r\n" + "".join(f"{id},{text},{n}\r\n" for id, text, n in rows)
    odd = 'id,text,"size\n' + "".join(f"{id},{text},{n}\n" for id, text, n in rows)
    tsv = csv.replace(",", "\t")
    jsonl = "".join(json.dumps({"id": a, "text": b, "n": [c]}) + "\n" for a, b, c in rows)
    lines = "One line.\n\nAnother one.\r\nThe third: é.\n" * 3
    plain = {
        "csv": [
            csv.encode(),
            (csv + quoted).encode(),
            odd.encode(),
            b"\xef\xbb\xbfsep=;\ntext;id\na b;1\n",
        ],
        "tsv": [tsv.encode()],
        "jsonl": [jsonl.encode(), b'{"text": "a \\ud83d\\ude00 b"}\n' * 4],
        "lines": [lines.encode()],
        "text": [lines.encode()],
        "parquet": list(_parquet(rows)),
    }
    for format, seeds in plain.items():
        cost = 12 if format == "parquet" else 2
        yield Target(f"table/{format}", seeds, partial(_read_table, format, None), cost=cost)
    for codec in ("utf-16", "latin-1"):
        seeds = [csv.encode(codec)]
        yield Target(f"table/csv {codec}", seeds, partial(_read_table, "csv", codec), cost=2)
    long = csv.encode() * 3
    packed = {"gz": [gzip.compress(long, mtime=0), gzip.compress(csv.encode(), mtime=0) * 2]}
    packed["xz"] = [lzma.compress(long), lzma.compress(csv.encode()) * 2 + bytes(4)]
    packed["bz2"] = [bz2.compress(long), bz2.compress(csv.encode()) * 2]
    import zstandard

    compressor = zstandard.ZstdCompressor(write_checksum=True)
    packed["zst"] = [compressor.compress(long), compressor.compress(csv.encode()) * 2]
    for suffix, seeds in packed.items():
        yield Target(f"packed/{suffix}", seeds, partial(_read_packed, suffix, seeds), cost=2)


def _parquet(rows: Sequence[tuple[str, str, int]]) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    columns = dict(zip(("id", "text", "n"), map(list, zip(*rows, strict=True)), strict=True))
    for compression, group in (("none", 4), ("snappy", 9), ("zstd", 2)):
        output = io.BytesIO()
        table = pyarrow.table(columns)
        parquet.write_table(table, output, compression=compression, row_group_size=group)
        yield output.getvalue()


def _read_table(format: str, codec: str | None, data: bytes, suffix: str = "") -> list[Any]:
    """The documents of a file, which must be those of its parts one by one."""
    path = _write(f"table.{format}{suffix}", data)
    options = ReadOptions(format=format, encoding=codec)
    whole = list(make_input(path, options).documents())
    make_input(path, options).column_types()
    parts = list(make_input(path, options).parts(2))
    again = [list(make_input(path, options).documents(part)) for part in parts]
    if [each for part in again for each in part] != whole:
        raise Wrong("parts differ from the whole")
    if any(len(found) != part.count for part, found in zip(parts, again, strict=True)):
        raise Wrong("a part has another number of rows than planned")
    return whole


def _read_packed(suffix: str, seeds: Sequence[bytes], data: bytes) -> object:
    """A compressed file that is damaged must not be read as another one."""
    found = [each.text for each in _read_table("csv", None, data, f".{suffix}")]
    if compressions := _texts_of(suffix, tuple(seeds)):
        if found and suffix != "gz" and not any(found[0] == known[0] for known in compressions):
            raise Wrong("other rows than those compressed")
    return found


@cache
def _texts_of(suffix: str, seeds: Sequence[bytes]) -> list[list[Any]]:
    tables = (_read_table("csv", None, seed, f".{suffix}") for seed in seeds)
    return [[each.text for each in table] for table in tables]


def _other_files() -> Iterator[Target]:
    xml = b"""<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE frameset SYSTEM "frameset.dtd">
<frameset><predicate lemma="sell"><roleset id="sell.01" name="commerce: seller"><aliases><alias pos="v">sell</alias>
</aliases><roles><role descr="Seller" f="PAG" n="0"><rolelinks><rolelink class="give-13.1" resource="VerbNet"
version="verbnet3.4">agent</rolelink></rolelinks></role><role descr="Thing Sold" f="PPT" n="1"/></roles>
<lexlinks><lexlink class="Commerce_sell" confidence="0.8" resource="FrameNet" version="1.7" src="x"/></lexlinks>
</roleset></predicate></frameset>"""

    def read_xml(data: bytes) -> object:
        return read_frames(_write("frames/sell.xml", data).parent)

    yield Target("frames.xml", [xml], read_xml)
    tsv = b"".join(islice((SHIPPED / "frames.tsv").read_bytes().splitlines(True), 60))
    yield Target("frames.tsv", [tsv], lambda data: FrameIndex.load(_write("frames.tsv", data)))
    recipe = b'[data]\ntrain = "a.conll09"\ndev = "b.jsonl"\n[model]\nencoder.width = 64\n[train]\nepochs = 3\nlearning_rate = 1e-3\nseed = 7\n'
    yield Target("recipe", [recipe], lambda data: read_recipe(_write("recipe.toml", data)))


def _bulk() -> Iterator[Target]:
    """The files of a bulk run."""
    table = _write("in.csv", b"id,text\n" + b"".join(b"%d,She left.\n" % i for i in range(12)))
    run = Folder(str(_folder() / "run"))
    Path(run.url, "data").mkdir(parents=True, exist_ok=True)
    plan = Plan({"model": "en", "to": "jsonl"}, 5, [scan(make_input(table), 5)])
    plan.write(run)
    Path(run.url, plan.name(0)).write_bytes(b"{}\n")
    status = {
        "state": "running",
        "done": 1,
        "shards": 3,
        "rows": 5,
        "updated": "2026-01-01T00:00:00+00:00",
        "pid": 1,
    }
    event = {
        "event": "shard",
        "shard": 0,
        "size": 3,
        "sha256": run.digest(plan.name(0)),
        "rows": 5,
        "seconds": 0.1,
    }
    good = Path(run.url, "plan.jsonl").read_bytes()

    def read_lines(name: str, read: Callable[[], object], data: bytes) -> object:
        path = _write(f"run/{name}", data)
        try:
            return read()
        finally:
            path.write_bytes(good) if name == "plan.jsonl" else path.unlink()

    def read_damaged_plan() -> object:
        found = read_plan(run)
        if found is not None and Path(run.url, "plan.jsonl").read_bytes() != good:
            raise Wrong("another plan")
        return found

    lines = (json.dumps(event) + "\n").encode() * 2
    one = partial(read_lines, "plan.jsonl", read_damaged_plan)
    yield Target("bulk/plan", [good], one)
    yield Target(
        "bulk/log", [lines], partial(read_lines, "log.jsonl", lambda: find_done(plan, run))
    )
    yield Target(
        "bulk/status",
        [json.dumps(status).encode()],
        partial(read_lines, "status.json", lambda: read_status(run)),
    )


def _texts() -> Iterator[Target]:
    texts = [TEXT.encode(), "Dr. Müller u. a. — “quoted” 😀 e.g. http://x.y/z?a=b, 3.5%…".encode()]
    html = [
        b"<p>Mira <b>sold</b> her&nbsp;bicycle.</p><script>x<y</script><ul><li>One<li>Two &amp; three</ul>"
    ]
    yield Target("split", texts, partial(_split, Layout()))
    yield Target("split/lines", texts, partial(_split, Layout(one_sentence_per_line=True)))
    yield Target("split/html", [*texts, *html], partial(_split, Layout(html=True)), cost=2)
    from fastapi.exceptions import RequestValidationError

    from capsrl.serve.requests import explain, parse_body

    def read_body(data: bytes) -> object:
        try:
            return parse_body(data)
        except RequestValidationError as error:
            if len(message := explain(error.errors()[0])) > 400:
                raise Wrong("a long message") from None
            return message

    bodies = [
        json.dumps({"text": TEXT, "at": [5], "trace": True, "iterations": 2, "threshold": 0.5}),
        json.dumps({"texts": [TEXT, "No."], "pos": ["verb"], "html": True}),
    ]
    yield Target("request", [body.encode() for body in bodies], read_body)

    def label(data: bytes) -> object:
        return [
            _check_offsets(text := data.decode("utf-8", "replace")[:2000], _labeler().label(text))
        ]

    yield Target("label", texts, label, cost=100)


@cache
def _labeler() -> capsrl.Labeler:
    return capsrl.load(device="cpu", runtime="onnx", threads=1)


def _split(layout: Layout, data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    return _check_offsets(text, to_sentences(text, layout), exact=not layout.html)


def _check_offsets(text: str, sentences: list[Any], *, exact: bool = True) -> list[Any]:
    end = 0
    for sentence in sentences:
        for (start, stop), word in zip(sentence.offsets or (), sentence.words, strict=False):
            if not end <= start < stop <= len(text) or (exact and text[start:stop] != word):
                raise Wrong("offsets that are not those of the word")
            end = stop
    return sentences


def _models() -> Iterator[Target]:
    """The files of the model that ships: by themselves, in a model with and without its manifest."""
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
        cost = 8 if len(seed) > 100_000 else 3
        yield Target(f"parse/{name}", [seed], partial(_parse_file, small, name, parse), cost=cost)
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
    folder = _folder() / "small"
    shutil.copytree(
        SHIPPED, folder, ignore=lambda _, names: [n for n in names if n.endswith(".onnx")]
    )
    lines = (SHIPPED / "frames.tsv").read_bytes().splitlines(True)
    (folder / "frames.tsv").write_bytes(b"".join(lines[:40]))
    tensors = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
    header = json.dumps(tensors | {"b": {"dtype": "I8", "shape": [8], "data_offsets": [24, 32]}})
    weights = len(header).to_bytes(8, "little") + header.encode() + bytes(32)
    (folder / "weights-00001-of-00002.safetensors").write_bytes(weights)
    return folder


def _parse_file(folder: Path, name: str, parse: Callable[[Path], object], data: bytes) -> object:
    good = (folder / name).read_bytes()
    (folder / name).write_bytes(data)
    try:
        return parse(folder)
    finally:
        (folder / name).write_bytes(good)


@cache
def _model_folder(has_manifest: bool) -> Path:
    folder = _folder() / f"model-{has_manifest}"
    shutil.copytree(SHIPPED, folder)
    if not has_manifest:
        (folder / MANIFEST).unlink()
    return folder


def _open_model(has_manifest: bool, name: str, data: bytes) -> object:
    folder = _model_folder(has_manifest)
    good = (SHIPPED / name).read_bytes()
    (folder / name).write_bytes(data)
    try:
        if has_manifest:
            check_manifest(folder)
        answer = _answer(folder)
    finally:
        (folder / name).write_bytes(good)
    if has_manifest and answer != _answer(SHIPPED):
        raise Wrong("another answer")
    return answer


def _answer(folder: Path) -> str:
    labeler = capsrl.load(folder, device="cpu", runtime="onnx", threads=1)
    return "".join(sentence.to_json() for sentence in labeler.label(TEXT, trace=True))


def _vectors() -> Iterator[Target]:
    """Word vectors, checkpoints and other files of training, which need torch."""
    import numpy as np
    import torch
    from safetensors.numpy import save_file

    from capsrl.files.sealing import PLACE, check_seal, seal
    from capsrl.frames.descriptions import Descriptions
    from capsrl.network.embeddings.fasttext import look_up
    from capsrl.network.embeddings.vector_files import open_vectors
    from capsrl.train.checkpoint import load_checkpoint
    from capsrl.train.soft_labels import load_labels

    torch.set_num_threads(1)
    vec = b"4 3\nthe 0.1 -0.2 3e-2\ndog 1 2 3\nbarks -1 .5 0\nz\xc3\xa9 0 0 0\n"

    def look(name: str, data: bytes) -> object:
        vectors = open_vectors(_write(name, data))
        return [look_up(vectors, word) for word in ("dog", "barking", "zé")]

    yield Target("vectors.vec", [vec], partial(look, "words.vec"), cost=3)
    path = _folder() / "descriptions.safetensors"
    Descriptions(np.ones((2, 4), np.float32), {"see.01": {"A0": 0, "A1": 1}}).save(path)
    yield Target(
        "descriptions",
        [path.read_bytes()],
        lambda data: Descriptions.load(_write("d.safetensors", data)),
        cost=3,
    )
    path = _folder() / "sealed.safetensors"
    save_file({"a": np.arange(12, dtype=np.float32)}, path, metadata=PLACE)
    seal(path)
    sealed = path.read_bytes()

    def sealed_file(read: Callable[[Path], object], data: bytes) -> object:
        file = _write("damaged.safetensors", data)
        if check_seal(file) and data != sealed:
            raise Wrong("damage that the seal does not show")
        return read(file)

    yield Target("checkpoint", [sealed], partial(sealed_file, load_checkpoint), cost=3)
    yield Target("soft labels", [sealed], partial(sealed_file, load_labels), cost=3)
