"""Read PropBank frame files (XML): the senses of each lemma and their roles.

A file has the rolesets of a predicate: `decide.01`, the words that evoke it (its aliases: *decide*,
*decision*) and its roles, each with a number and a description. The English files are at
github.com/propbank/propbank-frames; other PropBanks use the same format.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from capsrl.errors import DataError

# Parts of speech of aliases whose first word is the predicate: give_up, take_a_walk.
HEAD_FIRST = ("v", "l")


@dataclass(frozen=True)
class Frames:
    """The content of frame files.

    descriptions  sense -> role -> description, in the order of the files: sign.01 -> A0 -> signer
    senses        lemma in lower case -> its possible senses
    """

    descriptions: Mapping[str, Mapping[str, str]]
    senses: Mapping[str, tuple[str, ...]]


def read_frames(folder: str | Path) -> Frames:
    """Read all .xml files of a folder, in the order of their names.

    A roleset belongs to the lemma of its predicate and to its aliases. If these are several words
    joined by `_` and begin with a verb (*give_up*), it also belongs to that verb, since in a
    sentence the predicate is one word. Of two rolesets with the same id the first counts.
    Files outside the folder that a DOCTYPE names are not read, and entities are refused.
    Raises DataError naming the file, and the line or roleset, that is wrong.
    """
    descriptions: dict[str, dict[str, str]] = {}
    senses: dict[str, dict[str, None]] = {}  # the inner dicts are ordered sets
    for file in find_frame_files(folder):
        root = parse_frame_file(file)
        if root.tag != "frameset":
            raise DataError(f"{file}: expected a <frameset>, got a <{root.tag}>")
        for predicate in root.iter("predicate"):
            lemma = _attribute(predicate, "lemma", str(file))
            for roleset in predicate.iter("roleset"):
                sense = _attribute(roleset, "id", f"{file}: predicate {lemma}")
                descriptions.setdefault(sense, _roles(roleset, f"{file}: {sense}"))
                for key in _keys(lemma, roleset):
                    senses.setdefault(key, {})[sense] = None
    return Frames(descriptions, {key: tuple(found) for key, found in senses.items()})


def find_frame_files(folder: str | Path) -> list[Path]:
    """Return the .xml files of a folder, sorted by name; raise DataError if there are none."""
    files = sorted(Path(folder).glob("*.xml"))
    if not files:
        raise DataError(
            f"{folder}: expected a folder with PropBank frame files (*.xml), got none; "
            "in propbank-frames it is called frames"
        )
    return files


def _keys(lemma: str, roleset: Element) -> Iterator[str]:
    """Yield the lemmas that a roleset belongs to."""
    aliases = ((alias.get("pos"), alias.text or "") for alias in roleset.iter("alias"))
    for pos, text in (("v", lemma), *aliases):
        words = text.strip().lower()
        if words:
            yield words
            if pos in HEAD_FIRST:
                yield words.partition("_")[0] or words


def _roles(roleset: Element, source: str) -> dict[str, str]:
    """Return the descriptions of the roles: n=0 is A0, n=m with f=TMP is AM-TMP."""
    roles: dict[str, str] = {}
    for role in roleset.iter("role"):
        number = _attribute(role, "n", f"{source}: role {role.get('descr', '')!r}").upper()
        function = role.get("f", "").upper()
        name = f"AM-{function}" if number == "M" and function else f"A{number}"
        roles.setdefault(name, role.get("descr", ""))
    return roles


def _attribute(element: Element, name: str, source: str) -> str:
    value = element.get(name, "").strip()
    if not value:
        raise DataError(f"{source}: expected <{element.tag} {name}=...>, got no {name}")
    return value


def parse_frame_file(file: Path) -> Element:
    """Parse a file with expat itself: the parser of ElementTree would expand entities.

    Raises DataError naming the file, and the line, that is wrong.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data

    def refuse(name: str, *rest: object) -> None:
        raise DataError(
            f"{file}:{parser.CurrentLineNumber}: expected plain text, got the entity {name}; "
            "write the text itself"
        )

    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = refuse  # defined in an external DTD
    try:
        parser.Parse(file.read_bytes(), True)
    except expat.ExpatError as error:
        raise DataError(
            f"{file}:{error.lineno}: expected XML, got {expat.ErrorString(error.code)}; "
            "fix or remove this file"
        ) from None
    except (LookupError, ValueError) as error:
        raise DataError(f"{file}: expected XML in UTF-8, got {error}") from None
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    return builder.close()
