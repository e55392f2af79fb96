import bz2
import gzip
import io
import lzma
import sys

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
