"""`capsrl frames WORD` looks up a word or a sense; `capsrl frames FOLDER` makes an index."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

from rich.text import Text

import capsrl
from capsrl.cli.options import FRAME_FILES, JSON, MODEL, argument, command, option
from capsrl.errors import ConfigError
from capsrl.frames.index import Roleset, unnumbered
from capsrl.frames.user import user_index
from capsrl.frames.xml import read_frames
from capsrl.show.formatting import visible
from capsrl.show.table import make_console

_KINDS = {"v": "verb", "n": "noun", "j": "adjective", "r": "adverb", "l": "light verb"}


@command(
    {
        "Arguments": [
            argument("given", "WORD|FOLDER", "Word or sense; or PropBank frame files (*.xml).")
        ],
        "Options of a word": [MODEL, FRAME_FILES, JSON],
        "Options of a folder": [
            option(
                "-o, --output FILE", "File to write (default: in your data folder, for all models)."
            ),
            option("--facts", "Leave out definitions and descriptions of roles."),
            option("--source TEXT", "Origin and license of the files, for the index."),
        ],
    }
)
def frames_command(
    given: str,
    *,
    model: str,
    frames: str | None,
    as_json: bool,
    output: str | None,
    facts: bool,
    source: str | None,
) -> None:
    """Look up the senses and roles of a word, or make an index of PropBank frame files.

    A word may be inflected (took, "gave up"), or be a sense (sell.01). What is the name of a
    folder, or has a slash, is a folder.

    With the index in your data folder, all that capsrl labels from then on says what senses and
    roles mean in PropBank's words: "seller" and "thing sold" instead of Agent and Theme. The
    English files are the folder `frames` of https://github.com/propbank/propbank-frames.
    """
    is_folder = os.path.isdir(given) or "/" in given or os.sep in given
    if not is_folder and (facts or output is not None or source is not None):
        raise ConfigError(f"{given}: no such folder, which -o, --facts and --source need")
    if is_folder:
        _make_index(given, user_index() if output is None else output, facts, source)
        return
    found = capsrl.look_up(given, model=model, frames=frames)
    if as_json:
        sys.stdout.write(json.dumps([asdict(each) for each in found], ensure_ascii=False) + "\n")
        return
    console = make_console(sys.stdout)
    for number, roleset in enumerate(found):
        console.print(*([""] if number else []), *_lines(roleset), sep="\n", soft_wrap=True)


def _make_index(folder: str, file: object, facts: bool, source: str | None) -> None:
    index = read_frames(folder, comments=[f"source: {source or folder}"])
    index.save(str(file), facts=facts)
    counts = {"sense": len(index), "role": sum(len(roleset.roles) for roleset in index)}
    parts = [f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items()]
    sys.stderr.write(f"{file}: {', '.join(parts)}\n")


def _lines(roleset: Roleset) -> Iterator[Text]:
    """A heading with what evokes the sense, a line per role, and the linked frames."""
    words: dict[str, list[str]] = {}
    for pos, alias in roleset.aliases:
        if (pos, alias) != ("v", unnumbered(roleset.sense)):
            words.setdefault(_KINDS.get(pos, "other"), []).append(alias.replace("_", " "))
    evoking = "; ".join(f"{kind} {', '.join(found)}" for kind, found in words.items())
    parts = (roleset.sense, "bold cyan"), (roleset.definition or "", "italic"), (evoking, "dim")
    yield Text("  ").join(Text(visible(text), style) for text, style in parts if text)
    width = max((len(role.meaning or "") for role in roleset.roles), default=0)
    for role in roleset.roles:
        thematic = f"{role.thematic}  " if role.description and role.thematic else ""
        meaning = visible(role.meaning or "").ljust(width)
        line = f"  {meaning}  {thematic}{role.function}".rstrip()
        yield Text.assemble("  ", (role.name, "bold green"), line)
    if roleset.links:
        yield Text(f"  {' '.join(roleset.links)}", "dim")
