"""The chat page and the reading page of a source. Everything comes from here; nothing is loaded from elsewhere."""

from html import escape
from pathlib import Path
from typing import Literal

import nh3
from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from markdown_it import MarkdownIt

from services.chat_api.adapters.knowledge_client import (
    KnowledgeUnavailableError,
    SourceDocument,
    SourceNotFoundError,
)
from services.chat_api.domain.grounding.language import Language
from services.chat_api.domain.texts import TextKey, text_for
from services.chat_api.http.authentication import AnyFront, KnownCaller, public
from services.chat_api.http.languages import language_of

WEB_FOLDER = Path(__file__).parent / "web"
router = APIRouter(include_in_schema=False)
static_files = StaticFiles(directory=WEB_FOLDER)
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
_TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td", "br"),
}


@router.api_route("/", methods=["GET", "HEAD"], dependencies=[Depends(public)])
async def chat_page() -> Response:
    return FileResponse(WEB_FOLDER / "index.html", headers={"cache-control": "no-cache"})


@router.api_route("/operations", methods=["GET", "HEAD"], dependencies=[Depends(public)])
async def operations_page() -> Response:
    """How the parts beside the answers are doing. What it shows comes from the API, which asks who may see it."""
    return FileResponse(WEB_FOLDER / "operations.html", headers={"cache-control": "no-cache"})


@router.api_route("/usage", methods=["GET", "HEAD"], dependencies=[Depends(public)])
async def usage_page() -> Response:
    """What was used and what it cost: one's own, or everybody's for finance. The API asks who may see what."""
    return FileResponse(WEB_FOLDER / "usage.html", headers={"cache-control": "no-cache"})


@router.get("/sources/{record_id:path}")
async def source_page(record_id: str, request: Request, caller: KnownCaller, front: AnyFront) -> Response:
    """A source as it stands in the store, if whoever asks may read it now."""
    language = language_of(request)
    if caller is None and not front.ways_in.anonymous:
        return RedirectResponse("/", status_code=303)
    try:
        document = await front.knowledge.read_record(record_id, caller.identity if caller else None)
    except SourceNotFoundError:
        return _message_page("source_not_found", language, status=404)
    except KnowledgeUnavailableError:
        return _message_page("source_unreachable", language, status=503)
    return _page(document.title, document.source_system, render_document(document), language)


def render_document(document: SourceDocument) -> str:
    """The document as HTML without links, images, scripts or styles: what it says, and nothing that acts."""
    if document.media_type != "text/markdown":
        return f"<pre>{escape(document.text)}</pre>"
    return nh3.clean(_markdown.render(document.text), tags=_TAGS, attributes={})


def _message_page(
    key: Literal["source_not_found", "source_unreachable"], language: Language, *, status: int
) -> HTMLResponse:
    title: TextKey = "source_not_found_title" if key == "source_not_found" else "source_unreachable_title"
    return _page(text_for(title, language), "", f"<p>{escape(text_for(key, language))}</p>", language, status=status)


def _page(title: str, source_system: str, body: str, language: Language, *, status: int = 200) -> HTMLResponse:
    html = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        '<link rel="icon" href="/static/favicon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/style.css"><link rel="stylesheet" href="/static/source.css"></head>'
        f'<body class="source-page"><main><p class="source-system">{escape(source_system)}</p>'
        f"<article>{body}</article></main></body></html>"
    )
    return HTMLResponse(html, status_code=status, headers={"cache-control": "no-store", "vary": "accept-language"})
