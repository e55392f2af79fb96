"""The demo page: its files, the model card, and labeled text drawn for it."""

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import Message

from capsrl.data.json_check import sentence_from_dict
from capsrl.sentence import Proposition, Sentence
from capsrl.show.drawing import svg_lines
from capsrl.show.html_page import show_style
from capsrl.show.proposition_html import heading_html, phrases_html, table_html
from capsrl.text.spacing import text_of

if TYPE_CHECKING:  # `capsrl serve --help` needs no torch
    from capsrl.labeler import Labeler

STATIC = Path(__file__).parent / "static"
# The page loads nothing from other sites and has no inline code, and no site may show it in a frame.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}
_WIDTH = Query(ge=100, le=4000)


def add_page(app: FastAPI, labeler: "Labeler") -> None:
    """Add the page at /, its files, and POST /page/label, which draws the response of /label."""

    async def label(request: Request, width: Annotated[int, _WIDTH]) -> Response:
        response = await _ask(app, request)
        if response.status_code != 200:
            return response
        drawn = await asyncio.to_thread(_draw, bytes(response.body), width)
        return JSONResponse(drawn)

    async def card() -> Response:
        file = labeler.folder / "README.md" if labeler.folder else None
        found = file is not None and file.is_file()
        text = file.read_text(encoding="utf-8") if file and found else "This model has no card."
        return PlainTextResponse(text, 200 if found else 404)

    app.add_api_route("/", _page, include_in_schema=False)
    app.add_api_route("/page/show.css", _style, include_in_schema=False)
    app.add_api_route("/page/model", card, include_in_schema=False)
    app.add_api_route("/page/label", label, methods=["POST"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))


async def _page() -> Response:
    return FileResponse(STATIC / "index.html", headers=_HEADERS)


async def _style() -> Response:
    return Response(show_style(), media_type="text/css")


async def _ask(app: FastAPI, request: Request) -> Response:
    """What /label responds to the request, with its own checks and limits."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    path = request.scope["path"].removesuffix("/page/label") + "/label"
    scope = request.scope | {"path": path, "raw_path": path.encode(), "query_string": b""}
    await app.router(scope, request.receive, send)
    response = Response(b"".join(each.get("body", b"") for each in messages), messages[0]["status"])
    response.raw_headers = messages[0]["headers"]
    return response


def _draw(body: bytes, width: int) -> dict[str, Any]:
    sentences = [sentence_from_dict(each) for each in json.loads(body)["sentences"]]
    return {"sentences": [_sentence(each, width) for each in sentences]}


def _sentence(sentence: Sentence, width: int) -> dict[str, Any]:
    propositions = [_proposition(sentence, each, width) for each in sentence.propositions]
    return {"text": text_of(sentence), "propositions": propositions}


def _proposition(sentence: Sentence, proposition: Proposition, width: int) -> dict[str, Any]:
    drawing = svg_lines(sentence, proposition, max_width=width, steps=True)
    return {
        "predicate": proposition.predicate,
        "name": re.sub(r"[^\w.-]", "_", proposition.sense or "proposition"),
        "n_arguments": len(proposition.arguments),
        "n_steps": len(proposition.trace.beliefs) if proposition.trace else 1,
        "heading": heading_html(proposition),
        "phrases": phrases_html(sentence, proposition),
        "detail": f'<div class="figure"><div class="capsrl-drawing">{drawing}</div></div>'
        f'<div class="side">{table_html(sentence, proposition)}</div>',
    }
