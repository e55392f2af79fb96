"""The paper's tables as we have them against its source, digit by digit."""

import re

import pytest

from reproduce import published


@pytest.fixture(scope="module")
def rows(shared):
    """First cell -> the numbers of a row, of every row of every table."""
    text = (shared / "paper" / "capsule-srl.tex").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "&" in line and not line.startswith("%")]
    bare = [
        re.sub(r"\\(?:textbf|hspace|multirow)|\{[^{}]*mm\}|[{},*$]", "", line) for line in lines
    ]
    found = []
    for line in bare:
        first, *cells = (cell.strip().removesuffix("\\\\") for cell in line.split("&"))
        numbers = [float(cell) for cell in cells if re.fullmatch(r"[\d.]+", cell)]
        if numbers and len(numbers) == len(cells):
            found.append((first, numbers))
    return found


def test_table_1(rows):
    start = next(i for i, (first, _) in enumerate(rows) if first.endswith("31.0"))
    values = [numbers for _, numbers in rows[start : start + 9]]
    etas = [1.0] * 3 + [0.1] * 3 + [0.0] * 3
    assert published.UNIQUENESS == {
        (eta, int(n)): tuple(scores) for eta, (n, *scores) in zip(etas, values, strict=True)
    }


def test_table_3(rows):
    names = {
        "CapsuleNet SRL": "capsule+global",
        "w/o Global Node": "capsule",
        "w/o Role Capsule Layer": "word",
        "w/o Word Capsule Layer (Baseline)": "baseline",
    }
    found = {
        (names[first], name): tuple(numbers[4 * i : 4 * i + 4])
        for first, numbers in rows
        if first in names and len(numbers) == 12
        for i, name in enumerate(("dev", "test", "ood"))
    }
    assert found == published.ABLATION


def test_table_4(rows):
    found = {re.sub(" ", "", first): numbers[0] for first, numbers in rows if len(numbers) == 1}
    assert {key: found[key] for key in published.LENGTHS} == published.LENGTHS
    assert {key: found[key] for key in published.ARGUMENTS} == published.ARGUMENTS


def test_table_5(rows):
    names = ("ja", "es", "ca", "de", "cs", "zh", "en")
    [old] = [numbers for first, numbers in rows if first == "Baseline Model"]
    [new] = [numbers for first, numbers in rows if first == "CapsuleNet SRL (This Work)"]
    *pairs, average = zip(old, new, strict=True)
    assert dict(zip(names, pairs, strict=True)) == published.LANGUAGES
    assert average == published.LANGUAGES_AVERAGE
    [best] = [numbers for first, numbers in rows if first == "Previous Best Single Model"]
    assert [*published.PREVIOUS_BEST.values(), published.PREVIOUS_AVERAGE] == best


def test_table_2(shared):
    text = (shared / "paper" / "capsule-srl.tex").read_text(encoding="utf-8")
    found = re.findall(r"^\\citet\{.*?(\d{4}).*?\}\S*\s*&\s*([\d.]+)\s*&\s*([\d.-]+)", text, re.M)
    ours = [
        (name.rstrip("*")[-4:], f"{test:.2f}", "-" if ood is None else f"{ood:.2f}")
        for name, (test, ood) in published.SYSTEMS.items()
    ]
    assert ours == found
