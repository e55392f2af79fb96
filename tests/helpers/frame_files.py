"""Small PropBank frame files in the format of the published ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

HEAD = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE frameset PUBLIC "-//PB//PropBank Frame v3.4 Transitional//EN" "http://127.0.0.1/f.dtd">
"""


def example(text: str, relloc: str, **arguments: str) -> str:
    """Make an example; each argument is ROLE="FIRST LAST", or ROLE="? ? TEXT".

    An underscore in a role stands for a hyphen.
    """
    tokens = text.split(" ")
    places = [int(place) for place in relloc.split() if place.isdigit()]
    predicate = " ".join(tokens[place] for place in places if place < len(tokens))
    lines = [f'<rel relloc="{relloc}">{escape(predicate)}</rel>']
    for role, place in arguments.items():
        start, end, *words = place.split()
        if not words:
            words = tokens[int(start) : int(end) + 1]
        lines.append(
            f'<arg type="{role.replace("_", "-")}" start="{start}" end="{end}">'
            f"{escape(' '.join(words))}</arg>"
        )
    return f"<example><text>{escape(text)}</text><propbank>{''.join(lines)}</propbank></example>"


def roleset(sense: str, *examples: str, aliases: Sequence[str] = ()) -> str:
    """Make a predicate with one roleset and its examples."""
    lemma = sense.partition(".")[0]
    names = "".join(f'<alias pos="v">{alias}</alias>' for alias in aliases or [lemma])
    return (
        f'<predicate lemma="{lemma}"><roleset id="{sense}"><aliases>{names}</aliases>'
        f"<roles/>{''.join(examples)}</roleset></predicate>"
    )


def write_frames(folder: Path, **files: Iterable[str]) -> Path:
    """Write files of rolesets, by name."""
    for name, rolesets in files.items():
        text = f"{HEAD}<frameset>{''.join(rolesets)}</frameset>"
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")
    return folder
