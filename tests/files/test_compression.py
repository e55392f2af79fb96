import bz2
import gzip
import io
import lzma
import sys
import tracemalloc

import pytest
import zstandard

from capsrl.errors import ConfigError, DataError
from capsrl.files.compression import COMPRESSED, compress, compression_of, damages, decompress

ORACLES = {
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def packed(content, suffix):
    raw = io.BytesIO()
    with compress(raw, suffix) as file:
        file.write(content)
    return raw.getvalue()


def unpacked(data):
    with io.BufferedReader(io.BytesIO(data)) as file, decompress(file, "x") as content:
        return content.read()


@pytest.mark.parametrize("suffix", ["", *COMPRESSED])
@pytest.mark.parametrize("n", [0, 1, 3_000])
def test_what_is_compressed_is_read_again(suffix, n):
    content = bytes(range(97)) * n
    data = packed(content, suffix)
    assert compression_of(data) == (suffix or None)
    assert unpacked(data) == content
    assert packed(content, suffix) == data  # the same bytes every time
    if suffix:
        assert ORACLES[suffix](data) == content


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_damaged_data(suffix):
    data = packed(bytes(range(256)) * 500, suffix)
    for cut in (len(data) // 2, len(data) - 1):
        with pytest.raises(damages()):
            unpacked(data[:cut])


def test_other_data():
    assert unpacked(b"BZ is not bzip2") == b"BZ is not bzip2"
    assert unpacked(b"") == b""
    with pytest.raises(
        DataError, match="^x: expected plain text or .gz, .xz, .bz2, .zst, got .zip"
    ):
        unpacked(b"PK\x03\x04...")


def test_without_zstandard(monkeypatch):
    data = zstandard.compress(b"a")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ConfigError, match=r"\.zst files need zstandard: pip install 'capsrl\[tab"):
        unpacked(data)


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_files_of_several_streams(suffix):
    """As cat, pbzip2 and others make them: whole, or an error, but never only the first."""
    one, two = (packed(bytes(range(256)) * n, suffix) for n in (3, 50))
    assert unpacked(one + two) == bytes(range(256)) * 53
    cuts = [(one + two)[: len(one) + n] for n in range(1, len(two))]
    flips = [one + bytes([two[0] ^ 1 << n]) + two[1:] for n in range(8)]
    for data in (*cuts, *flips, one + b"junk", one + two + b"x"):
        with pytest.raises(damages()):
            unpacked(data)


def test_padding():
    """Only .gz and .xz may have zeros after a stream."""
    for suffix in COMPRESSED:
        one = packed(b"a", suffix)
        padded = one + bytes(2_000) + one + bytes(4)
        if suffix in (".gz", ".xz"):
            assert unpacked(padded) == b"aa"
        else:
            with pytest.raises(damages()):
                unpacked(padded)


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_going_to_a_byte(suffix):
    content = bytes(range(251)) * 4_000
    data = packed(content[:500_000], suffix) + packed(content[500_000:], suffix)
    with io.BufferedReader(io.BytesIO(data)) as raw, decompress(raw, "x") as file:
        for offset in (700_000, 5, 0, 499_999, len(content)):
            assert file.seek(offset) == file.tell() == offset
            assert file.read(3) == content[offset : offset + 3]
        if suffix != ".gz":
            assert file.seek(-7, io.SEEK_END) == len(content) - 7
            assert file.read() == content[-7:]


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_little_data_that_stands_for_much(suffix):
    """It is decompressed in pieces, each of which is handed out without copying the rest."""
    size = 1 << 26
    data = packed(bytes(size), suffix)
    assert len(data) < size / 900
    tracemalloc.start()
    try:
        with io.BufferedReader(io.BytesIO(data)) as raw, decompress(raw, "x") as file:
            assert sum(map(len, iter(lambda: file.read(1 << 16), b""))) == size
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
