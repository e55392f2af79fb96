"""Read PropBank frame files (XML): the senses of each lemma, their roles and links.

A file has the rolesets of a predicate: `decide.01`, the words that evoke it (its aliases: *decide*,
*decision*), its roles, each with a number, a function tag and a description, and links to VerbNet
and FrameNet. The English files are at github.com/propbank/propbank-frames; other PropBanks use the
same format.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from capsrl.errors import DataError, unreadable
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from capsrl.frames.verbnet import Links, name_roles

_EXAMPLE = re.compile(rb"<example\b.*", re.DOTALL)
_VERSIONS = ("verbnet3.4", "verbnet3.3")  # the newest first; links without a version come last
_CLASS = re.compile(r"[a-z_]+-[\d.]+")  # without subclasses, which name the roles alike

# Letters of a name in lower case -> the role of VerbNet. The files spell them in several ways
# (co_agent, co-agent, initial state); what is none of these is a typing error or a note.
_VERBNET = {
    "".join(filter(str.isalpha, name)).lower(): name
    for name in (
        "Affector Agent Asset Attribute Axis Beneficiary Cause Causer Circumstance Co-Agent "
        "Co-Patient Co-Theme Destination Duration Eventuality Experiencer Extent Goal "
        "Initial_Location Initial_State Instrument Location Manner Material Patient Path Pivot "
        "Precondition Predicate Product Recipient Reflexive Result Source Stimulus Subeventuality "
        "Theme Time Topic Trajectory Value"
    ).split()
}


class NotXmlError(DataError):
    """A file is not well-formed XML."""


def read_frames(folder: str | Path, *, comments: Iterable[str] = ()) -> FrameIndex:
    """Read all .xml files of a folder, in the order of their names, with definitions.

    comments  what the index says of itself: where the files come from, their license

    A file that is not well-formed is read without its examples, where most typing errors are, and
    skipped if that does not help; a warning names it. Of two rolesets with the same id the first
    counts. Files outside the folder that a DOCTYPE names are not read, and entities are refused.
    Raises DataError naming the file, and the roleset, that is wrong.
    """
    rolesets = name_roles(list(_read_rolesets(find_frame_files(folder))))
    index = FrameIndex.from_rolesets(rolesets, comments)
    if not len(index):
        raise DataError(f"{folder}: has no frame files with rolesets")
    return index


def find_frame_files(folder: str | Path) -> list[Path]:
    """Return the .xml files of a folder, sorted by name; raise DataError if there are none."""
    files = sorted(file for file in Path(folder).glob("*.xml") if file.is_file())
    if not files and not Path(folder).exists():
        raise DataError(f"{folder}: no such folder")
    if not files:
        raise DataError(
            f"{folder}: has no PropBank frame files (*.xml); in a clone of propbank-frames they "
            "are in the folder frames"
        )
    return files


def _read_rolesets(files: list[Path]) -> Iterator[tuple[Roleset, Links]]:
    for file in files:
        root = _parse_or_repair(file)
        if root is None:
            continue
        if root.tag != "frameset":
            raise DataError(f"{file}: expected a <frameset>, got a <{root.tag}>")
        for predicate in root.iter("predicate"):
            lemma = _attribute(predicate, "lemma", str(file))
            for roleset in predicate.iter("roleset"):
                sense = _attribute(roleset, "id", f"{file}: predicate {lemma}")
                yield _roleset(sense, lemma, roleset, f"{file}: {sense}")


def _parse_or_repair(file: Path) -> Element | None:
    try:
        return parse_frame_file(file)
    except NotXmlError as error:
        message = str(error)
    try:
        *parts, rest = file.read_bytes().split(b"</example>")
        repaired = _parse_xml(file, b"".join((*(_EXAMPLE.sub(b"", each) for each in parts), rest)))
    except NotXmlError:
        warnings.warn(f"{message}; it is skipped", stacklevel=2)
        return None
    warnings.warn(f"{message}; it is read without its examples", stacklevel=2)
    return repaired


def _roleset(sense: str, lemma: str, element: Element, source: str) -> tuple[Roleset, Links]:
    """A roleset, and what VerbNet calls its roles."""
    found = ((alias.get("pos", "_"), _joined(alias.text or "")) for alias in element.iter("alias"))
    aliases = dict.fromkeys((pos, words) for pos, words in found if words)
    name = _joined(lemma)
    if name and all(words != name for _, words in aliases):
        aliases["_", name] = None
    roles, verbnet = _roles(element, source)
    roleset = Roleset(
        "_".join(sense.split()),
        tuple(aliases),
        tuple(roles),
        tuple(dict.fromkeys(_links(element))),
        " ".join(element.get("name", "").split()) or None,
    )
    return roleset, verbnet


def _joined(text: str) -> str:
    return "_".join(text.lower().split())


def _roles(roleset: Element, source: str) -> tuple[Iterable[FrameRole], Links]:
    """The roles, each once, n=0 is A0, n=m with f=TMP is AM-TMP; and what VerbNet calls them."""
    roles: dict[str, FrameRole] = {}
    verbnet: dict[str, dict[tuple[str, str], list[str]]] = {}
    for role in roleset.iter("role"):
        number = _attribute(role, "n", f"{source}: role {role.get('descr', '')!r}").upper()
        function = "".join(filter(str.isalnum, role.get("f", ""))).upper()
        name = f"AM-{function}" if number == "M" and function else f"A{number}"
        description = " ".join(role.get("descr", "").split()) or None
        roles.setdefault(name, FrameRole(name, function, description=description))
        for link in sorted(role.iter("rolelink"), key=_age):
            found = _CLASS.match(link.get("class", "")) if _resource(link) == "verbnet" else None
            given = _VERBNET.get("".join(filter(str.isalpha, link.text or "")).lower())
            if found and given:
                verbnet.setdefault(found[0], {}).setdefault((name, function), []).append(given)
    return roles.values(), verbnet


def _links(roleset: Element) -> Iterator[str]:
    """The linked frames, VerbNet's of the newest version that has any."""
    links = list(roleset.iter("lexlink")) or list(roleset.iter("rolelink"))
    for resource in ("verbnet", "framenet"):
        own = [link for link in links if _resource(link) == resource]
        newest = min(map(_age, own), default=0)
        for link in own:
            name = "_".join(link.get("class", "").split())
            if name and _age(link) == newest:
                yield f"{resource}:{name}"


def _resource(link: Element) -> str:
    return link.get("resource", "").lower()


def _age(link: Element) -> int:
    version = link.get("version", "").lower()
    return _VERSIONS.index(version) if version in _VERSIONS else len(_VERSIONS)


def _attribute(element: Element, name: str, source: str) -> str:
    value = element.get(name, "").strip()
    if not value:
        raise DataError(f"{source}: <{element.tag}> has no {name}")
    return value


def parse_frame_file(file: Path) -> Element:
    """Parse a file with expat itself: the parser of ElementTree would expand entities.

    Raises DataError naming the file, and the line, that is wrong.
    """
    try:
        return _parse_xml(file, file.read_bytes())
    except OSError as error:
        raise DataError(unreadable(file, error)) from None


def _parse_xml(file: Path, content: bytes) -> Element:
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
        parser.Parse(content, True)
    except DataError:  # an entity was refused
        raise
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise NotXmlError(f"{file}:{error.lineno}: expected XML, got {reason}") from None
    except (LookupError, ValueError) as error:
        raise NotXmlError(f"{file}: expected XML in UTF-8, got {error}") from None
    return builder.close()
