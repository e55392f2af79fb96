import bz2
import gzip
import io
import lzma
import os
import stat
import sys

import pytest
import zstandard

from capsrl.errors import ConfigError, DataError
from capsrl.files import opening
from capsrl.files.opening import name_of, open_writer, read_lines, suffix_of

PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}
PACKED = [suffix for suffix in PACK if suffix]


@pytest.fixture(params=PACK, ids=["plain", "gz", "xz", "bz2", "zst"])
def suffix(request):
    return request.param


def put(tmp_path, suffix, content):
    path = tmp_path / f"file.txt{suffix}"
    path.write_bytes(PACK[suffix](content))
    return path


def stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="latin-1"))


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),  # only a file begins with a mark
        ("naïve\u2028x\x0b\x85\n東京\n".encode(), ["naïve\u2028x\x0b\x85", "東京"]),
    ],
)
def test_reads_lines(tmp_path, monkeypatch, suffix, content, lines):
    assert list(read_lines(put(tmp_path, suffix, content))) == lines
    stdin(monkeypatch, content)
    assert list(read_lines("-")) == lines  # as UTF-8, whatever the locale


@pytest.mark.parametrize("encoding", ["latin-1", "CP1252", "utf-16", "utf-16-be", "UTF8", "cp037"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_other_encodings(tmp_path, monkeypatch, suffix, encoding, end):
    lines = ["naïve café", "", "señor ¿qué?"]
    content = end.join([*lines, ""]).encode(encoding)
    assert list(read_lines(put(tmp_path, suffix, content), encoding=encoding)) == lines
    stdin(monkeypatch, content)
    assert list(read_lines("-", encoding=encoding)) == lines
    assert not sys.stdin.buffer.closed


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"])
def test_a_byte_order_mark_is_dropped_in_any_encoding(tmp_path, encoding):
    mark = "" if encoding in ("utf-16", "utf-8-sig") else "\ufeff"  # Python writes one by itself
    path = put(tmp_path, "", f"{mark}a\nb\n".encode(encoding))
    assert list(read_lines(path, encoding=encoding)) == ["a", "b"]


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex", "undefined", "a\x00b", ""])
def test_unknown_encodings(tmp_path, name):
    path = put(tmp_path, "", b"a\n")
    with pytest.raises(ConfigError) as refused:
        list(read_lines(path, encoding=name or " ", option="--encoding"))
    assert str(refused.value) == (
        "--encoding: expected the name of an encoding, such as latin-1, cp1252 or utf-16, "
        f"got {name or ' '!r}"
    )


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"good\nb\xe4d", None, ":2: expected UTF-8 text, got byte 0xe4; name its encoding, such "
         "as --encoding latin-1, or convert the file to UTF-8"),
        (b"\x93bad\x94", None, ":1: expected UTF-8 text, got byte 0x93; name its encoding, such as "
         "--encoding cp1252, or convert the file to UTF-8"),
        ("text".encode("utf-16"), None, ":1: expected UTF-8 text, got byte 0xff; name its encoding,"
         " such as --encoding utf-16, or convert the file to UTF-8"),
        (b"b\x81d", "cp1252", ":1: expected CP1252 text, got byte 0x81; name its encoding, such as "
         "--encoding utf-8, or convert the file to UTF-8"),
        (b"abc", "utf-16-le", ": expected UTF-16-LE text, got byte 0x63; name its encoding, such "
         "as --encoding utf-8, or convert the file to UTF-8"),
    ],
)  # fmt: skip
def test_another_encoding_than_the_one_expected(tmp_path, content, encoding, message):
    path = put(tmp_path, "", content)
    with pytest.raises(DataError) as refused:
        list(read_lines(path, encoding=encoding, option="--encoding"))
    assert str(refused.value) == f"{path}{message}"
    with pytest.raises(DataError, match=r"got byte 0x..; convert the file to UTF-8$"):
        list(read_lines(path, encoding=encoding))


def test_stdin_stays_open(monkeypatch):
    stdin(monkeypatch, b"a\n")
    list(read_lines("-"))
    assert not sys.stdin.buffer.closed


def test_reading_is_lazy(tmp_path, suffix):
    path = put(tmp_path, suffix, b"good\n" * 100_000 + b"\xff\n")
    assert next(read_lines(path)) == "good"


def test_bad_utf8_names_line_and_byte(tmp_path, suffix):
    path = put(tmp_path, suffix, b"good\ngood\nb\xe4d\n")
    with pytest.raises(DataError, match=r"file\.txt.*:3: expected UTF-8 text, got byte 0xe4"):
        list(read_lines(path))


def test_utf16_is_refused(tmp_path, suffix):
    path = put(tmp_path, suffix, "text".encode("utf-16"))
    with pytest.raises(DataError, match=":1: expected UTF-8 text, got byte 0xff"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKED, indirect=True)
def test_cut_short(tmp_path, suffix):
    path = put(tmp_path, suffix, os.urandom(5000).hex().encode())
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=rf"file\.txt\{suffix}: .* after line 0, got .* cut short"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKED, indirect=True)
def test_not_compressed_at_all(tmp_path, suffix):
    path = tmp_path / f"file.txt{suffix}"
    path.write_bytes(b"1\tplain\n")
    with pytest.raises(
        DataError, match=rf"the content is not \{suffix} data; remove \{suffix} from"
    ):
        list(read_lines(path))


def test_compression_by_a_suffix_in_upper_case(tmp_path):
    path = tmp_path / "FILE.TXT.GZ"
    with open_writer(path) as file:
        file.write("a\n")
    assert gzip.decompress(path.read_bytes()) == b"a\n"
    assert list(read_lines(path)) == ["a"]
    assert suffix_of(path) == ".txt"


@pytest.mark.parametrize("suffix", [".lz4", ".zip"])
def test_other_compressions_are_refused(tmp_path, suffix):
    path = tmp_path / f"file.txt{suffix}"
    refused = rf"file.txt\{suffix}: expected plain text or .gz, .xz, .bz2, .zst, got \{suffix}"
    with pytest.raises(DataError, match=f"{refused}; recompress"), open_writer(path):
        pass
    assert not list(tmp_path.iterdir())
    path.write_bytes({".lz4": b"\x04\x22\x4d\x18", ".zip": b"PK\x03\x04"}[suffix] + b"...")
    with pytest.raises(DataError, match=f"{refused} data; decompress the file first"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKED, indirect=True)
def test_compression_is_recognized_without_a_suffix(monkeypatch, tmp_path, suffix):
    packed = PACK[suffix]("naïve\n".encode() * 3)
    stdin(monkeypatch, packed)
    assert list(read_lines("-")) == ["naïve"] * 3
    (tmp_path / "a.txt").write_bytes(packed)
    assert list(read_lines(tmp_path / "a.txt")) == ["naïve"] * 3


@pytest.mark.parametrize("suffix", PACKED, indirect=True)
def test_compressed_parts_one_after_the_other(tmp_path, suffix):
    """As `cat a.gz b.gz` makes them."""
    path = tmp_path / f"file.txt{suffix}"
    path.write_bytes(PACK[suffix](b"a\n" * 70_000) + PACK[suffix](b"b\n"))
    assert list(read_lines(path)) == ["a"] * 70_000 + ["b"]


def test_a_url(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    assert list(read_lines(f"file://{tmp_path}/a.txt.gz")) == ["a", "b"]
    with pytest.raises(DataError, match=r"file://.*/b.txt: no such file"):
        list(read_lines(f"file://{tmp_path}/b.txt"))
    # No protocol, no server, no options, no archive.
    for url in ("nosuch://x", "ftp://127.0.0.1:1/x", "reference://x", f"zip://x::{tmp_path}/z"):
        with pytest.raises(ConfigError, match=f"^{url}: expected a URL that fsspec can open, got"):
            list(read_lines(url))


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.JSONL.gz", ".jsonl"), ("a.b.conllu", ".conllu"), ("a.xz", ""), ("a", ""), (".txt", "")],
)
def test_suffixes(name, suffix):
    assert suffix_of(name) == suffix


def test_wrong_checksum_is_found(tmp_path):
    path = put(tmp_path, ".gz", b"a\nb\n")
    packed = bytearray(path.read_bytes())
    packed[-8] ^= 1
    path.write_bytes(packed)
    with pytest.raises(DataError, match="file.txt.gz: .*CRC check failed"):
        list(read_lines(path))


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(DataError, match="nowhere.txt: no such file"):
        list(read_lines(tmp_path / "nowhere.txt"))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(read_lines(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_forbidden(tmp_path):
    path = put(tmp_path, "", b"a\n")
    path.chmod(0)
    with pytest.raises(DataError, match=r"file\.txt: cannot be read: Permission denied"):
        list(read_lines(path))
    tmp_path.chmod(0o500)
    with (
        pytest.raises(DataError, match="new: cannot be written: Permission denied"),
        open_writer(tmp_path / "new"),
    ):
        pass


def test_names():
    assert name_of("-") == "<stdin>"
    assert name_of("a/b.gz") == "a/b.gz"


def test_what_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    with open_writer(path) as file:
        file.write("naïve\r\n\n東京\n")
        assert not path.exists()
    assert list(read_lines(path)) == ["naïve", "", "東京"]
    packed = path.read_bytes()
    with open_writer(path) as file:
        file.write("naïve\r\n\n東京\n")
    assert path.read_bytes() == packed


def test_an_error_leaves_the_old_file_alone(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), open_writer(path) as file:
        file.write("new\n" * 100_000)
        raise KeyError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with open_writer(tmp_path / "link") as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "x"


def test_devices_are_written_not_replaced():
    with open_writer("/dev/null") as file:
        file.write("x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk():
    with pytest.raises(DataError, match="/dev/full: cannot be written: No space left"):
        with open_writer("/dev/full") as file:
            file.write("x" * 100_000)


def test_other_errors_of_the_block_are_its_own(tmp_path):
    with pytest.raises(ConnectionError), open_writer(tmp_path / "out"):
        raise ConnectionError(104, "reset")


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(DataError, match="no/out: cannot be written: No such file"):
        with open_writer(tmp_path / "no" / "out"):
            pass
    with pytest.raises(DataError, match=f"{tmp_path}: cannot be written: Is a directory"):
        with open_writer(tmp_path):
            pass


def test_lone_surrogate(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    with pytest.raises(DataError, match="out.*: the lone surrogate U.D83D cannot be written in"):
        with open_writer(path) as file:
            file.write("a\ud83db")
    assert list(tmp_path.iterdir()) == []


def test_stdout_is_utf8_and_stays_open(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    sys.stdout.write("before\n")
    with open_writer("-") as file:
        file.write("東京\n")
    assert buffer.getvalue().decode() == "before\n東京\n"
    with pytest.raises(DataError, match="<stdout>: .*surrogate U.DC00"), open_writer("-") as file:
        file.write("\udc00")
    assert not buffer.closed


def test_the_suffix_of_a_signed_url():
    assert suffix_of("https://host/a.CSV.gz?sig=S3CRET.x") == ".csv"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_long_lines_are_refused(tmp_path, monkeypatch, suffix, encoding):
    """They would be held whole: a megabyte of .gz may be one of gigabytes."""
    monkeypatch.setattr(opening, "MAX_LINE", 8)
    path = put(tmp_path, suffix, "123456\n12345678\n".encode(encoding))
    lines = read_lines(path, encoding=encoding)
    assert next(lines) == "123456"
    with pytest.raises(DataError, match=f"{path.name}:2: expected a line of less than 8 bytes"):
        next(lines)


def test_what_is_read_whole_is_limited(monkeypatch):
    monkeypatch.setattr(opening, "MAX_LINE", 8)
    assert list(opening.limited(["abc", "abc"], "x")) == ["abc", "abc"]
    with pytest.raises(DataError, match="a.html: expected less, got more than 8 characters"):
        list(opening.limited(["abc", "abcd"], "a.html: expected less"))
