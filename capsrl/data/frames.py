"""A folder of PropBank frame files (XML) in, the senses of each lemma and their roles out.

A file holds the rolesets of a predicate: `decide.01`, the words that evoke it (its aliases:
*decide*, *decision*) and its roles, each with a number and a description. The English files are
at github.com/propbank/propbank-frames; those of other PropBanks have the same form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from capsrl.errors import DataError

# Parts of speech of aliases whose first word is the predicate: give up, take a walk.
HEAD_FIRST = ("v", "l")


@dataclass(frozen=True)
class Frames:
    """What frame files say.

    descriptions  sense -> role -> what fills it, in the files' order: sign.01 -> A0 -> signer
    senses        lemma, in lower case -> the senses it may have
    """

    descriptions: Mapping[str, Mapping[str, str]]
    senses: Mapping[str, tuple[str, ...]]


def read_frames(folder: str | Path) -> Frames:
    """Read every .xml file of a folder, in the order of their names.

    A roleset belongs to the lemma of its predicate and to its aliases. Where these are several
    words joined by `_` and start with a verb (*give_up*), it belongs to that verb as well, since
    in a sentence the predicate is one word. Of two rolesets with the same id the first counts.
    No file outside the folder is read, whatever a DOCTYPE says, and entities are refused.
    Raises DataError naming the file, and the line or roleset, that is not as it should be.
    """
    files = sorted(Path(folder).glob("*.xml"))
    if not files:
        raise DataError(
            f"{folder}: expected a folder with PropBank frame files (*.xml), got none; "
            "in a copy of propbank-frames it is called frames"
        )
    descriptions: dict[str, dict[str, str]] = {}
    senses: dict[str, dict[str, None]] = {}  # the inner ones as ordered sets
    for file in files:
        root = _parse(file)
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


def _keys(lemma: str, roleset: Element) -> Iterator[str]:
    """The lemmas under which a roleset is to be found."""
    aliases = ((alias.get("pos"), alias.text or "") for alias in roleset.iter("alias"))
    for pos, text in (("v", lemma), *aliases):
        words = text.strip().lower()
        if words:
            yield words
            if pos in HEAD_FIRST:
                yield words.partition("_")[0] or words


def _roles(roleset: Element, source: str) -> dict[str, str]:
    """The descriptions of the roles, as corpora call these: n=0 is A0, n=m with f=TMP is AM-TMP."""
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


def _parse(file: Path) -> Element:
    """The elements of a file, by the parser itself: ElementTree's own would expand entities."""
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
    parser.SkippedEntityHandler = refuse  # one that only a DTD elsewhere would explain
    try:
        parser.Parse(file.read_bytes(), True)
    except expat.ExpatError as error:
        raise DataError(
            f"{file}:{error.lineno}: expected XML, got {expat.ErrorString(error.code)}; "
            "mend the file or take it out of the folder"
        ) from None
    except (LookupError, ValueError) as error:
        raise DataError(f"{file}: expected XML in UTF-8, got {error}") from None
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    return builder.close()
