"""Raw text, and requests to the service."""

import json
from collections.abc import Iterator, Sequence
from functools import partial

from capsrl.sentence import Sentence
from capsrl.text import Layout
from capsrl.text.reading import to_sentences
from torture.target import TEXT, Target, Wrong, make_labeler

_HARD = "Dr. Müller u. a. — “quoted” 😀 e.g. http://x.y/z?a=b, 3.5%…"
_HTML = "<p>Mira <b>sold</b> her&nbsp;bicycle.</p><script>x<y</script><ul><li>A<li>B &amp; C</ul>"


def texts() -> Iterator[Target]:
    """Texts that are split and labeled, and bodies of requests."""
    seeds = [TEXT.encode(), _HARD.encode()]
    yield Target("split", seeds, partial(_split, Layout()))
    yield Target("split/lines", seeds, partial(_split, Layout(one_sentence_per_line=True)))
    html = partial(_split, Layout(html=True))
    yield Target("split/html", [*seeds, _HTML.encode()], html, cost=2)
    yield Target("label", seeds, _label, cost=300)
    bodies = [
        {"text": TEXT, "at": [5], "trace": True, "iterations": 2, "threshold": 0.5},
        {"texts": [TEXT, "No."], "pos": ["verb"], "html": True},
    ]
    yield Target("request", [json.dumps(body).encode() for body in bodies], _read_request)


def _read_request(data: bytes) -> object:
    from fastapi.exceptions import RequestValidationError

    from capsrl.serve.requests import explain, parse_body

    try:
        return parse_body(data)
    except RequestValidationError as error:
        if len(message := explain(error.errors()[0])) > 400:
            raise Wrong("a long message") from None
        return message


def _split(layout: Layout, data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    sentences = to_sentences(text, layout)
    _check_offsets([(text, each) for each in sentences], exact=not layout.html)
    return sentences


def _label(data: bytes) -> object:
    """Sentences that are labeled have their own part of the text."""
    text = data.decode("utf-8", "replace")[:2000]
    sentences = make_labeler().label(text)
    for each in sentences:
        _check_offsets([(str(each.text), each)])
        if str(each.text) not in text:
            raise Wrong("a text that is none of the input")
    if sum(len(each) for each in sentences) != sum(map(len, to_sentences(text))):
        raise Wrong("other words than were split")
    return sentences


def _check_offsets(pairs: Sequence[tuple[str, Sentence]], *, exact: bool = True) -> None:
    end = 0
    for text, sentence in pairs:
        for (start, stop), word in zip(sentence.offsets or (), sentence.words, strict=True):
            if not end <= start < stop <= len(text) or (exact and text[start:stop] != word):
                raise Wrong("offsets that are not those of the word")
            end = stop
