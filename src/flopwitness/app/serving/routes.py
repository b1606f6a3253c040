"""What is answered at which path. Everything but the shell of the page stands behind ``Guard``."""

from collections.abc import Mapping
from importlib.resources import files
from math import isfinite
from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.routing import Route

from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.serving.access import MAX_TOKEN_CHARACTERS, Access
from flopwitness.app.serving.book import LiveBook
from flopwitness.app.serving.events import Events
from flopwitness.app.serving.exposition import exposition
from flopwitness.app.serving.exposition_text import CONTENT_TYPE
from flopwitness.app.serving.guard import cookie_name
from flopwitness.app.serving.history import PLOTTED
from flopwitness.app.serving.payload import curves_object, seconds, snapshot_object
from flopwitness.app.serving.places import Place
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

MAX_STEPS = 4_000
MAX_VALUES = 1_000_000
"""Of one answer: steps x GPUs x channels."""

COOKIE_SECONDS = 7 * 86_400
DAY_SECONDS = 86_400.0

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

Moment = Annotated[float | None, Query(ge=0, le=1e11, allow_inf_nan=False)]


def application(book: LiveBook, access: Access, place: Place, events: Events) -> FastAPI:
    """Return the application, not yet guarded."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.router.routes.append(Route("/api/events", events))
    _add_page(app)
    _add_login(app, access, place)
    _add_answers(app, book)
    return app


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by name, each with its media type; nothing else can be asked for."""
    folder = files("flopwitness.app.serving") / "page"
    found = ((one.name, f".{one.name.rpartition('.')[2]}", one) for one in folder.iterdir() if one.is_file())
    return {name: (one.read_bytes(), KINDS[kind]) for name, kind, one in found if kind in KINDS}


def thresholds() -> list[dict[str, Any]]:
    """Return the shipped thresholds for the scale, the lowest first."""
    known = sorted(open_rulebook().thresholds.values(), key=lambda rule: (rule.flop, rule.name))
    return [
        {
            "name": rule.name,
            "title": rule.title,
            "jurisdiction": rule.jurisdiction,
            "flop": rule.flop,
            "status": rule.status,
            "measured": rule.measured,
        }
        for rule in known
    ]


def _add_page(app: FastAPI) -> None:
    found = page_files()

    @app.get("/")
    def page() -> Response:
        content, kind = found["index.html"]
        return Response(content, media_type=kind)

    @app.get("/assets/{name}")
    def asset(name: str) -> Response:
        if name not in found:
            raise HTTPException(404)
        content, kind = found[name]
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    @app.get("/healthz")
    def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")


def _add_login(app: FastAPI, access: Access, place: Place) -> None:
    @app.post("/api/login")
    def login(
        request: Request, token: Annotated[str, Body(embed=True, max_length=MAX_TOKEN_CHARACTERS)]
    ) -> Response:
        if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            raise HTTPException(403)
        if not access.opens(token):
            raise HTTPException(401)
        answer = Response(status_code=204)
        answer.set_cookie(
            cookie_name(place),
            access.cookie,
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


def _add_answers(app: FastAPI, book: LiveBook) -> None:
    rules = thresholds()

    @app.get("/api/snapshot")
    def snapshot() -> Response:
        return JSONResponse(snapshot_object(book) | {"thresholds": rules, "channels": PLOTTED})

    @app.get("/api/history")
    def history(
        uuid: Annotated[str, Query(max_length=4_000)] = "",
        channel: Annotated[str, Query(max_length=400)] = "",
        start: Moment = None,
        stop: Moment = None,
        points: Annotated[int, Query(gt=0, le=MAX_STEPS)] = 600,
    ) -> Response:
        until = seconds(book.snapshot.at_ns) if stop is None else stop
        since = until - DAY_SECONDS if start is None else start
        return JSONResponse(_history(book, (uuid, channel), (since, until), points))

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(exposition(book.snapshot), media_type=CONTENT_TYPE)


def _history(
    book: LiveBook, which: tuple[str, str], stretch: tuple[float, float], n_steps: int
) -> Mapping[str, Any]:
    """Return curves of GPUs and channels, comma-separated; of all where empty.

    Raises
    ------
    HTTPException
        400 where there is no such channel, no stretch, or the answer would be too large.
    """
    uuids = which[0].split(",") if which[0] else [one.uuid for one in book.snapshot.devices]
    channels = tuple(which[1].split(",")) if which[1] else PLOTTED
    if unknown := sorted(set(channels) - set(PLOTTED)):
        raise HTTPException(400, f"no channel {', '.join(unknown)}; there are {', '.join(PLOTTED)}")
    start, stop = stretch
    if not (isfinite(start) and start < stop):
        raise HTTPException(400, "start must come before stop")
    if len(uuids) * len(channels) * n_steps > MAX_VALUES:
        raise HTTPException(400, f"more than {MAX_VALUES} values: ask for fewer GPUs, channels or points")
    ends_ns = (round(start * NANOSECONDS_PER_SECOND), round(stop * NANOSECONDS_PER_SECOND))
    return {"curves": curves_object(book.history(uuids, *ends_ns, n_steps), channels)}
