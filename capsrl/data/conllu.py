"""CoNLL-U and CoNLL-U Plus text -> Sentence, and Sentence -> CoNLL-U Plus.

A file of plain CoNLL-U has ten columns; CoNLL-U Plus names its own in a first line
`# global.columns = ID FORM ...`. Propositions stand in two of them:

UP:PRED      the sense of the word as a predicate, `_` if it is none, `?` if the sense is unknown
UP:ARGHEADS  the arguments of that predicate, `A0:2|A1:6` (role, colon, ID of the word)

What a Sentence has no field for is kept in `Sentence.columns` for the way back: UPOS, XPOS, FEATS,
DEPS, MISC, any column of another name, and the rows that are no words (multiword tokens 2-3,
empty nodes 8.1) under NODES_BEFORE the word they stand above, and NODES_AFTER the last.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence

PLAIN_COLUMNS = (
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC",
)  # fmt: skip
PLUS_COLUMNS = (*PLAIN_COLUMNS, "UP:PRED", "UP:ARGHEADS")
HEADER = f"# global.columns = {' '.join(PLUS_COLUMNS)}\n"
NODES_BEFORE, NODES_AFTER = "NODES_BEFORE", "NODES_AFTER"
NO_SENSE = "?"

# Comments with a meaning.
GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
SENT_ID = re.compile(r"#\s*sent_id(?:\s*=\s*|\s+)(\S.*)")  # UD 1 wrote no equals sign
TEXT = re.compile(r"#\s*text\s*= ?(.*)")

_FIELDS = {"ID", "FORM", "LEMMA", "HEAD", "DEPREL", "UP:PRED", "UP:ARGHEADS"}
_NUMBER = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)
# Nine digits at most: int() refuses thousands of them.
_NODE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})|(0|[1-9]\d{0,8})\.[1-9]\d*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence, split at tabs and not yet understood.

    line      number of the first row in its file; the others follow without a gap
    columns   their names
    comments  the lines above the rows, without `# global.columns`
    """

    source: str
    line: int
    columns: tuple[str, ...]
    comments: tuple[str, ...]
    rows: list[list[str]]

    def where(self, row: int) -> str:
        """The place of a row, for messages."""
        return f"{self.source}:{self.line + row}"


@dataclass(frozen=True, slots=True)
class Nodes:
    """Which rows of a block are words.

    words   index of each word among the rows
    ids     the IDs of words and empty nodes, in order: what Universal PropBank 2.0 counts
    before  word -> the rows above it that are no words; key n: those after the last of n words
    """

    words: list[int]
    ids: list[str]
    before: dict[int, list[int]]


def read_conllu(lines: Iterable[str], *, source: str = "<lines>") -> Iterator[Sentence]:
    """Yield one Sentence per block of a CoNLL-U or CoNLL-U Plus file, holding one at a time.

    `id` is the sent_id. `tags` are XPOS, or UPOS where XPOS is all `_`. `offsets` are known when
    every word stands in the `# text` line as it is written: not where a multiword token (French
    du = de + le) differs from its words. Arguments on empty nodes are left out.
    Raises DataError naming source and line.
    """
    for block in read_blocks(lines, source=source):
        _check_columns(block)
        nodes = find_nodes(block)
        yield make_sentence(block, nodes).with_propositions(_propositions(block, nodes))


def read_blocks(lines: Iterable[str], *, source: str) -> Iterator[Block]:
    """Yield the blocks of a CoNLL-U-like file, of whatever width."""
    columns: tuple[str, ...] = PLAIN_COLUMNS
    comments: list[str] = []
    rows: list[list[str]] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            if rows:
                raise DataError(
                    f"{source}:{number}: expected a word or a blank line, got a comment; "
                    "comments stand above the words"
                )
            if header := GLOBAL_COLUMNS.fullmatch(line):
                columns = tuple(header[1].split())
            else:
                comments.append(line)
        elif line.strip():
            rows.append(line.split("\t"))
        elif rows:
            yield Block(source, number - len(rows), columns, tuple(comments), rows)
            comments, rows = [], []
    if rows:  # the last sentence may lack its blank line
        yield Block(source, number - len(rows) + 1, columns, tuple(comments), rows)


def find_nodes(block: Block) -> Nodes:
    """Tell words from multiword tokens and empty nodes, and check that IDs count 1, 2, 3, ..."""
    words: list[int] = []
    ids: list[str] = []
    before: dict[int, list[int]] = {}
    last_of_multiword = 0
    for row, cells in enumerate(block.rows):
        if cells[0] == str(len(words) + 1):
            words.append(row)
            ids.append(cells[0])
            continue
        node = _NODE.fullmatch(cells[0])
        if node and node[1] and int(node[1]) == len(words) + 1 and int(node[2]) > len(words):
            last_of_multiword = max(last_of_multiword, int(node[2]))
        elif node and node[3] and int(node[3]) == len(words):
            ids.append(cells[0])
        else:
            raise DataError(
                f"{block.where(row)}: expected ID {len(words) + 1} (or a multiword token or empty "
                f"node there), got {cells[0]!r}"
            )
        before.setdefault(len(words), []).append(row)
    if not words or last_of_multiword > len(words):
        expected = max(last_of_multiword, 1)
        raise DataError(
            f"{block.where(len(block.rows) - 1)}: expected words up to ID {expected}, "
            f"got {len(words)} words"
        )
    return Nodes(words, ids, before)


def make_sentence(block: Block, nodes: Nodes) -> Sentence:
    """The Sentence of a block, without propositions."""
    rows = [block.rows[row] for row in nodes.words]
    cells = dict(zip(block.columns, zip(*rows, strict=True), strict=True))
    words = cells["FORM"]
    if "" in words:
        raise DataError(
            f"{block.where(nodes.words[words.index('')])}: expected a FORM, got nothing"
        )
    columns = {
        name: kept for name in cells if name not in _FIELDS and (kept := _filled(cells, name))
    }
    columns |= _other_nodes(block, nodes)
    text = find_comment(block.comments, TEXT)
    return Sentence(
        words,
        lemmas=_filled(cells, "LEMMA"),
        tags=columns.get("XPOS") or columns.get("UPOS"),
        heads=_heads(_filled(cells, "HEAD"), block, nodes),
        relations=_filled(cells, "DEPREL"),
        text=text,
        offsets=None if text is None else find_offsets(words, text),
        id=find_comment(block.comments, SENT_ID),
        columns=columns,
        comments=block.comments,
    )


def find_offsets(words: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """Where each word stands in the text, or None unless all stand there in order as written."""
    offsets = []
    end = 0
    for word in words:
        start = end
        while start < len(text) and text[start].isspace() and not text.startswith(word, start):
            start += 1
        if not text.startswith(word, start):
            return None
        end = start + len(word)
        offsets.append((start, end))
    return tuple(offsets)


def find_comment(comments: Iterable[str], pattern: re.Pattern[str]) -> str | None:
    """What the first comment of a kind (SENT_ID, TEXT) says."""
    for line in comments:
        if found := pattern.fullmatch(line):
            return found[1].rstrip() if pattern is SENT_ID else found[1]
    return None


def parse_arguments(
    cell: str, positions: Mapping[str, int | None], *, where: str
) -> tuple[Argument, ...]:
    """Read `A0:2|A1:6`; positions maps an ID to its word, or to None: an argument to leave out."""
    if cell in ("_", ""):
        return ()
    arguments = []
    for part in cell.split("|"):
        role, _, node = part.rpartition(":")
        if not role or node not in positions:
            raise DataError(
                f"{where}: expected arguments as role:ID (A0:2|A1:6) with IDs of this sentence, "
                f"got {part!r}"
            )
        word = positions[node]
        if word is not None:
            arguments.append(Argument(role, word))
    return tuple(sorted(arguments, key=lambda argument: argument.word))


def _check_columns(block: Block) -> None:
    if block.columns[:1] != ("ID",) or "FORM" not in block.columns:
        raise DataError(
            f"{block.source}: expected ID first and FORM in # global.columns, got "
            f"{' '.join(block.columns) or 'nothing'}; a stand-off file of Universal PropBank 2.0 "
            "is read together with its CoNLL-U: --merge FILE"
        )
    if len(set(block.columns)) != len(block.columns):
        raise DataError(
            f"{block.source}: expected different names in # global.columns, got "
            f"{' '.join(block.columns)}"
        )
    width = len(block.columns)
    for row, cells in enumerate(block.rows):
        if len(cells) != width:
            hint = (
                "; CoNLL-U Plus begins with # global.columns; "
                "for Universal PropBank 1.0 name the format up1"
                if len(cells) > width and block.columns == PLAIN_COLUMNS
                else ""
            )
            raise DataError(f"{block.where(row)}: expected {width} columns, got {len(cells)}{hint}")


def _filled(cells: Mapping[str, tuple[str, ...]], name: str) -> tuple[str, ...] | None:
    """A column, or None if it is absent or all `_`."""
    column = cells.get(name)
    return None if column is None or set(column) == {"_"} else column


def _heads(
    column: tuple[str, ...] | None, block: Block, nodes: Nodes
) -> tuple[int | None, ...] | None:
    if column is None:
        return None
    for row, cell in zip(nodes.words, column, strict=True):
        if not _NUMBER.fullmatch(cell) or int(cell) > len(column):
            raise DataError(
                f"{block.where(row)}: expected HEAD from 0 to {len(column)}, got {cell!r}; "
                "an unparsed sentence has `_` at every word"
            )
    return tuple(int(cell) - 1 if cell != "0" else None for cell in column)


def _other_nodes(block: Block, nodes: Nodes) -> dict[str, tuple[str, ...]]:
    """Multiword tokens and empty nodes, as rows of the ten plain columns in one string per word."""
    if not nodes.before:
        return {}
    n = len(nodes.words)
    texts = [""] * (n + 1)
    for word, rows in nodes.before.items():
        cells = [dict(zip(block.columns, block.rows[row], strict=True)) for row in rows]
        texts[word] = "\n".join(
            "\t".join(row.get(name, "_") for name in PLAIN_COLUMNS) for row in cells
        )
    columns = {NODES_BEFORE: tuple(texts[:n]), NODES_AFTER: ("",) * (n - 1) + (texts[n],)}
    return {name: column for name, column in columns.items() if any(column)}


def _propositions(block: Block, nodes: Nodes) -> Iterator[Proposition]:
    if "UP:PRED" not in block.columns:
        return
    sense_column = block.columns.index("UP:PRED")
    heads = block.columns.index("UP:ARGHEADS") if "UP:ARGHEADS" in block.columns else None
    positions = {str(word): word - 1 for word in range(1, len(nodes.words) + 1)}
    with_empty = positions | {node: None for node in nodes.ids if "." in node}
    for word, row in enumerate(nodes.words):
        cells = block.rows[row]
        sense = cells[sense_column]
        if sense in ("_", ""):
            continue
        arguments = "_" if heads is None else cells[heads]
        yield Proposition(
            word,
            None if sense == NO_SENSE else sense,
            parse_arguments(arguments, with_empty, where=block.where(row)),
        )
