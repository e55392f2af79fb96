"""The demo page: its files, the model card, and labeled text as HTML for it.

What the page says of the model comes from the model card (see `capsrl.predict.card`).
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from markdown_it import MarkdownIt

from capsrl import __version__
from capsrl.labeler import Labeler
from capsrl.predict.card import Card, read_examples
from capsrl.sentence import Proposition, Sentence
from capsrl.serve.labeling import LabelResponse
from capsrl.show.colors import role_class, role_meaning
from capsrl.show.drawing import svg, svg_lines
from capsrl.show.formatting import escaped
from capsrl.show.html_page import (
    heading_html,
    line_html,
    phrases_html,
    second_best_html,
    show_style,
    table_html,
)

STATIC = Path(__file__).parent / "static"
# The page loads nothing from other sites, has no inline code, and may not be shown in a frame;
# blob: is for drawings that the page turns into PNG.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
_SWAGGER = _POLICY.replace("style-src", "style-src 'unsafe-inline'").replace("blob:", "data:")
_OF_DOCS = {**_HEADERS, "Content-Security-Policy": _SWAGGER}
_FOREIGN = "This text does not look like {}, which the model was trained on: expect mistakes."
_FIRST_WIDTH = 560  # of the drawing that the page starts with, in pixels
_Answer = Callable[[Request], Awaitable[LabelResponse]]


def add_page(
    app: FastAPI, answer: _Answer, labeler: Labeler, card: Card, guarded: dict[str, Any]
) -> None:
    """Add the page at /, its files, the model card, and POST /page/label, which draws responses."""
    page = _Page(labeler, card)

    async def draw(request: Request, width: Annotated[int, Query(ge=100, le=4000)]) -> Response:
        answered = await answer(request)
        sentences = () if answered.many else answered.sentences  # one text at a time
        words = [word for sentence in sentences for word in sentence.words]
        note = _FOREIGN.format(card.language or "the language of this model")
        note *= labeler.inventory.is_foreign(words)
        html = await asyncio.to_thread(page.sentences_html, sentences, width)
        return JSONResponse({"html": html, "note": note})

    pages: dict[str, Callable[[], Response]] = {  # run in threads
        "/": lambda: page.fill("index.html"),
        "/page/model": lambda: page.fill("card.html"),
        "/docs": lambda: FileResponse(STATIC / "docs.html", headers=_OF_DOCS),
        "/page/show.css": lambda: Response(show_style(), media_type="text/css"),
        "/favicon.ico": lambda: FileResponse(STATIC / "icon.svg"),  # for pages that name no icon
        "/page/picture.svg": lambda: Response(svg(*page.first), media_type="image/svg+xml"),
    }
    for path, endpoint in pages.items():
        app.add_api_route(path, endpoint, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/page/label", draw, methods=["POST"], include_in_schema=False, **guarded)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.mount("/docs-files", StaticFiles(packages=[("fastapi_offline", "static")]))  # Swagger UI


class _Page:
    """What the page says of one model, and how it shows its answers."""

    def __init__(self, labeler: Labeler, card: Card) -> None:
        self.labeler, self.card = labeler, card
        self.examples = card.examples
        if not self.examples and card.language == "English":
            self.examples = read_examples((STATIC / "examples.txt").read_text(encoding="utf-8"))

    def fill(self, name: str) -> Response:
        """A page of static/ with the facts of the model in their places."""
        page = Template((STATIC / name).read_text(encoding="utf-8"))
        return HTMLResponse(page.safe_substitute(self._facts), headers=_HEADERS)

    @cached_property
    def _facts(self) -> dict[str, str]:
        card, folder = self.card, self.labeler.folder
        facts = [f"F1 {card.f1} on {card.f1_on}"] if card.f1 else []
        facts += [f"{card.size / 1e6:.0f} MB"] if card.size else []
        facts += [f"license {card.license}"] if card.license else []
        texts = {
            "title": card.title,
            "language": card.language,
            "facts": "".join(f" · {fact}" for fact in facts),
            "model": folder.resolve().name if folder else "MODEL_FOLDER",
            "first_text": self.examples[0][1] if self.examples else "",
            "version": __version__,
        }
        return {name: escaped(text) for name, text in texts.items()} | {
            "examples": "".join(
                f'<li><a href="#{escaped(urlencode({"text": text}))}">'
                f"{f'<small>{escaped(kind)}</small> ' if kind else ''}{escaped(text)}</a></li>"
                for kind, text in self.examples
            ),
            "first": self.sentences_html(self.first, _FIRST_WIDTH, is_open=True),
            "roles": self._roles_html(),
            "card": self._card_html(),
        }

    @cached_property
    def first(self) -> list[Sentence]:
        """The first example, which the page shows before anything is asked."""
        return self.labeler.label(self.examples[0][1], trace=True) if self.examples else []

    def _roles_html(self) -> str:
        """The roles of the model that have a meaning of their own, in alphabetical order."""
        html = ""
        for role in sorted(self.labeler.inventory.roles):
            meaning = self.card.roles.get(role) or role_meaning(role)
            if meaning and not role.startswith(("C-", "R-")):
                html += f'<div><dt class="{role_class(role)}">{escaped(role)}</dt>'
                html += f"<dd>{escaped(meaning)}</dd></div>"
        return html

    def _card_html(self) -> str:
        """The model card without its title; HTML in it is shown as text."""
        body = re.sub(r"\A\s*# .*\n", "", self.card.body or "This model has no card.")
        html: str = MarkdownIt("js-default", {"linkify": False}).render(body)
        html = html.replace(' style="text-align:', ' class="')  # the policy forbids inline styles
        html = re.sub(
            r"(?<![\">\w])https?://[^\s<>()]+[^\s<>().,;]", r'<a href="\g<0>">\g<0></a>', html
        )
        table = r'<div class="scroll" tabindex="0">\g<0></div>'
        return re.sub("(?s)<table>.*?</table>", table, html)

    def sentences_html(
        self, sentences: Iterable[Sentence], width: int, *, is_open: bool = False
    ) -> str:
        """List items of sentences; `is_open` opens the proposition with most arguments."""
        html = ""
        for s, given in enumerate(sentences):
            propositions = [self._explained(each) for each in given.propositions]
            sentence = replace(given, propositions=tuple(propositions))
            best = max(propositions, key=lambda each: len(each.arguments), default=None)
            html += f'<li data-s="{s}">'
            for each in propositions or (None,):
                hidden = " hidden" * (each is not best)
                shown = f' data-p="{each.predicate}"{hidden}' if each else ""
                line = line_html(sentence, each, f"s{s}")
                html += f'<h2 class="capsrl-line sentence" dir="auto"{shown}>{line}</h2>'
            for each in propositions:
                opened = is_open and each is best
                html += _proposition_html(sentence, each, s, width, is_open=opened)
            html += "</li>" if propositions else '<p class="hint">No predicates found.</p></li>'
            is_open = is_open and not propositions
        return html

    def _explained(self, proposition: Proposition) -> Proposition:
        """With the meanings that the card gives to roles."""
        parts = (
            replace(part, meaning=part.meaning or self.card.roles.get(part.role))
            for part in proposition.arguments
        )
        return replace(proposition, arguments=tuple(parts))


def _proposition_html(
    sentence: Sentence, proposition: Proposition, s: int, width: int, *, is_open: bool
) -> str:
    name = f"s{s}p{proposition.predicate}"
    n_steps = len(proposition.trace.beliefs) if proposition.trace else 1
    return (
        f'<div class="proposition{" open" * is_open}" id="{name}" data-p="{proposition.predicate}" '
        f'data-steps="{n_steps}" data-sense="{escaped(proposition.sense or "")}">'
        f'<div class="overview"><h3><button type="button" aria-expanded="{json.dumps(is_open)}" '
        f'aria-controls="{name}-detail">{heading_html(proposition)}</button></h3>'
        f"{phrases_html(sentence, proposition, tabindex=0 if is_open else -1)}</div>"
        f'<div class="detail" id="{name}-detail"{"" if is_open else " hidden"}>'
        '<div class="figure"><div class="capsrl-drawing">'
        f"{svg_lines(sentence, proposition, max_width=width, steps=True)}</div></div>"
        f'<div class="side">{table_html(sentence, proposition)}'
        f"{second_best_html(sentence, proposition)}</div></div></div>"
    )
