"""The demo page: its files, the model card, and labeled text drawn for it."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from markdown_it import MarkdownIt

from capsrl import __version__
from capsrl.sentence import Proposition, Sentence
from capsrl.serve.labeling import LabelResponse
from capsrl.show.drawing import svg_lines
from capsrl.show.html_page import heading_html, phrases_html, show_style, table_html
from capsrl.text.spacing import text_of

STATIC = Path(__file__).parent / "static"
# The page loads nothing from other sites, has no inline code, and may not be shown in a frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
_Answer = Callable[[Request], Awaitable[LabelResponse]]


def add_page(app: FastAPI, answer: _Answer, folder: Path | None, guarded: dict[str, Any]) -> None:
    """Add the page at /, its files, the model card, and POST /page/label, which draws responses."""

    async def draw(request: Request, width: Annotated[int, Query(ge=100, le=4000)]) -> Response:
        answered = await answer(request)
        sentences = () if answered.many else answered.sentences  # one text at a time
        return await asyncio.to_thread(lambda: JSONResponse(_draw(sentences, width)))

    pages: dict[str, Callable[[], Response]] = {
        "/": lambda: _fill("index.html"),
        "/page/model": lambda: _fill("card.html", card=_card_html(folder)),
        "/page/show.css": lambda: Response(show_style(), media_type="text/css"),
        "/favicon.ico": lambda: FileResponse(STATIC / "icon.svg"),  # for pages that name no icon
    }
    for path, endpoint in pages.items():
        app.add_api_route(path, endpoint, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/page/label", draw, methods=["POST"], include_in_schema=False, **guarded)
    app.mount("/static", StaticFiles(directory=STATIC))


def _fill(name: str, card: str = "") -> Response:
    """A page of static/ with the version, and the card of the model if it has a place for it."""
    page = (STATIC / name).read_text(encoding="utf-8").replace("$version", __version__)
    return HTMLResponse(page.replace("$card", card), headers=_HEADERS)


def _card_html(folder: Path | None) -> str:
    """The model card in a folder, without its front matter; HTML in it is shown as text."""
    file = (folder or STATIC) / "README.md"
    card = file.read_text("utf-8", "replace") if file.is_file() else "This model has no card."
    html: str = MarkdownIt("js-default").render(re.sub(r"(?s)\A---\n.*?\n---\n", "", card))
    html = html.replace(' style="text-align:', ' class="')  # the policy forbids inline styles
    return re.sub("(?s)<table>.*?</table>", r'<div class="scroll" tabindex="0">\g<0></div>', html)


def _draw(sentences: Sequence[Sentence], width: int) -> dict[str, Any]:
    drawn: list[dict[str, Any]] = []
    for sentence in sentences:
        propositions = [_drawn_parts(sentence, each, width) for each in sentence.propositions]
        drawn.append({"text": text_of(sentence), "propositions": propositions})
    return {"sentences": drawn}


def _drawn_parts(sentence: Sentence, proposition: Proposition, width: int) -> dict[str, Any]:
    return {
        "predicate": proposition.predicate,
        "sense": proposition.sense,
        "n_arguments": len(proposition.arguments),
        "n_steps": len(proposition.trace.beliefs) if proposition.trace else 1,
        "heading": heading_html(proposition),
        "phrases": phrases_html(sentence, proposition),
        "drawing": svg_lines(sentence, proposition, max_width=width, steps=True),
        "table": table_html(sentence, proposition),
    }
