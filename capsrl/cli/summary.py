"""Count what `capsrl label` has labeled, and report what it has not."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from capsrl.cli.outputs import WITH_ERRORS
from capsrl.sentence import Sentence
from capsrl.tables.columns import Passed
from capsrl.tables.labeled import Labeled

_SHOWN = 10  # errors of documents that are shown where the output has no place for them
_IDS = 10_000  # ids that are remembered: memory must not grow with the input


class Summary:
    """Counts what was labeled, and reports documents that were not.

    format      of the output; errors are shown on stderr if it has no place for them
    passed      the other columns that the output has; None if it has no columns
    are_chosen  whether the user has named them, else they are those that were found in files
    streams     names of the inputs whose columns were not known, which was said before
    """

    def __init__(
        self,
        format: str,
        passed: Passed | None,
        *,
        are_chosen: bool = False,
        streams: Iterable[str] = (),
    ) -> None:
        self._format = format
        self._passed = passed
        self._missed: Counter[str] = Counter()
        self._unseen = set(passed.columns) if passed is not None and are_chosen else set()
        self._are_chosen = are_chosen
        self._streams = tuple(streams)
        self._has_phrases = False
        self._place: tuple[str, str] | None = None  # of the last document
        self._counts = Counter(document=0, sentence=0, proposition=0)
        self._ids: set[int] = set()  # hashes of the first ids
        self._repeated: str | None = None
        self.n_errors = 0

    def count(self, labeled: Iterable[Labeled]) -> Iterator[Labeled]:
        """Yield the same, and count it."""
        for each in labeled:
            self._count_document(each)
            if each.sentence is not None:
                self._counts["sentence"] += 1
                self._counts["proposition"] += len(each.sentence.propositions)
                self._has_phrases = self._has_phrases or _has_phrase(each.sentence)
            if each.error is not None:
                self._report(each)
            yield each

    def _count_document(self, labeled: Labeled) -> None:
        document = labeled.document
        place = (document.place, document.id) if document is not None else ("", "")
        if place == self._place:
            return
        self._place = place
        self._counts["document"] += 1
        if document is not None:
            self._check_id(document.id)
        if self._passed is None or document is None:
            return
        if self._are_chosen:
            self._unseen.difference_update(document.columns)
        elif not document.place.startswith(self._streams):
            self._missed.update(self._passed.missed(document.columns))

    def _check_id(self, id: str) -> None:
        """Notice that a document has the id of one of the first: the column is the wrong one."""
        if self._repeated is None and hash(id) in self._ids:
            self._repeated = id
        elif len(self._ids) < _IDS:
            self._ids.add(hash(id))

    def show(self, *, always: bool) -> None:
        """Print the counts on stderr, if they were asked for or there is something to say."""
        if always or not self._counts["sentence"]:
            shown = dict(self._counts)
            if shown["document"] <= 1:
                del shown["document"]
            parts = [f"{n:,} {_plural(name, n)}" for name, n in shown.items()]
            sys.stderr.write(f"{', '.join(parts)}\n")
        if always and self._has_phrases and self._format == "conll09":
            sys.stderr.write(
                "note: CoNLL-2009 has no phrases; --to conllup keeps them, --to spans writes them\n"
            )
        self._show_columns()
        if self._repeated is not None and self._format in WITH_ERRORS:
            sys.stderr.write(
                f"note: several documents have the id {self._repeated!r:.60}, so their rows cannot "
                "be told apart; name a column of unique ids with --id-column\n"
            )
        if self.n_errors:
            documents = _plural("document", self.n_errors)
            why = "; the column error says why" if self._format in WITH_ERRORS else ""
            sys.stderr.write(f"error: {self.n_errors:,} {documents} not labeled{why}\n")

    def _show_columns(self) -> None:
        for name in sorted(self._unseen):
            sys.stderr.write(f"note: --columns: no document has {name!r}; the column is empty\n")
        for name, n in sorted(self._missed.items()):
            sys.stderr.write(
                f"note: left out {name!r} of {n:,} {_plural('document', n)}, since the first lines "
                "of the file do not have it; to keep it name all columns: --columns NAMES\n"
            )

    def _report(self, labeled: Labeled) -> None:
        self.n_errors += 1
        assert labeled.document is not None
        if self._format not in WITH_ERRORS and self.n_errors <= _SHOWN:
            place, error = labeled.document.place, str(labeled.error)
            where = "" if error.startswith(place) else f"{place}: "
            sys.stderr.write(f"error: {where}{error}\n")


def _plural(name: str, n: int) -> str:
    return name if n == 1 else f"{name}s"


def _has_phrase(sentence: Sentence) -> bool:
    return any(each.phrase for found in sentence.propositions for each in found.arguments)
