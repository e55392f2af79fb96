"""Write and read UIMA CAS, as XMI or JSON: a document of INCEpTION and other tools of DKPro.

The types are those of DKPro Core. A predicate is a SemPred with the sense as category, a phrase is
a SemArg, and the SemArgLink between them has the role; predicates share the SemArg of a phrase.
What the types have no features for (ids, probabilities, head words) is in a MetaDataStringField of
each sentence, which the tools keep. A file is XMI if its suffix is .xmi, else JSON. The text has
one sentence per line.
"""

import json
import warnings
from bisect import bisect
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError, DataError, install_hint
from capsrl.files.opening import open_writer, suffix_of
from capsrl.formats.blocks import Watch
from capsrl.formats.fields import Plain
from capsrl.formats.standoff import Marked, lay_out, mark, place
from capsrl.sentence import Offsets, Sentence

_CORE = "de.tudarmstadt.ukp.dkpro.core.api."
_SENTENCE, _TOKEN = f"{_CORE}segmentation.type.Sentence", f"{_CORE}segmentation.type.Token"
_PREDICATE, _ARGUMENT = f"{_CORE}semantics.type.SemPred", f"{_CORE}semantics.type.SemArg"
_FIELD, _KEY = f"{_CORE}metadata.type.MetaDataStringField", "capsrl"
_Cas = Any  # of dkpro-cassis
_Annotation = Any


def write_cas(sentences: Iterable[Sentence], path: str | Path) -> None:
    """Write a CAS with all sentences; raises ConfigError if dkpro-cassis is not installed."""
    cassis = _cassis(path)
    types = cassis.load_dkpro_core_typesystem()
    cas, before, texts = cassis.Cas(types), 0, []
    link, array = types.get_type(f"{_ARGUMENT}Link"), types.get_type("uima.cas.FSArray")

    def add(type: str, start: int, end: int, **features: object) -> _Annotation:
        cas.add(made := types.get_type(type)(begin=before + start, end=before + end, **features))
        return made

    for sentence in sentences:
        text, bare, spans, _ = mark([sentence])
        add(_FIELD, 0, len(text), key=_KEY, value=json.dumps([bare, spans]))
        [offsets] = lay_out([sentence])[1]
        if offsets:
            add(_SENTENCE, offsets[0][0], offsets[-1][1])
        for ends in offsets:
            add(_TOKEN, *ends)
        found = {(each["start"], each["end"]) for span in spans for each in span["arguments"]}
        phrases = {ends: add(_ARGUMENT, *ends) for ends in sorted(found)}
        for span in spans:
            links = [
                link(role=each["role"], target=phrases[each["start"], each["end"]])
                for each in span["arguments"]
            ]
            linked = array(elements=links) if links else None  # cassis cannot read an empty one
            ends = span["start"], span["end"]
            add(_PREDICATE, *ends, category=span["sense"], arguments=linked)
        texts.append(text)
        before += len(text) + 1
    cas.sofa_string, cas.sofa_mime = "\n".join(texts), "text/plain"
    try:
        content = cas.to_xmi() if suffix_of(path) == ".xmi" else cas.to_json()
    except ValueError:
        said = "a sense or role has a character that XML does not allow"
        raise DataError(f"{path}: {said}; write JSON: --to cas -o NAME.json") from None
    with open_writer(path) as file:
        file.write(content)


def read_cas(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CAS; those of other programs are made of its tokens.

    XMI may have types that DKPro Core does not know. A text without tokens is split by our rules.
    """
    cassis, content = _cassis(source), "\n".join(lines)
    try:
        with warnings.catch_warnings(action="ignore"):  # about each type that is not known
            if content.lstrip().startswith("<"):
                types = cassis.load_dkpro_core_typesystem()
                cas = cassis.load_cas_from_xmi(content, typesystem=types, lenient=True)
            else:
                cas = cassis.load_cas_from_json(content)
        fields = [each for each in _select(cas, _FIELD) if each.key == _KEY]
        written = [(each.begin, *json.loads(each.value)) for each in fields]
        text, bare = cas.sofa_string or "", [one for _, [one], _ in written] or None
        spans = [_proposition(each, written) for each in _select(cas, _PREDICATE)]
        marked = Marked(text, bare, spans, [] if bare else list(_sentences(cas, text)))
    except Exception as error:  # cassis raises what it meets: KeyError, XMLSyntaxError, ...
        said = f"{type(error).__name__}: {error}"
        raise DataError(f"{source}: expected a CAS as XMI or JSON: {said:.200}") from None
    yield from place(marked, source=source)


def _cassis(where: str | Path) -> Any:  # noqa: ANN401
    try:
        import cassis
    except ImportError:
        raise ConfigError(f"{where}: CAS needs dkpro-cassis: {install_hint('cas')}") from None
    return cassis


def _select(cas: _Cas, type: str) -> list[_Annotation]:
    return cas.select(type) if cas.typesystem.contains_type(type, True) else []


def _proposition(predicate: _Annotation, written: list[Any]) -> Plain:
    at = bisect(written, predicate.begin, key=itemgetter(0)) - 1
    before, _, known = written[at] if written else (0, [], [])
    span = _take(predicate, {"sense": predicate.category}, known, before)
    links = (predicate.arguments and predicate.arguments.elements) or ()
    linked = [link for link in links if link and link.target]
    known = span.get("arguments", [])
    found = [_take(link.target, {"role": link.role}, known, before) for link in linked]
    return span | {"arguments": found}


def _take(annotation: _Annotation, label: Plain, known: list[Plain], before: int) -> Plain:
    """An annotation as a span, with what was written of it: if of several, with its label."""
    ends = annotation.begin - before, annotation.end - before
    there = [each for each in known if (each["start"], each["end"]) == ends]
    same = [each for each in there if label.items() <= each.items()]
    ours = (same or there or [{}])[0]
    if ours:
        known.remove(ours)
    place = {"start": annotation.begin, "end": annotation.end}
    return {"details": {}, **ours, **place, **label}


def _sentences(cas: _Cas, text: str) -> Iterator[tuple[Sentence, Offsets]]:
    for each in _select(cas, _SENTENCE):
        offsets = tuple((at.begin, at.end) for at in cas.select_covered(_TOKEN, each))
        words = tuple(text[start:end] for start, end in offsets)
        yield Sentence(words, text=text, offsets=offsets).standalone(), offsets
