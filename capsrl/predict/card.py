"""Read the model card, the README.md of a model folder, for programs that present the model.

A card is Markdown after the front matter that model hubs read. Everything in it is optional:

- the first heading is the title; `language` and `license` are keys of the front matter;
- the first table with a column F1 has the score of the model in its first row;
- a section *Examples* lists texts, one per line, each after its kind if it has one:
  `- **News** The council approved the bridge.`;
- a section *Roles* lists what roles mean in the same way: `- **FOOD** what is cooked`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from capsrl.predict.folder import check_file

_LONGEST = 1 << 17  # bytes of a card: Markdown may take time for the square of that
# These take time in proportion to the text, however many spaces a stranger's card has.
_KEY, _TITLE = re.compile(r"(?m)^(\w+): *([^ \n].*)$"), re.compile(r"(?m)^# +([^ \n].*)$")
_ITEM = re.compile(r"(?:[-*](?: +|$))?(?:\*\*(.+?)\*\*:? *)?(.*)")
# Names of languages by their code in front matter; others are shown as they are.
_LANGUAGES = dict(
    item.split(":")
    for item in (
        "ca:Catalan cs:Czech de:German en:English es:Spanish fi:Finnish fr:French it:Italian "
        "ja:Japanese ko:Korean nl:Dutch pl:Polish pt:Portuguese ru:Russian sv:Swedish zh:Chinese"
    ).split()
)


@dataclass(frozen=True)
class Card:
    """What a card says of its model; empty where it says nothing.

    body      the card without its front matter, as Markdown
    f1        of the first row of the first table that has it
    f1_on     the first cell of that row: the test set
    examples  pairs of a kind, which may be empty, and a text
    roles     what roles mean
    size      of the files of the folder in bytes
    """

    title: str = "capsrl"
    language: str = ""
    license: str = ""
    f1: str = ""
    f1_on: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    size: int = 0


def read_card(folder: Path | None) -> Card:
    """The card of a model folder; an empty one without a folder or without a card."""
    if folder is None:
        return Card()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    file = folder / "README.md"
    if not file.is_file():
        return Card(title=folder.resolve().name, size=size)
    check_file(file, limit=_LONGEST)
    text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    front, body = re.fullmatch(r"(?s)(?:---\n(.*?)\n---\n)?(.*)", text).groups()  # type: ignore[union-attr]
    keys = {key: value.rstrip(" ") for key, value in _KEY.findall(front or "")}
    title = _TITLE.search(body)
    language: str = keys.get("language", "")
    f1_on, f1 = _first_f1(body)
    return Card(
        title=title[1].rstrip(" ") if title else folder.resolve().name,
        language=_LANGUAGES.get(language.lower()) or language,
        license=keys.get("license", ""),
        f1=f1,
        f1_on=f1_on,
        examples=read_examples(_section(body, "Examples")),
        roles=dict(read_examples(_section(body, "Roles"))),
        body=body,
        size=size,
    )


def read_examples(text: str) -> tuple[tuple[str, str], ...]:
    """The kind and the text of each line: `- **News** The council met.`, or the text alone."""
    items = (_ITEM.fullmatch(" ".join(line.split())) for line in text.splitlines())
    return tuple((each[1] or "", each[2]) for each in items if each and each[2])


def _section(body: str, title: str) -> str:
    """The lines of a list below a heading."""
    found = re.search(rf"(?ms)^## {title} *\n(.*?)(?=^#|\Z)", body)
    lines = found[1].splitlines() if found else []
    return "\n".join(line for line in lines if line.startswith(("- ", "* ")))


def _first_f1(body: str) -> tuple[str, str]:
    """The first cell and the F1 of the first row of the first table with a column F1."""
    for table in re.findall(r"(?m)(?:^\|.*\|[ ]*\n)+", body):
        lines = table.splitlines()
        heads, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in lines)
        if "F1" in heads and len(rows) > 1 and len(rows[1]) == len(heads):
            return rows[1][0], rows[1][heads.index("F1")]
    return "", ""
