"""Sentence, Proposition, Argument: the words every layer speaks.

A reader makes them, the model fills them, the scorer compares them, a writer puts them away.
All three are immutable: labelling a sentence gives a new one (`Sentence.with_propositions`).
Positions are 0-based; character offsets are half-open and count into `Sentence.text`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # numpy is only needed by those who ask for traces
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Argument:
    """One word that fills one role of a proposition.

    role         A0, AM-TMP, C-A1, ... A word with two roles is two arguments.
    word         position of the head word in the sentence
    probability  how sure the model is, None when read from a corpus
    start, end   where the head word stands in the sentence's text, when the text is known
    """

    role: str
    word: int
    probability: float | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """How a proposition settled: what the model believed before and after each of N iterations.

    roles     the R roles, `_` (none) first
    beliefs   N+1 T R  the probability of each role for each word
    capsules  N R D    the role capsules; None for variants that do not iterate
    nodes     N D      the global node; None without one
    """

    roles: tuple[str, ...]
    beliefs: "NDArray[np.float32]"
    capsules: "NDArray[np.float32] | None" = None
    nodes: "NDArray[np.float32] | None" = None


@dataclass(frozen=True, slots=True)
class Proposition:
    """A predicate, its sense and its arguments: who did what to whom.

    predicate    position of the predicate in the sentence
    sense        the roleset (sign.01); None where only the position is known (blind files)
    arguments    in the order of their words
    probability  how sure the model is of the sense, None when read from a corpus
    start, end   where the predicate stands in the sentence's text, when the text is known
    trace        how it settled, when that was asked for; two propositions may be equal without
    """

    predicate: int
    sense: str | None = None
    arguments: tuple[Argument, ...] = ()
    probability: float | None = None
    start: int | None = None
    end: int | None = None
    trace: Trace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, what is known of each, and its propositions.

    words         the forms
    propositions  in the order of their predicates
    lemmas, tags  dictionary form and part of speech of each word, None when unknown
    heads         position of each word's syntactic head, None at a root; None when unparsed
    relations     the label of the arc from that head
    text          the raw text the words stand in, when there is one
    offsets       (start, end) of each word in `text`
    id            the name of the sentence in its corpus
    columns       what else the file held, column name -> one string per word, for the way back
    comments      lines that stood above the sentence, for the way back
    start         where `text` begins in the longer text it was cut out of, see `alone`
    """

    words: tuple[str, ...]
    propositions: tuple[Proposition, ...] = ()
    lemmas: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    heads: tuple[int | None, ...] | None = None
    relations: tuple[str, ...] | None = None
    text: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    id: str | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    comments: tuple[str, ...] = ()
    start: int | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def predicates(self) -> tuple[int, ...]:
        """Positions of the predicates."""
        return tuple(proposition.predicate for proposition in self.propositions)

    def with_propositions(self, propositions: Iterable[Proposition]) -> "Sentence":
        """The same sentence with other propositions, by predicate, with offsets where known."""
        ordered = sorted(propositions, key=lambda proposition: proposition.predicate)
        if self.offsets is not None:
            ordered = [_with_offsets(proposition, self.offsets) for proposition in ordered]
        return replace(self, propositions=tuple(ordered))

    def alone(self) -> "Sentence":
        """The same sentence with its own stretch of the text only, where its words stand.

        Offsets count from there, and `start` says where that is: `start + offset` counts into the
        whole text. Without it, to write the sentences of a long text is to write that text again
        with each of them. A sentence without text or words is given back as it is.
        """
        if self.text is None or not self.offsets:
            return self
        first = min(start for start, _ in self.offsets)
        last = max(end for _, end in self.offsets)
        offsets = tuple((start - first, end - first) for start, end in self.offsets)
        shorter = replace(
            self, text=self.text[first:last], offsets=offsets, start=(self.start or 0) + first
        )
        return shorter.with_propositions(self.propositions)

    # Short names for functions of layers above, which are only imported when asked for.

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers: what `to_json` writes."""
        from capsrl.data.jsonl import sentence_to_dict

        return sentence_to_dict(self)

    def to_json(self) -> str:
        """One line of JSON, without its line end; the schema is `capsrl.data.jsonl.json_schema`."""
        from capsrl.data.jsonl import format_jsonl

        return format_jsonl(self).removesuffix("\n")

    def to_conll09(self) -> str:
        """The rows of a CoNLL-2009 file, with the blank line that ends them."""
        from capsrl.data.conll09 import format_conll09

        return format_conll09(self)

    def to_displacy(self) -> list[dict[str, Any]]:
        """One dictionary per proposition, for `spacy.displacy.render(..., manual=True)`."""
        from capsrl.show.displacy import to_displacy

        return [to_displacy(self, proposition) for proposition in self.propositions]

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from capsrl.show.html_page import html_fragment

        return html_fragment(self)


def _with_offsets(proposition: Proposition, offsets: tuple[tuple[int, int], ...]) -> Proposition:
    start, end = offsets[proposition.predicate]
    arguments = tuple(
        replace(argument, start=offsets[argument.word][0], end=offsets[argument.word][1])
        for argument in proposition.arguments
    )
    return replace(proposition, arguments=arguments, start=start, end=end)
