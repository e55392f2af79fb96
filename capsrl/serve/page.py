"""The demo page: its files, the model card, and labeled text drawn for it."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse
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
# The page loads nothing from other sites, has no inline code, and may not be shown in a frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def add_page(app: FastAPI, labeler: "Labeler") -> None:
    """Add the page at /, its files, and POST /page/label, which draws the response of /label."""

    async def page() -> Response:
        headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
        return FileResponse(STATIC / "index.html", headers=headers)

    async def style() -> Response:
        return Response(show_style(), media_type="text/css")

    async def model_card() -> Response:
        file = (labeler.folder or STATIC) / "README.md"
        if not file.is_file():
            raise HTTPException(404, "this model has no card")
        return FileResponse(file, media_type="text/plain")

    async def label(request: Request, width: Annotated[int, Query(ge=100, le=4000)]) -> Response:
        response = await _ask(app, request)
        if response.status_code != 200:
            return response
        return await asyncio.to_thread(lambda: JSONResponse(_draw(bytes(response.body), width)))

    for path, endpoint in (("/", page), ("/page/show.css", style), ("/page/model", model_card)):
        app.add_api_route(path, endpoint, include_in_schema=False)
    app.add_api_route("/page/label", label, methods=["POST"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))


async def _ask(app: FastAPI, request: Request) -> Response:
    """What /label responds to the request, with its own checks and limits."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    path = request.scope["path"].removesuffix("/page/label") + "/label"
    scope = {**request.scope, "path": path, "raw_path": path.encode(), "query_string": b""}
    await app.router(scope, request.receive, send)
    response = Response(b"".join(each.get("body", b"") for each in messages), messages[0]["status"])
    response.raw_headers = messages[0]["headers"]
    return response


def _draw(body: bytes, width: int) -> dict[str, Any]:
    drawn: list[dict[str, Any]] = []
    for sentence in map(sentence_from_dict, json.loads(body).get("sentences", ())):
        propositions = [_parts(sentence, each, width) for each in sentence.propositions]
        drawn.append({"text": text_of(sentence), "propositions": propositions})
    return {"sentences": drawn}


def _parts(sentence: Sentence, proposition: Proposition, width: int) -> dict[str, Any]:
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
