import json

import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.tables.documents import make_input, read_documents
from capsrl.tables.reading import ReadOptions, some_names


def put(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def test_rows_without_text_are_errors_in_their_place(tmp_path):
    values = ["a", None, 5, {"b": 1}, "", "\ud800", "a\udc80", "abcdef"]
    lines = [json.dumps({"text": value}) for value in values]
    lines.insert(2, '{"body": "no text"}')
    path = put(tmp_path, "a.jsonl", "\n".join(lines).encode())
    found = list(read_documents(path, max_characters=5))
    surrogate = "expected Unicode text in 'text', got the lone surrogate"
    assert [each.text for each in found] == ["a", None, None, None, None, "", None, None, None]
    assert [each.error and each.error.partition(";")[0] for each in found] == [
        None,
        "expected text in 'text', got null",
        "expected text in 'text', got none",
        "expected text in 'text', got int",
        "expected text in 'text', got dict",
        None,
        f"{surrogate} \\ud800, which is half a character",
        f"{surrogate} \\udc80, which is half a character",
        "expected at most 5 characters, got 6",
    ]
    assert [each.place for each in found] == [f"{path}:{n}" for n in range(1, 10)]


def test_ids(tmp_path):
    path = put(tmp_path, "a.jsonl", b'{"key": 7, "text": "a"}\n{"key": null, "text": "b"}\n')
    assert [each.id for each in read_documents(path, id_column="key")] == ["7", f"{path}:2"]
    assert [each.id for each in read_documents(path)] == [f"{path}:1", f"{path}:2"]


def test_values_that_no_file_can_hold(tmp_path):
    line = b'{"text": "a", "\\udc80": "\\udc80", "x": NaN, '
    line += b'"y": [1.5, Infinity, "\\ud800"], "z": {"\\ud800": 1}}'
    [found] = read_documents(put(tmp_path, "a.jsonl", line))
    assert found.columns == {
        "\ufffd": "\ufffd",
        "x": None,
        "y": [1.5, None, "\ufffd"],
        "z": {"\ufffd": 1},
    }
    assert found.columns.keys() == make_input(tmp_path / "a.jsonl").column_types().keys()


def test_messages_about_many_columns_are_short(tmp_path):
    header = ",".join(f"column number {n} {'x' * n}" for n in range(3000))
    path = put(tmp_path, "wide.csv", f"{header}\n".encode())
    with pytest.raises(ConfigError, match="'column number 0', .* and 2,990 more; name the") as e:
        list(read_documents(path))
    assert len(str(e.value)) < 1000
    twice = put(tmp_path, "twice.csv", b"text" + b",a" * 5000 + b"\n")
    with pytest.raises(ConfigError, match="one column 'a', got columns 2 and 3 and 4; rename"):
        make_input(twice).column_types()
    assert some_names([]) == "none"


KINDS = [
    (b'{"text": null}', "no text"),
    (b'{"text": 5}', "no text"),
    (b'{"id": 1}', "no text"),
    (b'{"text": "caf\xe9"}', "encoding"),
    (b'{"text": "\\ud800"}', "encoding"),
    (b'{"text": "too long"}', "too long"),
    (b"no", "bad row"),
    (b"[1]", "bad row"),
]


def test_kinds_of_faults(tmp_path):
    lines = [b'{"text": "ok"}', *(line for line, _ in KINDS)]
    found = list(read_documents(put(tmp_path, "a.jsonl", b"\n".join(lines)), max_characters=5))
    assert [each.fault and each.fault.kind for each in found] == [None, *(k for _, k in KINDS)]
    rows = b'id,text\n1\n2,"x" y\n3,caf\xe9\n4,too long\n'
    found = read_documents(put(tmp_path, "a.csv", rows), max_characters=5)
    assert [each.fault.kind for each in found] == ["bad row", "bad row", "encoding", "too long"]
    [found] = read_documents(put(tmp_path, "a.txt", b"x" * 999), max_characters=5)
    assert found.fault.kind == "too long"


def test_utf16_without_a_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,She left.\n".encode("utf-16-le"))
    with pytest.raises(DataError, match=r"a\.csv: not utf-16 text"):
        list(make_input(path, ReadOptions(encoding="utf-16")).documents())
