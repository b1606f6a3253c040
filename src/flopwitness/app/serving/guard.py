"""What stands before every answer: the Host header, the token, and headers that keep browsers strict."""

from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flopwitness.app.serving.access import Access
from flopwitness.app.serving.places import Place

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""Content security policy: nothing inline, nothing from elsewhere, no text that becomes markup."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

OPEN_PATHS = frozenset({"/", "/healthz", "/api/login"})
"""Answered without a token: the page without any data, a sign of life, and the way in."""

OPEN_PREFIX = "/assets/"

MAX_BODY_BYTES = 4_096
"""Only a token is ever sent to us."""


class Guard:
    """Wraps an application; lets in who says the right host and bears the token.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    access : Access
        The token.
    place : Place
        Where it is served.
    """

    def __init__(self, app: ASGIApp, access: Access, place: Place) -> None:
        self._app, self._access, self._place = app, access, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = self._app
        if len(headers.getlist("host")) != 1 or not self._place.is_called(headers["host"]):
            answer = PlainTextResponse("this host is not served here\n", 421)
        elif not _is_small(headers):
            answer = PlainTextResponse("that is too much\n", 413, {"connection": "close"})
        elif not is_open(scope["path"]) and not self._admits(headers):
            answer = PlainTextResponse("a token is needed\n", 401, {"www-authenticate": "Bearer"})
        await answer(scope, receive, _strict(send))

    def _admits(self, headers: Headers) -> bool:
        cookie = _cookie(headers.getlist("cookie"), cookie_name(self._place))
        return self._access.admits(headers.get("authorization", ""), cookie)


def is_open(path: str) -> bool:
    """Say whether a path is answered without a token.

    Examples
    --------
    >>> is_open("/assets/page.js"), is_open("/api/snapshot")
    (True, False)
    """
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIX)


def cookie_name(place: Place) -> str:
    """Return the name of our cookie: cookies know no ports, so servers on one host are told apart by it."""
    return f"flopwitness-{place.port}"


def _is_small(headers: Headers) -> bool:
    """Say whether a request's body is short, as its headers promise; one of unknown length is not."""
    length = headers.get("content-length", "0")
    return "transfer-encoding" not in headers and length.isdigit() and int(length) <= MAX_BODY_BYTES


def _cookie(headers: Iterable[str], name: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        for header in headers:
            jar.load(header)
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""


def _strict(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sent
