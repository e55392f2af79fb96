import bz2
import gzip
import json
import lzma
import os
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ConfigError, DataError
from capsrl.tables.documents import find_inputs, make_input, read_documents
from capsrl.tables.reading import Document, FilePart, ReadOptions

PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}
REVIEWS = [
    {"id": "r1", "stars": "5", "text": 'He said "hi",\nand left.'},
    {"id": "r2", "stars": "1", "text": "Nobody came."},
    {"id": "r3", "stars": "", "text": ""},
]


def as_csv(delimiter):
    lines = [
        ["id", "stars", "text"],
        *([row["id"], row["stars"], '"' + row["text"].replace('"', '""') + '"'] for row in REVIEWS),
    ]
    return "\n".join(map(delimiter.join, lines)).encode()


CONTENT = {
    ".csv": as_csv(","),
    ".tsv": as_csv("\t"),
    ".jsonl": "\n".join(map(json.dumps, REVIEWS)).encode(),
}


def put(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("suffix", CONTENT)
@pytest.mark.parametrize("packed", PACK)
def test_the_same_documents_in_every_format(tmp_path, monkeypatch, suffix, packed):
    monkeypatch.chdir(tmp_path)
    name = f"r{suffix}{packed}"
    put(tmp_path, name, PACK[packed](CONTENT[suffix]))
    place = f"{name}:" if suffix == ".jsonl" else f"{name}, row "
    assert list(read_documents(name)) == [
        Document(row["id"], row["text"], {"stars": row["stars"]}, f"{place}{n}")
        for n, row in enumerate(REVIEWS, start=1)
    ]


def parquet(path, n=50, group=8):
    table = pa.table(
        {
            "body": [f"Text {i}." if i % 7 else None for i in range(n)],
            "price": [i / 4 for i in range(n)],
            "tags": [["a", "b"]] * n,
        }
    )
    pq.write_table(table, path, row_group_size=group)
    return make_input(path, ReadOptions(text_column="body"))


def test_parquet(tmp_path):
    found = list(parquet(tmp_path / "r.parquet").documents())
    assert len(found) == 50
    assert found[1].text == "Text 1."
    assert found[1].columns == {"price": 0.25, "tags": ["a", "b"]}
    assert found[1].id == f"{tmp_path}/r.parquet:2"
    assert [n for n, each in enumerate(found) if each.error] == list(range(0, 50, 7))
    assert found[7].error == "expected text in 'body', got null"
    assert found[7].place == f"{tmp_path}/r.parquet, row 8"


def documents_of_parts(source, size):
    parts = list(source.parts(size))
    for part, following in pairwise(parts):  # only blank lines are between them
        assert 0 < part.stop - part.first <= size and part.stop <= following.first
    return [document for part in parts for document in source.documents(part)]


@pytest.mark.parametrize("size", [1, 3, 8, 10, 50, 60])
def test_parts_of_parquet(tmp_path, size):
    source = parquet(tmp_path / "r.parquet")
    assert documents_of_parts(source, size) == list(source.documents())


def test_parts_of_parquet_skip_row_groups(tmp_path):
    source = parquet(tmp_path / "r.parquet", n=100, group=10)
    content = bytearray((tmp_path / "r.parquet").read_bytes())
    metadata = pq.ParquetFile(tmp_path / "r.parquet").metadata
    start = metadata.row_group(0).column(0).dictionary_page_offset
    content[start : start + 20] = b"\xff" * 20  # damage to the first row group
    (tmp_path / "r.parquet").write_bytes(content)
    assert [each.text for each in source.documents(FilePart(11, 13))] == ["Text 11.", "Text 12."]
    with pytest.raises(DataError, match=r"r.parquet, row 1: expected Parquet data, got: .*damaged"):
        list(source.documents())


MESSY = st.lists(
    st.sampled_from(
        [
            b"1,a b\n",
            b'2,"c,\nd"\n',
            b'3,"open\n',
            b"4\n",
            b"\n",
            b"5,\xe9\n",
            b'6,"e" f\r\n',
            b"7,",
        ]
    ),
    max_size=12,
).map(b"".join)


@given(MESSY, st.integers(1, 4), st.sampled_from(list(PACK)))
def test_parts_of_a_messy_csv_are_the_whole(tmp_path_factory, content, size, packed):
    path = tmp_path_factory.mktemp("messy") / f"r.csv{packed}"
    path.write_bytes(PACK[packed](b"id,text\n" + content))
    source = make_input(path)
    assert documents_of_parts(source, size) == list(source.documents())


@pytest.mark.parametrize("format", ["jsonl", "lines"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_parts_of_lines(tmp_path, format, size):
    path = put(tmp_path, "a.jsonl", b'{"text": "a"}\n\n\n{"text": 1}\nno\n{"text": "b"}')
    source = make_input(path, ReadOptions(format))
    assert [document.number for document in source.documents()] == [0, 3, 4, 5]
    assert documents_of_parts(source, size) == list(source.documents())


def test_reading_a_part_by_keywords(tmp_path):
    path = put(tmp_path, "a.csv", b"text\na\nb\nc\nd\n")
    assert [each.text for each in read_documents(path, first=1, count=2)] == ["b", "c"]
    assert [each.text for each in read_documents(path, first=2)] == ["c", "d"]
    assert [each.text for each in read_documents(path, first=3, offset=11)] == ["d"]


def test_text_per_file_and_per_line(tmp_path):
    path = put(tmp_path, "a.txt", b"\xef\xbb\xbfDogs bark.\r\n\r\nCats sleep.\n")
    [whole] = read_documents(path)
    assert (whole.id, whole.text) == (str(path), "Dogs bark.\n\nCats sleep.\n")
    lines = list(read_documents(path, format="lines"))
    assert [(each.id, each.text) for each in lines] == [
        (f"{path}:1", "Dogs bark."),
        (f"{path}:3", "Cats sleep."),
    ]


def test_bad_text_files_are_errors(tmp_path):
    [bad] = read_documents(put(tmp_path, "bad.txt", b"caf\xe9"))
    assert (bad.text, bad.place) == (None, str(tmp_path / "bad.txt"))
    assert bad.error.startswith("expected UTF-8 text, got byte 0xe9")
    [long] = read_documents(put(tmp_path, "long.txt", b"abc"), max_characters=2)
    assert long.error == (
        "expected at most 2 characters, got 3; split the text, take each line as a text with "
        "--from lines, or raise the limit with --max-characters"
    )
    assert [each.text for each in read_documents(tmp_path / "bad.txt", encoding="latin-1")] == [
        "café"
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "utf-7"])
@pytest.mark.parametrize("text", ["\U0001f600", "a\U0001f600", "\r\n", "é", "a€"])
def test_the_length_of_text_files(tmp_path, encoding, text):
    """Texts are cut where they are far too long, even inside a character: they are too long."""
    for n in (9, 10, 11, 40, 41, 42, 43, 44, 100):
        path = put(tmp_path, "a.txt", (text * n).encode(encoding))
        [found] = read_documents(path, encoding=encoding, max_characters=10)
        whole = (text * n).replace("\r\n", "\n")
        assert found.text == (whole if len(whole) <= 10 else None)
        if len(whole) > 10:
            assert found.error.startswith("expected at most 10 characters, got ")


def test_bytes_of_another_encoding_in_a_csv(tmp_path):
    path = put(tmp_path, "a.csv", b"id,text,by\n1,caf\xe9,x\n2,ok,Zo\xeb\n3,ok,x\n")
    first, second, third = read_documents(path)
    assert first.error.startswith("column 'text': expected UTF-8 text, got byte 0xe9")
    assert second.error.startswith("column 'by': expected UTF-8 text, got byte 0xeb")
    assert (second.columns, third.error) == ({"by": "Zo\ufffd"}, None)
    assert [each.text for each in read_documents(path, encoding="latin-1")] == ["café", "ok", "ok"]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_csv_in_another_encoding(tmp_path, encoding):
    path = put(tmp_path, "a.csv", "id;text\n1;é, ü\n2;ä\n".encode(encoding))
    source = make_input(path, ReadOptions(encoding=encoding))
    assert [each.text for each in source.documents()] == ["é, ü", "ä"]
    assert documents_of_parts(source, 1) == list(source.documents())


def test_column_types(tmp_path):
    assert make_input(put(tmp_path, "a.csv", CONTENT[".csv"])).column_types() == {"stars": "string"}
    lines = b'{"text": "a", "x": 1}\n{"text": "a", "y": 1, "id": 2}\n'
    assert make_input(put(tmp_path, "a.jsonl", lines)).column_types() == {
        "x": "string",
        "y": "string",
    }
    types = parquet(tmp_path / "a.parquet").column_types()
    assert types == {"price": pa.float64(), "tags": pa.list_(pa.string())}
    assert make_input(put(tmp_path, "a.txt", b"a")).column_types() == {}


def with_names(path, *names):
    pq.write_table(pa.table([["a", "b"]] * len(names), names=names), path)
    return path


def test_two_columns_of_one_name(tmp_path):
    header = "text,,stars,,id,stars,stars,stars.1\n"
    names = ["text", "", "stars", "", "id", "stars", "stars"]
    files = [
        put(tmp_path, "a.csv", f"{header}a,,1,,i,2,3,4\n".encode()),
        with_names(tmp_path / "a.parquet", *names),
    ]
    for path in files:
        source = make_input(path)
        assert next(source.documents()).id in ("i", "a")
        message = f"^{path}: expected one column 'stars', got columns 3 and 6 and 7; rename one of "
        with pytest.raises(ConfigError, match=message + "them, or name .*: --columns NAMES$"):
            source.column_types()
        with pytest.raises(ConfigError, match="expected one column 'stars'"):
            source.column_types(["stars"])
        assert source.column_types(["id"])
        for options in ({"text_column": "stars"}, {"id_column": "stars"}):
            with pytest.raises(ConfigError, match="columns 3 and 6 and 7; rename one of them$"):
                list(read_documents(path, **options))
    [found] = read_documents(files[0])
    assert list(found.columns.values()) == ["", "1", "", "2", "3", "4"]  # none is lost
    with pytest.raises(ConfigError, match="one column 'id', got columns 1 and 3; rename one of th"):
        list(read_documents(put(tmp_path, "b.csv", b"id,text,id\n1,a,2\n")))


def test_columns_without_a_name(tmp_path):
    """Spreadsheets write them for empty columns."""
    source = make_input(put(tmp_path, "a.csv", b"text,,column_3,,\na,1,2,3,\n"))
    [found] = source.documents()
    assert found.columns.keys() == source.column_types().keys()
    assert found.columns == {"column_2": "1", "column_3": "2", "column_4": "3", "column_5": ""}


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.csv", b"id,body\n1,a\n", {}, r"a.csv: expected a column 'text' with the texts, got "
         r"'id', 'body'; name the right one with --text-column \(in Python text_column\)"),
        ("a.csv", b"text\n", {"id_column": "key"}, "a.csv: expected a column 'key' with the ids, "
         "got 'text'; name the right one with --id-column"),
        ("a.csv", "text\n".encode("utf-16"), {}, "a.csv: header: expected UTF-8 text, got byte "
         "0xff; name the encoding, such as --encoding utf-16"),
        ("a.csv", b"Text,TEXT\n", {}, r"name the right one with --text-column Text TEXT \(in Py"),
        ("a.csv", b"id,text\r1,a\r", {}, "a.csv: expected a header with a column 'text', got "
         r"carriage returns as line ends; convert them, as with tr '\\r' '\\n'$"),
        ("a.csv", b"\n\n", {}, "a.csv: expected a header with a column 'text', got an empty file$"),
        ("a.jsonl", b'{"body": "a"}', {}, "a.jsonl: expected a column 'text' .*, got 'body'; name"),
        ("a.parquet", b"PAR1", {}, "a.parquet: expected a Parquet file, got: .*"),
        ("a.csv", b"text\n", {"format": "xml"}, "a.csv: expected one of csv, tsv, .*got xml"),
        ("a.csv", b"text\n", {"encoding": "x"}, "encoding: expected the name of an enc.*'x'"),
        ("a.md", b"text\n", {}, r"a.md: expected a suffix of \.csv .*, got \.md; name the form"),
        ("a.csv.gz", b"text\n", {}, "a.csv.gz: the content is not .gz data"),
        ("a.csv.gz", gzip.compress(b"text\n" + bytes(999), mtime=0)[:-9], {},
         "a.csv.gz: expected more com"),
        ("a.csv.zst", zstandard.compress(b"text\n" + bytes(range(250)) * 999)[:-50], {},
         "a.csv.zst: expected more compressed data, got .*damaged or cut short"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, name, content, options, message):
    path = put(tmp_path, name, content)
    with pytest.raises((ConfigError, DataError), match=message):
        list(read_documents(path, **options))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match="none.csv: no such file"):
        list(read_documents(tmp_path / "none.csv"))
    with pytest.raises(ConfigError, match="-: Parquet is not read from standard input"):
        read_documents("-", format="parquet")
    with pytest.raises(ConfigError, match="-: expected a suffix of .*, got standard input; name"):
        read_documents("-")


@pytest.fixture
def tree(tmp_path):
    for name in ("d/b/x.csv", "d/a/x.csv.gz", "d/.hidden.csv", "d/.git/x.csv", "d/a/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"text\na\n")
    return tmp_path


def test_finding_inputs(tree, monkeypatch):
    monkeypatch.chdir(tree)
    assert find_inputs(["d"]) == ["d/a/x.csv.gz", "d/b/x.csv"]
    assert find_inputs(["d/*/x*", "-"]) == ["d/a/x.csv.gz", "d/b/x.csv", "-"]
    assert find_inputs(["d/**/*.csv"]) == ["d/b/x.csv"]
    assert find_inputs(["d/a/notes.md"]) == ["d/a/notes.md"]
    assert find_inputs(["d/a"], suffixes=[".md", ".csv"]) == ["d/a/notes.md", "d/a/x.csv.gz"]
    assert find_inputs([f"file://{tree}/d"]) == [
        f"file://{tree}/d/a/x.csv.gz",
        f"file://{tree}/d/b/x.csv",
    ]
    (tree / "empty").mkdir()
    for nothing, message in [
        ("empty", "expected files with a suffix of .csv .*, got 0 files$"),
        ("d/*.csv", "no file matches$"),
        ("d/a/*.md", r"expected files with .*, got 1 file \(.md\)$"),
    ]:
        with pytest.raises(ConfigError, match=f"^{nothing.replace('*', '.')}: {message}"):
            find_inputs([nothing])
    with pytest.raises(ConfigError, match=r"^none\.csv: no such file$"):
        find_inputs(["none.csv"])


def test_links_to_folders_are_not_followed(tree):
    (tree / "d" / "a" / "back").symlink_to(tree / "d")
    (tree / "d" / "z.csv").symlink_to("b/x.csv")
    (tree / "d" / "nowhere.csv").symlink_to("none.csv")
    assert find_inputs([tree / "d"]) == [
        str(tree / "d" / name) for name in ("a/x.csv.gz", "b/x.csv", "z.csv")
    ]


def test_pipes_are_read_only_if_they_are_named(tmp_path):
    (tmp_path / "a.csv").touch()
    os.mkfifo(tmp_path / "b.csv")
    for path in (tmp_path, tmp_path / "*.csv"):
        assert find_inputs([path]) == [str(tmp_path / "a.csv")]
    assert find_inputs([tmp_path / "b.csv"]) == [str(tmp_path / "b.csv")]


def test_names_of_documents_have_no_passwords(memory_files):
    memory_files.pipe("/mira:S3CRET@box/a.csv", b"text\nDogs bark.\n,\n")
    found = list(read_documents("memory://mira:S3CRET@box/a.csv"))
    assert [each.id for each in found] == ["memory://box/a.csv:1", "memory://box/a.csv:2"]
    assert found[1].place == "memory://box/a.csv, row 2"


def test_urls(memory_files):
    system = memory_files
    system.pipe("/box/a.csv", b"id,text\n1,a\n2,b\n")
    system.pipe("/box/sub/b.jsonl.gz", gzip.compress(b'{"text": "c"}'))
    with system.open("/box/c.parquet", "wb") as file:
        pq.write_table(pa.table({"text": ["d", "e"]}), file)
    urls = find_inputs(["memory://box"])
    assert [url.rpartition("/")[2] for url in urls] == ["a.csv", "c.parquet", "b.jsonl.gz"]
    assert [each.text for url in urls for each in read_documents(url)] == ["a", "b", "d", "e", "c"]
    assert [url.rpartition("/")[2] for url in find_inputs(["memory://box/*.csv"])] == ["a.csv"]
    source = make_input(urls[0])
    assert documents_of_parts(source, 1) == list(source.documents())
    assert [part.offset for part in source.parts(1)] == [8, 12]
    with pytest.raises(DataError, match="memory://box/none.csv: no such file"):
        list(read_documents("memory://box/none.csv"))


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_half_a_character_at_the_end(tmp_path, name):
    """Files of UTF-16 that were cut in the middle of a character."""
    (tmp_path / name).write_bytes("text\nWe left.\nIt rained.\n".encode("utf-16") + b"a")
    found = list(read_documents(tmp_path / name, encoding="utf-16"))
    assert "expected UTF-16 text, got byte 0x61" in found[-1].error
