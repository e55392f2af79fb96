"""Convert the example sentences of PropBank frame files.

Each roleset of a frame file has examples: a tokenized sentence, the position of one predicate, and
its arguments as spans. Other predicates of the sentence are not annotated, so a recipe names the
converted file in `data.partial`.
"""

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.etree.ElementTree import Element

from capsrl.errors import DataError
from capsrl.frames.roles import conll09_role
from capsrl.frames.xml import find_frame_files, parse_frame_file
from capsrl.sentence import Argument, Proposition, Sentence
from corpora import AUXILIARIES
from corpora.clear_parser import Parse
from corpora.content_heads import ParsedWords, content_heads, phrase_head
from corpora.heads import Tree
from corpora.held_out import HeldOut

# Empty words of the Penn Treebank: *PRO*, *T*-1, [*], [*-2]-1.
_TRACE = re.compile(r"\[?\*(?:[A-Za-z?]*\*)?(?:-\d+)?\]*(?:-\d+)?")
# Words with the index of a trace (who-1, [the, samples]-1) or with an escape.
_DAMAGED_WORD = re.compile(r"\[.+|.+\](?:-\d+)?|[A-Za-z]+-\d|.*\\.*")
# Escapes of the Penn Treebank -> spelling in the English Web Treebank.
_SPELLING = {
    **{"``": '"', "''": '"', "`": "'", "/.": ".", "/,": ",", "/?": "?", "/-": "-"},
    **{"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"},
}
_OPEN_TAGS = ("V", "N", "J", "RB")  # RB, because the parser takes some adjectives for adverbs
_SENSE = re.compile(r"[^\s.]+\.(?:\d\d|LV)")  # give.01, take.LV; above 99 are clinical rolesets


@dataclass(frozen=True, slots=True)
class FrameExample:
    """An example; positions count its words.

    arguments  (role, positions)
    aliases    possible lemmas of the predicate: the first words of the aliases of the roleset
    """

    sense: str
    words: tuple[str, ...]
    predicate: tuple[int, ...]
    arguments: tuple[tuple[str, tuple[int, ...]], ...]
    aliases: frozenset[str]


class _Unusable(Exception):  # noqa: N818 - a reason to leave out an example
    """An example cannot be used; the message says what such examples have in common."""


def convert_frame_examples(
    folder: str | Path, parse: Parse, *, left_out: Counter[str], held_out: HeldOut | None = None
) -> Iterator[Sentence]:
    """Yield a Sentence for each distinct sentence of the examples, in the order of the files.

    folder    contains frame files, *.xml
    parse     as returned by `clear_parser.load_parser`
    left_out  gets the number of what was left out, by reason
    held_out  sentences for dev and test; examples that overlap them are left out

    Examples with the same sentence become one Sentence. A span becomes its head in the predicted
    tree. Of a predicate of several words (*take off*) the verb is marked; words apart from it get
    the role C-V, as in the English Web Treebank.
    Raises DataError if the folder has no frame files, or none with examples.
    """
    held_out = held_out or HeldOut()
    grouped: dict[tuple[str, ...], list[FrameExample]] = {}
    for example in read_frame_examples(folder, left_out=left_out):
        if held_out.overlaps(example.words):
            left_out["examples that overlap held-out sentences"] += 1
        else:
            grouped.setdefault(example.words, []).append(example)
    if not grouped:
        raise DataError(f"{folder}: has no frame files with examples")
    for parsed, examples in zip(parse(grouped), grouped.values(), strict=True):
        sentence = _sentence(parsed, examples, left_out)
        if sentence.propositions:
            yield sentence


def read_frame_examples(folder: str | Path, *, left_out: Counter[str]) -> Iterator[FrameExample]:
    """Yield the usable examples of all .xml files of a folder, in the order of the file names.

    Files that are not XML and examples with inconsistent positions are left out and counted.
    """
    for file in find_frame_files(folder):
        try:
            root = parse_frame_file(file)
        except DataError as error:
            warnings.warn(f"{error}; it is skipped", stacklevel=2)
            left_out["files that are not XML"] += 1
            continue
        for predicate in root.iter("predicate"):
            for roleset in predicate.iter("roleset"):
                yield from _roleset_examples(predicate.get("lemma", ""), roleset, left_out)


def _roleset_examples(
    lemma: str, roleset: Element, left_out: Counter[str]
) -> Iterator[FrameExample]:
    sense = roleset.get("id", "")
    names = [lemma, *(alias.text or "" for alias in roleset.iter("alias"))]
    aliases = frozenset(name.strip().lower().partition("_")[0] for name in names) - {""}
    for example in roleset.iter("example"):
        try:
            yield _frame_example(sense, example, aliases)
        except _Unusable as reason:
            left_out[str(reason)] += 1


def _frame_example(sense: str, example: Element, aliases: frozenset[str]) -> FrameExample:
    if not _SENSE.fullmatch(sense):
        raise _Unusable("examples of clinical or unnumbered rolesets")
    if sense in AUXILIARIES:
        raise _Unusable("examples of auxiliaries")
    # Not split(): positions also count the empty strings between two spaces.
    tokens = (example.findtext("text") or "").split(" ")
    old_predicate = _predicate_span(tokens, list(example.iter("rel")))
    old_arguments = [(_role(arg), _argument_span(tokens, arg)) for arg in example.iter("arg")]
    if any(not set(span).isdisjoint(old_predicate) for _, span in old_arguments):
        raise _Unusable("examples with an argument over the predicate")
    words = _words(tokens)
    new = {old: position for position, old in enumerate(words)}
    predicate = _move(old_predicate, new)
    if not predicate:
        raise _Unusable("examples whose predicate is a trace")
    arguments = ((role, _move(span, new)) for role, span in old_arguments)
    located = tuple((role, span) for role, span in arguments if span)
    return FrameExample(sense, tuple(words.values()), predicate, located, aliases)


def _role(argument: Element) -> str:
    role = conll09_role(argument.get("type", "").strip().upper())
    return role.replace("AM-PNC", "AM-PRP")  # purpose; PropBank 3 has one name for it


def _predicate_span(tokens: Sequence[str], elements: Sequence[Element]) -> list[int]:
    if len(elements) != 1:
        raise _Unusable("examples without one predicate")
    positions = elements[0].get("relloc", "").split()
    if not positions or not all(position.isdecimal() for position in positions):
        raise _Unusable("examples whose predicate is not located")
    span = [int(position) for position in positions]
    _check_text(tokens, span, elements[0], "predicate")
    return span


def _argument_span(tokens: Sequence[str], argument: Element) -> Sequence[int]:
    """Return the positions of an argument; none for a trace."""
    start, end = argument.get("start", ""), argument.get("end", "")
    if start.isdecimal() and end.isdecimal():
        span = range(int(start), int(end) + 1)
        _check_text(tokens, span, argument, "argument")
        return span
    words = (argument.text or "").split()
    if words and all(map(_TRACE.fullmatch, words)):
        return ()
    found = [i for i in range(len(tokens)) if list(tokens[i : i + len(words)]) == words]
    if not words or len(found) != 1:
        raise _Unusable("examples with an argument that is not located")
    return range(found[0], found[0] + len(words))


def _check_text(tokens: Sequence[str], span: Sequence[int], element: Element, kind: str) -> None:
    words = (element.text or "").split()
    inside = all(position < len(tokens) for position in span)
    if not inside or not words or words != " ".join(tokens[i] for i in span).split():
        raise _Unusable(f"examples whose {kind} is elsewhere than their text")


def _words(tokens: Sequence[str]) -> dict[int, str]:
    """Return the words by position, without traces, spelled as in the English Web Treebank."""
    tokens = [token.strip().replace("\\/", "/") for token in tokens]
    words = {i: word for i, word in enumerate(tokens) if word and not _TRACE.fullmatch(word)}
    has_trace = any(map(_TRACE.fullmatch, tokens))
    if any(_DAMAGED_WORD.fullmatch(word) for word in words.values() if has_trace or "\\" in word):
        raise _Unusable("examples with indices of traces or escapes in their words")
    if any(" " in word or "\n" in word for word in words.values()):
        raise _Unusable("examples with spaces in their words")
    return {i: _SPELLING.get(word, word) for i, word in words.items()}


def _move(span: Sequence[int], new: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(new[word] for word in span if word in new)


def _sentence(
    parsed: ParsedWords, examples: Sequence[FrameExample], left_out: Counter[str]
) -> Sentence:
    tree = content_heads(parsed)
    lemmas = list(parsed.lemmas)
    propositions: dict[int, Proposition] = {}
    for example in examples:
        proposition = _proposition(example, parsed, tree)
        word = proposition.predicate
        if not parsed.tags[word].startswith(_OPEN_TAGS):
            left_out["examples whose predicate is not a verb, noun or adjective"] += 1
        elif word in propositions:
            same = propositions[word].sense == proposition.sense
            left_out[f"examples that give a word {'the same' if same else 'another'} sense"] += 1
        else:
            propositions[word] = proposition
            lemmas[word] = _lemma(parsed.words[word], lemmas[word], example.aliases)
    sentence = Sentence(
        words=parsed.words,
        lemmas=tuple(lemmas),
        tags=parsed.tags,
        heads=tuple(tree.heads),
        relations=tuple(tree.relations or ()),
    )
    return sentence.with_propositions(propositions.values())


def _proposition(example: FrameExample, parsed: ParsedWords, tree: Tree) -> Proposition:
    predicate = _predicate(example, parsed, tree)
    spans = [("C-V", run) for run in _runs(example) if predicate not in run]
    spans += example.arguments
    # A dict, to keep the order of equal positions and each argument once.
    arguments = dict.fromkeys(Argument(role, phrase_head(set(span), tree)) for role, span in spans)
    ordered = sorted(arguments, key=lambda argument: argument.word)
    return Proposition(predicate, example.sense, tuple(ordered))


def _predicate(example: FrameExample, parsed: ParsedWords, tree: Tree) -> int:
    """Of several words, choose the one the roleset is named after, the first verb, or the head.

    The roleset of *take off* is named after *take*; that of *co-chair*, cochair.01, ends in
    *chair*.
    """
    words = example.predicate
    name = example.sense.partition(".")[0]
    lemmas = {word: parsed.lemmas[word].lower() for word in words}
    candidates = [
        *(word for word in words if lemmas[word] == name.partition("_")[0]),
        *(word for word in words if len(lemmas[word]) > 2 and name.endswith(lemmas[word])),
        *(word for word in words if parsed.tags[word].startswith("V")),
        phrase_head(set(words), tree),
    ]
    return candidates[0]


def _runs(example: FrameExample) -> Iterator[tuple[int, ...]]:
    """Yield the runs of adjacent words of the predicate; a hyphen in between does not end one."""
    inside = range(min(example.predicate), max(example.predicate) + 1)
    joined = [i for i in inside if i in example.predicate or example.words[i] == "-"]
    for _, run in groupby(enumerate(joined), key=lambda pair: pair[1] - pair[0]):
        if words := tuple(word for _, word in run if word in example.predicate):
            yield words


def _lemma(word: str, lemma: str, aliases: frozenset[str]) -> str:
    """Return the predicted lemma of a predicate if it is an alias, else the alias nearest to it.

    Parsers do not know many of the rare verbs in frame files: *stag* for *staged*.
    """
    lemma, word = lemma.lower(), word.lower()
    if lemma in aliases:
        return lemma
    n_shared = {alias: len(os.path.commonprefix([alias, word])) for alias in aliases}
    near = [alias for alias in aliases if n_shared[alias] >= max(3, len(alias) - 2)]
    return max(near, key=lambda alias: (n_shared[alias], alias), default=lemma)
