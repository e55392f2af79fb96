"""`python -m teachers`: what it refuses. tests/teachers/test_run.py runs it."""

import pytest

from capsrl.errors import ConfigError
from teachers.__main__ import main, read_part
from teachers.shards import distill


def test_standard_input(tmp_path, capsys):
    assert main(["model", "--text", "-", "--out", str(tmp_path / "x")]) == 2
    message = "error: --text: standard input cannot be read again; name a file\n"
    assert capsys.readouterr().err == message


def test_two_files_of_one_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "text.txt").write_text("She left.\n")
    texts = [str(tmp_path / folder / "text.txt") for folder in ("a", "b")]
    with pytest.raises(ConfigError, match="--text: two files have the same name"):
        distill(["model"], texts, tmp_path / "x")


def test_parts_are_counted_from_1():
    assert read_part("2/4") == (1, 4)
    for wrong in ("0/4", "5/4", "4", "a/b", "1/0"):
        with pytest.raises(ConfigError, match=f"--part: expected K/N .*, got {wrong}"):
            read_part(wrong)


@pytest.mark.parametrize("shares", [("-0.1", "0"), ("0.7", "0.5")])
def test_shares_of_noise(shares, tmp_path, capsys):
    casual, headlines = shares
    given = ["--casual", casual, "--headlines", headlines]
    assert main(["model", "--text", "a.txt", "--out", str(tmp_path / "x"), *given]) == 2
    assert capsys.readouterr().err == (
        "error: --casual, --headlines: expected shares from 0 to 1 together, "
        f"got {casual} and {headlines}\n"
    )
