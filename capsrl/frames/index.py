"""An index of PropBank rolesets: the words that evoke them, their roles and linked frames.

An index is a text file (`FrameIndex.load`, `save`). One with facts alone ships with the English
model; one that also has PropBank's definitions and descriptions is made by `capsrl frames`. The
file begins with comments, of which the first is FORMAT; then a roleset is one line,

    give.01 TAB v n:giving TAB 0/PAG 1/PPT 2/GOL/Recipient TAB verbnet:give-13.1-1 framenet:Giving

with its aliases (`v` alone is *give* itself, a verb), its roles (number, function tag, and
VerbNet's name of the role unless the tag implies it) and its links. Where the index has them, the
definition and the description of each role are further columns.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.opening import open_writer, read_lines
from capsrl.frames.roles import MODIFIERS

FRAMES_FILE = "frames.tsv"  # of a model, where it has one
FORMAT = "# capsrl frame index 1"  # raised when older versions of capsrl cannot read the file

# Parts of speech of aliases whose first word is the predicate: give_up, take_walk, come_to_terms.
HEAD_FIRST = ("v", "l", "m", "_")

# The first three letters of a function tag -> the thematic role, in VerbNet's names where it has
# one. Where VerbNet links the tag to several, the most frequent of them, or their common name.
_THEMATIC = {
    **{"PAG": "Agent", "PPT": "Theme", "GOL": "Goal", "PRD": "Attribute", "MNR": "Instrument"},
    **{"DIR": "Source", "SRC": "Source", "LOC": "Location", "EXT": "Extent", "CAU": "Cause"},
    **{"COM": "Co-Agent", "PRP": "Purpose", "TMP": "Time", "REC": "Reflexive", "ADJ": "Attribute"},
    **{"ADV": "Circumstance", "SE1": "Theme", "SE2": "Co-Theme", "SE3": "Co-Theme", "AXS": "Axis"},
    **{"DOM": "Domain", "ANC": "Anchor", "SCL": "Scale", "PRT": "Part", "WHL": "Whole"},
    **{"SET": "Set", "ORT": "Orientation", "ANG": "Angle", "PLN": "Plane"},
    "VSP": "verb-specific",
}

_SEARCHED = 8  # lemmas that are searched for one by one; sorting all rows takes as long as ten
_FACTS = 3  # columns of a roleset without definition and descriptions


@dataclass(frozen=True, slots=True)
class FrameRole:
    """A role of a roleset.

    name         A0, AM-TMP
    function     function tag: PAG, PPT, GOL, ...; empty if unknown
    thematic     the thematic role, by VerbNet or by the function tag: Agent; None if unknown
    description  PropBank's own words: seller; None in an index of facts
    """

    name: str
    function: str = ""
    thematic: str | None = None
    description: str | None = None

    @property
    def meaning(self) -> str | None:
        """The description, or the thematic role."""
        return self.description or self.thematic


@dataclass(frozen=True, slots=True)
class Roleset:
    """A sense of PropBank.

    sense       give.01
    aliases     (part of speech, words joined by `_`) of what evokes it: ("n", "giving"). v, n, j, r
                are verb, noun, adjective, adverb, l a light verb with its noun, m other expressions
                of several words; `_` is unknown
    links       verbnet:give-13.1-1, framenet:Giving
    definition  PropBank's own words; None in an index of facts
    """

    sense: str
    aliases: tuple[tuple[str, str], ...] = ()
    roles: tuple[FrameRole, ...] = ()
    links: tuple[str, ...] = ()
    definition: str | None = None


class FrameIndex:
    """Rolesets by sense and by lemma; see the module for its file.

    rows      sense -> the other columns of the file, with tabs between them
    comments  what the file says of itself: its source, its license
    """

    def __init__(self, rows: Mapping[str, str], comments: Iterable[str] = ()) -> None:
        self.comments = tuple(comments)
        self._rows = rows
        self._decoded: dict[str, Roleset] = {}
        self._lemmas: dict[str, list[tuple[str, str]]] | None = None  # -> (part of speech, sense)
        self._first_lemmas: dict[str, list[tuple[str, str]]] = {}  # the same, for a few lemmas

    @classmethod
    def from_rolesets(
        cls, rolesets: Iterable[Roleset], comments: Iterable[str] = ()
    ) -> "FrameIndex":
        """The index of some rolesets; of two with the same sense the first counts."""
        rows: dict[str, str] = {}
        for roleset in rolesets:
            rows.setdefault(roleset.sense, _encode_roleset(roleset))
        return cls(rows, comments)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Roleset]:
        return map(self.__getitem__, self._rows)

    def __getitem__(self, sense: str) -> Roleset:
        if sense not in self._decoded:
            self._decoded[sense] = _decode_roleset(sense, self._rows[sense])
        return self._decoded[sense]

    def has(self, sense: str) -> bool:
        """Whether PropBank has this sense."""
        return sense in self._rows

    def rolesets_of(self, lemma: str, pos: str | None = None) -> tuple[str, ...]:
        """The senses that a lemma can have, those named after it first.

        lemma  in lower case; *resignation* has resign.01
        pos    v, n, j, ...: only by aliases of this part of speech; default: by all aliases. `l`
               gives the senses of light verb constructions by their verb: walk.01 for *take*

        A verb also has the senses of verbs with particles and of expressions that begin with it:
        give_up.07 for *give*, come_to_terms.14 for *come*; `particle_of` names the rest.
        """
        wanted = ("v", "m") if pos == "v" else (pos,)
        found = self._of_lemma(lemma)
        unique = dict.fromkeys(sense for each, sense in found if pos is None or each in wanted)
        return tuple(sorted(unique, key=lambda sense: unnumbered(sense).split("_")[0] != lemma))

    def particle_of(self, sense: str, lemma: str | None = None) -> str | None:
        """What must stand beside a verb for it to have this sense: `up` for give_up.07.

        lemma  the verb, if it is not the one that the sense is named after: *line* needs `up` to
               have the sense align.01

        Several words are joined by `_`: `to_terms`. None if the verb alone can have the sense.
        """
        verb, _, rest = unnumbered(sense).partition("_")
        if lemma in (None, verb):
            return rest or None
        found = [words for pos, words in self.aliases_of(sense) if pos in HEAD_FIRST]
        starts = [words.partition("_") for words in found if words != lemma]
        rests = [rest for first, _, rest in starts if first == lemma]
        return rests[0] if rests and lemma not in found else None

    def aliases_of(self, sense: str) -> tuple[tuple[str, str], ...]:
        """(part of speech, words) of what evokes a sense; none for an unknown sense."""
        return self[sense].aliases if self.has(sense) else ()

    def roles_of(self, sense: str) -> tuple[FrameRole, ...]:
        """The roles of a sense; none for an unknown sense."""
        return self[sense].roles if self.has(sense) else ()

    def links(self, sense: str) -> tuple[str, ...]:
        """The linked frames: verbnet:give-13.1-1, framenet:Giving."""
        return self[sense].links if self.has(sense) else ()

    def definition(self, sense: str) -> str | None:
        """What a sense means, in an index that has definitions."""
        return self[sense].definition if self.has(sense) else None

    def meaning(self, sense: str, role: str) -> str | None:
        """What a role means for a sense: seller, or Agent; None if that is unknown.

        C-A0 and R-A0 mean what A0 means.
        """
        own = role[2:] if role[:2] in ("C-", "R-") else role
        meanings = (each.meaning for each in self.roles_of(sense) if each.name == own)
        return next(meanings, None) or MODIFIERS.get(own)

    @property
    def has_prose(self) -> bool:
        """Whether the index has definitions or descriptions of roles."""
        return any(row.count("\t") >= _FACTS for row in self._rows.values())

    def over(self, other: "FrameIndex") -> "FrameIndex":
        """The index together with another, whose rolesets count for the senses it does not have."""
        return FrameIndex({**other._rows, **self._rows}, self.comments)

    def senses_by_lemma(self) -> dict[str, tuple[str, ...]]:
        """Every lemma that evokes a sense -> its senses in the order of the index."""
        return {
            lemma: tuple(dict.fromkeys(sense for _, sense in found))
            for lemma, found in self._by_lemma().items()
        }

    def _by_lemma(self) -> dict[str, list[tuple[str, str]]]:
        if self._lemmas is None:
            self._lemmas = _group_by_lemma(self._rows.items())
        return self._lemmas

    def _of_lemma(self, lemma: str) -> list[tuple[str, str]]:
        """(part of speech, sense) of what a lemma evokes; the first ones are searched for."""
        if self._lemmas is not None or len(self._first_lemmas) >= _SEARCHED:
            return self._by_lemma().get(lemma, [])
        if lemma not in self._first_lemmas:
            rows = ((s, row) for s, row in self._rows.items() if lemma in s or lemma in row)
            self._first_lemmas[lemma] = _group_by_lemma(rows).get(lemma, [])
        return self._first_lemmas[lemma]

    @classmethod
    def load(cls, file: str | Path) -> "FrameIndex":
        """Read a file that `save` wrote; raises DataError naming one that is damaged or newer."""
        lines = enumerate(read_lines(file), start=1)
        _, first = next(lines, (1, ""))
        if first != FORMAT:
            raise DataError(f"{file}:1: expected {FORMAT!r}, got {first[:60]!r}; {_REMEDY}")
        rows: dict[str, str] = {}
        comments: list[str] = []
        for number, line in lines:
            if line.startswith("# "):
                comments.append(line.removeprefix("# "))
                continue
            sense, _, row = line.partition("\t")
            if row.count("\t") < _FACTS - 1:
                raise DataError(
                    f"{file}:{number}: expected a sense, its aliases, roles and links, "
                    f"got {line[:60]!r}; {_REMEDY}"
                )
            rows[sense] = row
        return cls(rows, comments)

    def save(self, file: str | Path, *, facts: bool = False) -> None:
        """Write the index, one roleset per line; with `facts`, no definitions and descriptions."""
        try:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{file}: cannot be written: {error.strerror or error}") from None
        with open_writer(str(file)) as text:
            text.writelines(
                f"{line}\n" for line in (FORMAT, *(f"# {each}" for each in self.comments))
            )
            for sense, row in self._rows.items():
                columns = row.split("\t")[: _FACTS if facts else None]
                text.write("\t".join([sense, *columns]) + "\n")


NO_FRAMES = FrameIndex({})

_REMEDY = "make it again: capsrl frames FOLDER"


def _group_by_lemma(rows: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Lemma -> (part of speech, sense) of the senses that it evokes, in the order of the rows."""
    lemmas: dict[str, list[tuple[str, str]]] = {}
    for sense, row in rows:
        for pos, words in _decode_aliases(sense, row[: row.index("\t")]):
            lemmas.setdefault(words, []).append((pos, sense))
            if "_" in words and pos in HEAD_FIRST:
                lemmas.setdefault(words.partition("_")[0], []).append((pos, sense))
    return lemmas


def unnumbered(sense: str) -> str:
    """A sense without its number: give_up of give_up.07."""
    return sense.rpartition(".")[0] or sense


def thematic_role(function: str) -> str | None:
    """The thematic role that a function tag implies: Agent for PAG; None if it implies none."""
    return _THEMATIC.get(function[:3])


def _encode_roleset(roleset: Roleset) -> str:
    name = unnumbered(roleset.sense)
    columns = [
        " ".join(pos if words == name else f"{pos}:{words}" for pos, words in roleset.aliases),
        " ".join(map(_encode_role, roleset.roles)),
        " ".join(roleset.links),
    ]
    prose = [roleset.definition or "", *(role.description or "" for role in roleset.roles)]
    return "\t".join(
        columns + [" ".join(text.split()) for text in prose] if any(prose) else columns
    )


def _encode_role(role: FrameRole) -> str:
    number = role.name if role.name.startswith("AM-") else role.name.removeprefix("A")
    parts = [number, role.function]
    if role.thematic != thematic_role(role.function):
        parts.append(role.thematic or "")
    return "/".join(parts)


def _decode_roleset(sense: str, row: str) -> Roleset:
    aliases, roles, links, *prose = row.split("\t")
    definition, *descriptions = prose or [""]
    pairs = zip_longest(roles.split(), descriptions[: len(roles.split())], fillvalue="")
    return Roleset(
        sense,
        tuple(_decode_aliases(sense, aliases)),
        tuple(_decode_role(role, description) for role, description in pairs),
        tuple(links.split()),
        definition or None,
    )


def _decode_aliases(sense: str, text: str) -> Iterator[tuple[str, str]]:
    for part in text.split():
        pos, _, words = part.partition(":")
        yield pos, words or unnumbered(sense)


def _decode_role(text: str, description: str) -> FrameRole:
    number, _, rest = text.partition("/")
    function, slash, thematic = rest.partition("/")
    return FrameRole(
        number if number.startswith("AM-") else f"A{number}",
        function,
        (thematic or None) if slash else thematic_role(function),
        description or None,
    )
