"""Tables of texts, compressed files, and the files of a bulk run."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from capsrl.bulk.monitor import find_done, read_status
from capsrl.bulk.plan import Plan, read_plan, scan
from capsrl.bulk.storage import Folder
from capsrl.search.hits import search
from capsrl.search.query import parse_query
from capsrl.tables.columns import NOTHING, arrow_schema
from capsrl.tables.documents import make_input
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.reading import Document, ReadOptions
from capsrl.tables.writing import WriteOptions, table_rows, text_parts, write_parquet
from torture.target import Target, Wrong, folder, labeled, write


def tables() -> Iterator[Target]:
    """Tables in every format, encoding and compression."""
    rows = [(f"r{i}", f"Row {i} says: she left.", i) for i in range(6)]
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
        cost = 4 if format in ("csv", "tsv") else 3
        yield Target(f"table/{format}", seeds, partial(_read_table, format, None), cost=cost)
    for codec in ("utf-16", "latin-1"):
        seeds = [csv.encode(codec)]
        yield Target(f"table/csv {codec}", seeds, partial(_read_table, "csv", codec), cost=5)
    long = csv.encode() * 3
    packed = {"gz": [gzip.compress(long, mtime=0), gzip.compress(csv.encode(), mtime=0) * 2]}
    packed["xz"] = [lzma.compress(long), lzma.compress(csv.encode()) * 2 + bytes(4)]
    packed["bz2"] = [bz2.compress(long), bz2.compress(csv.encode()) * 2]
    import zstandard

    compressor = zstandard.ZstdCompressor(write_checksum=True)
    packed["zst"] = [compressor.compress(long), compressor.compress(csv.encode()) * 2]
    for suffix, seeds in packed.items():
        yield Target(f"packed/{suffix}", seeds, partial(_read_packed, suffix, seeds))
    for to in ("csv", "parquet"):
        yield Target(f"search/{to}", [_labeled_table(to)], partial(_search, to), cost=40)


def _labeled_table(format: str) -> bytes:
    document, options = Document("d", None), WriteOptions(format, "argument")
    items = [DocumentSentence(document, each, n) for n, each in enumerate(labeled(), start=1)]
    if format == "csv":
        return "".join(text_parts(items, options)).encode()
    output = io.BytesIO()
    write_parquet(table_rows(items, options), output, arrow_schema("argument", NOTHING))
    return output.getvalue()


def _search(format: str, data: bytes) -> object:
    with search(parse_query("A0:*"), [str(write(f"labeled.{format}", data))]) as hits:
        return list(hits.rows())


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
    path = write(f"table.{format}{suffix}", data)
    options = ReadOptions(format=format, encoding=codec)
    whole = list(make_input(path, options).documents())
    make_input(path, options).column_types()
    parts = list(make_input(path, options).parts(3))
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


def bulk_files() -> Iterator[Target]:
    """The files of a bulk run."""
    table = write("in.csv", b"id,text\n" + b"".join(b"%d,She left.\n" % i for i in range(12)))
    run = Folder(str(folder() / "run"))
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
        path = write(f"run/{name}", data)
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
