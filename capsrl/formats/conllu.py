"""Read CoNLL-U and CoNLL-U Plus, write CoNLL-U Plus.

Plain CoNLL-U has ten columns; CoNLL-U Plus names its own in a first line
`# global.columns = ID FORM ...`. Propositions are in three of them:

UP:PRED      the sense if the word is a predicate, `_` if it is not, `?` if the sense is unknown
UP:ARGHEADS  the arguments of that predicate, `A0:2|A1:6` (role, colon, ID of the word)
UP:ARGSPANS  their phrases in the same order, `A0:1-2|A1:4-6` (first and last ID), `_` if unknown

What its sense and roles mean, and how probable they are, is in MISC, see `misc_meanings`.
Columns that a Sentence has no field for are kept in `Sentence.columns`: UPOS, XPOS, FEATS, DEPS,
MISC and columns of other names. So are rows that are not words (multiword tokens 2-3, empty nodes
8.1), under NODES_BEFORE the word they stand above, or NODES_AFTER the last word. What
`format_conllup` writes, `read_conllu` reads as the same sentences.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from capsrl.errors import DataError
from capsrl.formats.blocks import (
    Block,
    Watch,
    add_phrases,
    filled,
    find_offsets,
    format_heads,
    format_ids,
    name_sentence,
    parse_arguments,
    parse_heads,
    read_blocks,
)
from capsrl.formats.misc_meanings import misc_with_meanings, take_meanings
from capsrl.sentence import Argument, Proposition, Sentence

PLAIN_COLUMNS = (
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC",
)  # fmt: skip
PLUS_COLUMNS = (*PLAIN_COLUMNS, "UP:PRED", "UP:ARGHEADS", "UP:ARGSPANS")
HEADER = f"# global.columns = {' '.join(PLUS_COLUMNS)}\n"

_NODES_BEFORE, _NODES_AFTER = "NODES_BEFORE", "NODES_AFTER"
_NO_SENSE = "?"
_OWN_COLUMNS = {"ID", "FORM", "LEMMA", "HEAD", "DEPREL", "UP:PRED", "UP:ARGHEADS", "UP:ARGSPANS"}
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_SENT_ID = re.compile(r"#\s*sent_id(?:\s*=\s*|\s+)(\S.*\S|\S)\s*")  # UD 1: no equals sign
_TEXT_COMMENT = re.compile(r"#\s*text\s*= ?(.*)")
# At most nine digits: int() refuses thousands of them.
_NODE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})|(0|[1-9]\d{0,8})\.[1-9]\d*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a block, and which of its rows are words.

    columns  names of the columns
    rows     cells of each row; rows may differ in width
    words    index of each word among the rows
    ids      IDs of words and empty nodes, in order: what Universal PropBank 2.0 counts
    others   word -> rows above it that are not words; key n: rows after the last of n words
    """

    block: Block
    columns: tuple[str, ...]
    rows: list[list[str]]
    words: list[int]
    ids: list[str]
    others: dict[int, list[int]]

    def where(self, word: int) -> str:
        """Return `file:line` of a word."""
        return self.block.where(self.words[word])

    @property
    def sent_id(self) -> str | None:
        """The name of the sentence in the comments."""
        return _find_comment(self.block.comments, _SENT_ID)


def read_conllu(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U or CoNLL-U Plus file; hold one at a time.

    `id` is the sent_id. `tags` are XPOS, or UPOS where XPOS is empty. `offsets` are known when
    every word is in the `# text` line as written: not where a multiword token (French
    du = de + le) differs from its words. Arguments on empty nodes are left out.
    watch  is called with each block of rows before its sentence is yielded
    Raises DataError naming source and line.
    """
    for table in read_tables(lines, source=source, watch=watch):
        _check_columns(table)
        yield take_meanings(make_sentence(table).with_propositions(_propositions_of_table(table)))


def read_tables(
    lines: Iterable[str], *, source: str, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield the tables of a file like CoNLL-U, with rows of any width."""
    columns: tuple[str, ...] = PLAIN_COLUMNS
    for block in read_blocks(lines, source=source, comment="#", watch=watch):
        for comment in block.comments:
            if header := _GLOBAL_COLUMNS.fullmatch(comment):
                columns = tuple(header[1].split())
        yield _make_table(block, columns)


def _make_table(block: Block, columns: tuple[str, ...]) -> Table:
    rows = [row.split("\t") for row in block.rows]
    words: list[int] = []
    ids: list[str] = []
    others: dict[int, list[int]] = {}
    last_of_multiword = 0
    for row, cells in enumerate(rows):
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
        others.setdefault(len(words), []).append(row)
    if not words or last_of_multiword > len(words):
        expected = max(last_of_multiword, 1)
        raise DataError(
            f"{block.where(len(rows) - 1)}: expected words up to ID {expected}, "
            f"got {len(words)} words"
        )
    return Table(block, columns, rows, words, ids, others)


def make_sentence(table: Table) -> Sentence:
    """Return the Sentence of a table, without propositions."""
    rows = [table.rows[row] for row in table.words]
    cells = dict(zip(table.columns, zip(*rows, strict=True), strict=True))
    words = cells["FORM"]
    if "" in words:
        raise DataError(f"{table.where(words.index(''))}: has no FORM")
    columns = {
        name: cells[name] for name in cells if name not in _OWN_COLUMNS and filled(cells[name])
    }
    columns |= _other_nodes(table)
    comments = [c for c in table.block.comments if not _GLOBAL_COLUMNS.fullmatch(c)]
    text = _find_comment(comments, _TEXT_COMMENT)
    return Sentence(
        words,
        lemmas=filled(cells.get("LEMMA")),
        tags=columns.get("XPOS") or columns.get("UPOS"),
        heads=parse_heads(cells.get("HEAD"), where=table.where),
        relations=filled(cells.get("DEPREL")),
        text=text,
        offsets=None if text is None else find_offsets(words, text),
        id=table.sent_id,
        columns=columns,
        comments=tuple(comments),
    )


def format_conllup(sentence: Sentence) -> str:
    """Return the comments, rows and blank line of a sentence; a file begins with HEADER.

    Lemmas, heads and relations come from the sentence; UPOS, XPOS, FEATS, DEPS and MISC from its
    columns. Without an XPOS column the tags go to XPOS, and PFEAT or FEAT of CoNLL-2009 to FEATS.
    Raises DataError for what the format cannot hold: tabs and line breaks, an empty word, two
    propositions on one word.
    """
    empty = ("_",) * len(sentence)
    columns = sentence.columns
    predicates, arguments, phrases = _proposition_columns(sentence)
    table = (
        format_ids(len(sentence)),
        sentence.words,
        sentence.lemmas or empty,
        columns.get("UPOS", empty),
        columns.get("XPOS") or _tags(sentence) or empty,
        _features(sentence) or empty,
        format_heads(sentence) or empty,
        sentence.relations or empty,
        columns.get("DEPS", empty),
        misc_with_meanings(sentence),
        predicates,
        arguments,
        phrases,
    )
    _check_writable(sentence, table)
    rows = ["\t".join(cells) for cells in zip(*table, strict=True)]
    lines = [*_comments(sentence), *_with_other_nodes(sentence, rows)]
    return "\n".join(lines) + "\n\n"


def _find_comment(comments: Iterable[str], pattern: re.Pattern[str]) -> str | None:
    """Return the value of the first comment that matches."""
    return next((found[1] for line in comments if (found := pattern.fullmatch(line))), None)


def _check_columns(table: Table) -> None:
    names, source = table.columns, table.block.source
    if names[:1] != ("ID",) or "FORM" not in names:
        raise DataError(
            f"{source}: expected ID first and FORM in # global.columns, got "
            f"{' '.join(names) or 'nothing'}; a stand-off file of Universal PropBank 2.0 "
            "is read together with its CoNLL-U: --merge FILE"
        )
    if len(set(names)) != len(names):
        raise DataError(
            f"{source}: expected different names in # global.columns, got {' '.join(names)}"
        )
    for row, cells in enumerate(table.rows):
        if len(cells) != len(names):
            hint = ""
            if len(cells) > len(names) and names == PLAIN_COLUMNS:
                hint = (
                    "; CoNLL-U Plus begins with # global.columns; "
                    "for Universal PropBank 1.0 name the format up1"
                )
            raise DataError(
                f"{table.block.where(row)}: expected {len(names)} columns, got {len(cells)}{hint}"
            )


def _other_nodes(table: Table) -> dict[str, tuple[str, ...]]:
    """Return multiword tokens and empty nodes: rows of ten columns, one string per word."""
    if not table.others:
        return {}
    n = len(table.words)
    texts = [""] * (n + 1)
    for word, rows in table.others.items():
        cells = [dict(zip(table.columns, table.rows[row], strict=True)) for row in rows]
        texts[word] = "\n".join(
            "\t".join(row.get(name, "_") for name in PLAIN_COLUMNS) for row in cells
        )
    columns = {_NODES_BEFORE: tuple(texts[:n]), _NODES_AFTER: ("",) * (n - 1) + (texts[n],)}
    return {name: column for name, column in columns.items() if any(column)}


def _propositions_of_table(table: Table) -> Iterator[Proposition]:
    if "UP:PRED" not in table.columns:
        return
    sense_column = table.columns.index("UP:PRED")
    heads, phrases = (
        table.columns.index(name) if name in table.columns else None
        for name in ("UP:ARGHEADS", "UP:ARGSPANS")
    )
    positions = {node: None if "." in node else int(node) - 1 for node in table.ids}
    for word, row in enumerate(table.words):
        cells = table.rows[row]
        sense = cells[sense_column]
        if sense in ("_", ""):
            continue
        where = table.where(word)
        arguments = parse_arguments("_" if heads is None else cells[heads], positions, where=where)
        if phrases is not None:
            arguments = add_phrases(arguments, cells[phrases], positions, where=where)
        yield Proposition(word, None if sense == _NO_SENSE else sense, arguments)


def _features(sentence: Sentence) -> tuple[str, ...] | None:
    # CoNLL-2009 has two columns of features; the predicted one is preferred, as for the others.
    found = (sentence.columns.get(name) for name in ("FEATS", "PFEAT", "FEAT"))
    return next((column for column in found if column and filled(column)), None)


def _tags(sentence: Sentence) -> tuple[str, ...] | None:
    # A reader that found XPOS empty took the tags from UPOS, so they are in that column already.
    return None if sentence.tags == sentence.columns.get("UPOS") else sentence.tags


def _proposition_columns(sentence: Sentence) -> tuple[list[str], list[str], list[str]]:
    name = name_sentence(sentence)
    predicates = ["_"] * len(sentence)
    arguments = ["_"] * len(sentence)
    phrases = ["_"] * len(sentence)
    for proposition in sentence.propositions:
        word = proposition.predicate
        sense = _NO_SENSE if proposition.sense is None else proposition.sense
        if predicates[word] != "_":
            raise DataError(
                f"{name}: expected one proposition per word in CoNLL-U Plus, got "
                f"{predicates[word]!r} and {sense!r} on word {word + 1}; JSONL holds both"
            )
        if sense in ("_", "") or proposition.sense == _NO_SENSE:
            raise DataError(
                f"{name}: expected a sense other than '', '_' and '?', got {sense!r} "
                f"on word {word + 1}; JSONL holds it"
            )
        for argument in proposition.arguments:
            if not argument.role or "|" in argument.role:
                raise DataError(
                    f"{name}: expected a role without '|', got {argument.role!r} on word "
                    f"{argument.word + 1}; JSONL holds it"
                )
        predicates[word] = sense
        parts = [f"{argument.role}:{argument.word + 1}" for argument in proposition.arguments]
        arguments[word] = "|".join(parts) or "_"
        phrases[word] = "|".join(map(_format_phrase, _with_phrase(proposition))) or "_"
    return predicates, arguments, phrases


def _format_phrase(argument: Argument) -> str:
    phrase = argument.phrase
    assert phrase is not None
    return f"{argument.role}:{phrase.first + 1}-{phrase.last + 1}"


def _with_phrase(proposition: Proposition) -> list[Argument]:
    return [argument for argument in proposition.arguments if argument.phrase is not None]


def _check_writable(sentence: Sentence, table: Sequence[Sequence[str]]) -> None:
    name = name_sentence(sentence)
    if not sentence.words:
        raise DataError(f"{name}: has no words")
    if "" in sentence.words:
        raise DataError(f"{name}: word {sentence.words.index('') + 1} is empty; JSONL holds it")
    for column in table:
        joined = "".join(column)
        if "\t" in joined or "\n" in joined or "\r" in joined:
            cell = next(cell for cell in column if any(end in cell for end in "\t\n\r"))
            raise DataError(
                f"{name}: expected no tab or line break in a column, got {cell!r}; JSONL holds it"
            )


def _comments(sentence: Sentence) -> list[str]:
    """Return the comments, with the sentence's own id and text."""
    comments = [_one_line(line) for line in sentence.comments]
    comments = [line if line.startswith("#") else f"# {line}" for line in comments]
    # In the middle of a file # global.columns would change how the rest is read.
    comments = [line for line in comments if not _GLOBAL_COLUMNS.fullmatch(line)]
    comments = _with_value(comments, _TEXT_COMMENT, "text", sentence.text)
    return _with_value(comments, _SENT_ID, "sent_id", sentence.id)


def _with_value(
    comments: list[str], pattern: re.Pattern[str], key: str, value: str | None
) -> list[str]:
    if value is None or _find_comment(comments, pattern) == (value := _one_line(value)):
        return comments
    return [f"# {key} = {value}", *(line for line in comments if not pattern.fullmatch(line))]


def _one_line(text: str) -> str:
    # One space for one character, so that offsets into the text stay right.
    return text.replace("\r", " ").replace("\n", " ")


def _with_other_nodes(sentence: Sentence, rows: list[str]) -> list[str]:
    before = sentence.columns.get(_NODES_BEFORE)
    after = sentence.columns.get(_NODES_AFTER)
    if before is None and after is None:
        return rows
    lines: list[str] = []
    for word, row in enumerate(rows):
        lines += [*_node_rows(before, word), row]
    lines += _node_rows(after, len(rows) - 1)
    # These columns may come from a JSON file that was edited by hand.
    name = f"{name_sentence(sentence)} with its multiword tokens and empty nodes"
    for line in lines:
        if line.count("\t") + 1 != len(PLUS_COLUMNS) or "\r" in line:
            raise DataError(f"{name}: expected rows of 10 columns, got {line.split(chr(9))[:-3]}")
    _make_table(Block(name, 1, lines), PLUS_COLUMNS)
    return lines


def _node_rows(column: tuple[str, ...] | None, word: int) -> list[str]:
    if column is None or not column[word]:
        return []
    empty = "\t_" * (len(PLUS_COLUMNS) - len(PLAIN_COLUMNS))
    return [f"{row}{empty}" for row in column[word].split("\n")]
