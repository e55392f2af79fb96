"""Propositions as labeled spans of characters: what annotation tools exchange.

The files of brat, Label Studio and UIMA are written from, and read as, the same plain objects:

    {"start": 5, "end": 9, "sense": "sell.01", "details": {...},
     "arguments": [{"start": 0, "end": 4, "role": "A0", "details": {...}}]}

Offsets count characters of a text that has one sentence per line. Tools do not know our words, so
the sentences themselves (`bare`) go with the text; without them the text is split by our rules.
`details` are the other fields of a proposition or argument, as in JSON: its head word, its
probabilities. They are true of a span only as it was written: a span that an annotator has moved
or labeled anew loses them, and `capsrl.text.heads` finds its head word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from capsrl.errors import DataError
from capsrl.formats.blocks import name_sentence
from capsrl.formats.fields import Plain, sentence_from_dict, to_plain
from capsrl.formats.json_check import shown
from capsrl.sentence import Offsets, Sentence
from capsrl.text.heads import find_head
from capsrl.text.sentences import split_text

# Line breaks, and what XML and some tools refuse; each becomes a space, so that offsets stay.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_SPANS = ("form", "start", "end", "arguments", "trace", "details")  # not among the details


class Marked(NamedTuple):
    """A text and its labeled spans.

    bare   the sentences of its lines without propositions, as in JSON; None: not known
    spans  the propositions, as above
    split  the sentences and the offsets of their words, where a tool has split the text itself
    """

    text: str
    bare: list[Plain] | None
    spans: list[Plain]
    split: Sequence[tuple[Sentence, Offsets]] = ()


def mark(sentences: Iterable[Sentence]) -> Marked:
    """Lay sentences out, one per line; raises DataError for an empty word in a proposition."""
    found = list(sentences)
    text, places = lay_out(found)
    bare = [to_plain(replace(each, propositions=())) for each in found]
    spans = [
        _span(to_plain(proposition), offsets, sentence)
        for sentence, offsets in zip(found, places, strict=True)
        for proposition in sentence.propositions
    ]
    return Marked(text, bare, spans)


def place(marked: Marked, *, source: str) -> Iterator[Sentence]:
    """The sentences of a marked text; raises DataError for a span that is in none of them."""
    _check_spans(marked.spans, source)
    if not isinstance(marked.text, str):
        raise DataError(f"{source}: expected a text, got {shown(marked.text)}")
    waiting = sorted(marked.spans, key=lambda span: int(span["start"]))
    done = 0
    for sentence, offsets in marked.split or _sentences(marked, source):
        found, end = [], max((end for _, end in offsets), default=0)
        while done < len(waiting) and waiting[done]["start"] < end:
            found.append(waiting[done])
            done += 1
        yield place_spans(sentence, offsets, found, where=source)
    if done < len(waiting):
        raise _outside(waiting[done], source)


def place_spans(
    sentence: Sentence, offsets: Offsets, spans: Iterable[Plain], *, where: str
) -> Sentence:
    """A sentence with the propositions of its spans; words that are named need no offsets."""
    found = []
    for span in spans:
        plain = _kept(span, "sense", offsets)
        if "predicate" not in plain:
            plain["predicate"] = _covered(span, offsets, where)[0]
        plain["arguments"] = [
            _argument(each, sentence, offsets, where) for each in span.get("arguments") or ()
        ]
        written = [each.get("details") for each in span.get("arguments") or ()]
        same = plain.pop("n_arguments", None) == len(written) and plain["arguments"] == written
        if "details" in span and not same:
            plain.pop("joint_probability", None)
        found.append(plain)
    bare = to_plain(replace(sentence, propositions=()))
    placed = sentence_from_dict(bare | {"propositions": found}, where=where)
    return placed if sentence.offsets is None else sentence.with_propositions(placed.propositions)


def read_object(value: Plain, *, where: str) -> list[Sentence]:
    """The sentences of a JSON object that has spans without head words, or text without words."""
    spans: list[Plain] = value.get("propositions", [])
    if "words" in value:
        _check_spans(spans, where)
        sentence = sentence_from_dict(value | {"propositions": []}, where=where)
        return [place_spans(sentence, sentence.offsets or (), spans, where=where)]
    found = list(place(Marked(str(value["text"]), None, spans), source=where))
    name = value.get("id")
    if name is not None:
        sentence_from_dict({"id": name, "words": []}, where=where)  # checks it
    return [
        replace(each, id=name if len(found) == 1 else f"{name}-{number}") if name else each
        for number, each in enumerate(found, start=1)
    ]


def has_spans(value: Plain) -> bool:
    """Whether a JSON object is one for `read_object`."""
    if not isinstance(value.get("propositions"), list):
        return False
    parts = [each for each in value["propositions"] if isinstance(each, dict)]
    lists = [each["arguments"] for each in parts if isinstance(each.get("arguments"), list)]
    arguments = [each for found in lists for each in found if isinstance(each, dict)]
    if "words" not in value:
        return isinstance(value.get("text"), str) and all(
            {"start", "end"} <= p.keys() for p in parts
        )
    return any("word" not in each and each.keys() & {"phrase", "start"} for each in arguments)


def _check_spans(spans: Iterable[object], where: str) -> None:
    """Raise DataError unless these are objects whose ends, if they have any, are numbers."""
    for span in spans:
        plain: Plain = span if isinstance(span, dict) else {"start": None}
        ends = [plain[name] for name in ("start", "end") if name in plain]
        arguments, details = plain.get("arguments") or [], plain.get("details") or {}
        is_right = isinstance(arguments, list) and isinstance(details, dict)
        if not is_right or any(type(end) is not int or end < 0 for end in ends):
            raise DataError(f"{where}: expected an object with start and end, got {span!r:.60}")
        _check_spans(arguments, where)


def lay_out(sentences: Iterable[Sentence]) -> tuple[str, list[Offsets]]:
    """The sentences on a line each, and the offsets of their words in that text."""
    lines: list[str] = []
    places, before = [], 0
    for sentence in sentences:
        text, offsets = sentence.text, sentence.offsets
        if text is None or offsets is None:
            text, ends = " ".join(sentence.words), accumulate(len(w) + 1 for w in sentence.words)
            pairs = zip(sentence.words, ends, strict=True)
            offsets = tuple((end - 1 - len(word), end - 1) for word, end in pairs)
        lines.append(_UNSAFE.sub(" ", text))
        places.append(tuple((before + start, before + end) for start, end in offsets))
        before += len(text) + 1
    return "\n".join(lines), places


def _span(plain: Plain, offsets: Offsets, sentence: Sentence) -> Plain:
    """A proposition or argument as a span."""
    arguments: Sequence[Plain] = plain.get("arguments", ())
    details = {name: value for name, value in plain.items() if name not in _SPANS}
    if phrase := details.get("phrase"):
        details["phrase"] = {name: phrase[name] for name in ("first", "last")}
    start, end = _extent(details, offsets)
    if start >= end:
        raise DataError(f"{name_sentence(sentence)}: a word of a proposition is empty; use JSONL")
    label: Plain = {name: details[name] for name in ("sense", "role") if name in details}
    if "sense" in label:
        details["n_arguments"] = len(arguments)
        label["arguments"] = [_span(each, offsets, sentence) for each in arguments]
    # The label is in the details too, so that a reader notices a new one.
    return {"start": start, "end": end, **label, "details": details}


def _extent(details: Plain, offsets: Offsets) -> tuple[int, int]:
    word = details.get("predicate", details.get("word"))
    phrase = details.get("phrase") or {"first": word, "last": word}
    return offsets[phrase["first"]][0], offsets[phrase["last"]][1]


def _kept(span: Plain, label: str, offsets: Offsets) -> Plain:
    """The fields of a span: what was written of it, as far as it is still the same."""
    details = span.get("details")
    if details is None:  # of a file that others have made
        return {name: value for name, value in span.items() if name not in _SPANS}
    try:
        is_there = _extent(details, offsets) == (span["start"], span["end"])
    except (IndexError, TypeError, KeyError):
        is_there = False
    if is_there and details.get(label) == span.get(label):
        return dict(details)
    places = ("predicate", "word", "phrase") if is_there else ()
    return {name: details[name] for name in places if name in details} | {label: span.get(label)}


def _argument(span: Plain, sentence: Sentence, offsets: Offsets, where: str) -> Plain:
    plain = _kept(span, "role", offsets)
    if "word" not in plain:
        phrase = plain.get("phrase")
        if isinstance(phrase, list) and len(phrase) == 2:
            phrase = {"first": phrase[0], "last": phrase[1]}
        if phrase is None:
            first, last = _covered(span, offsets, where)
            phrase = {"first": first, "last": last}
        named = phrase if isinstance(phrase, dict) else {}
        plain["phrase"] = {name: named[name] for name in ("first", "last") if name in named}
        ends = [at for at in plain["phrase"].values() if isinstance(at, int)]
        if len(ends) != 2 or not 0 <= ends[0] <= ends[1] < len(sentence):
            raise DataError(
                f"{where}: expected a phrase of first and last word among {len(sentence)} words, "
                f"got {phrase!r:.60}"
            )
        plain["word"] = find_head(sentence, *ends)
    return plain


def _covered(span: Plain, offsets: Offsets, where: str) -> tuple[int, int]:
    """The first and the last word that a span has a part of."""
    if not {"start", "end"} <= span.keys():
        raise DataError(f"{where}: expected words, or start and end, of {span!r:.60}")
    start, end = span["start"], span["end"]
    found = [n for n, (first, last) in enumerate(offsets) if first < end and last > start]
    # A span that leaves the sentence would be cut silently.
    if not found or start < offsets[0][0] or end > offsets[-1][1]:
        raise _outside(span, where)
    return found[0], found[-1]


def _outside(span: Plain, where: str) -> DataError:
    label = span.get("sense", span.get("role"))
    place = f"{label!r} at {span['start']} to {span['end']}"
    return DataError(f"{where}: expected a span inside one sentence, with a word, got {place}")


def _sentences(marked: Marked, source: str) -> list[tuple[Sentence, Offsets]]:
    if marked.bare is None:
        return [(each.standalone(), each.offsets or ()) for each in split_text(marked.text)]
    sentences = [sentence_from_dict(each, where=source) for each in marked.bare]
    text, places = lay_out(sentences)
    if text != marked.text:
        raise DataError(f"{source}: the text is not that of its sentences; was it edited?")
    return list(zip(sentences, places, strict=True))
