"""Routes behind the guard: token, host, headers, confined files, JSON without NaN."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.serving_book import ACCESS, BEARER, PLACE, replayed_batches, watched
from flopwitness.app.report.palette import DARK, LIGHT, css_variables
from flopwitness.app.serving.events import Events
from flopwitness.app.serving.guard import MAX_BODY_BYTES, POLICY, Guard, cookie_name
from flopwitness.app.serving.history import PLOTTED
from flopwitness.app.serving.routes import application, page_files

BOOK, _ = watched(replayed_batches("h200x2-b")[:60])
SECRET_PATHS = [
    "/api/snapshot",
    "/api/history",
    "/api/events",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/no/such",
]


class Client:
    """Asks the guarded application, without a network; keeps cookies."""

    def __init__(self) -> None:
        self._app = Guard(application(BOOK, ACCESS, PLACE, Events(BOOK)), ACCESS, PLACE)
        self._cookies = httpx.Cookies()

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Return what is answered to GET."""
        return asyncio.run(self._asked("GET", path, **options))

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Return what is answered to POST."""
        return asyncio.run(self._asked("POST", path, **options))

    async def _asked(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        base = "http://127.0.0.1:80"
        async with httpx.AsyncClient(transport=transport, base_url=base, cookies=self._cookies) as client:
            answer = await client.request(method, path, **options)
            self._cookies.update(client.cookies)
            return answer


async def endless() -> AsyncIterator[bytes]:
    """Yield a body of unknown length."""
    yield b"x"


@pytest.mark.parametrize("path", SECRET_PATHS)
@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer wrong-token-of-same-size"}, {"cookie": "flopwitness-80=wrong"}]
)
def test_without_the_token_nothing_is_told(path: str, headers: dict[str, str]):
    """Not even which paths there are."""
    answer = Client().get(path, headers=headers)

    assert answer.status_code == 401
    assert answer.text == "a token is needed\n"


def test_the_bearer_opens():
    """As Prometheus and scripts send it."""
    assert Client().get("/api/snapshot", headers=BEARER).json()["devices"][0]["chip"] == "H200-SXM"


def test_login_gives_a_cookie_that_opens_and_that_scripts_cannot_read():
    """HttpOnly, SameSite=Strict, and not the token itself."""
    client = Client()

    answer = client.post("/api/login", json={"token": ACCESS.token})

    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 204
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert cookie.startswith(cookie_name(PLACE))
    assert ACCESS.token not in cookie
    assert client.get("/api/snapshot").status_code == 200


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "cross-site"}])
def test_login_with_another_token_or_from_another_site_gives_none(headers: dict[str, str]):
    """401 or 403, and no cookie."""
    token = ACCESS.token if headers else "another-token-altogether-1"

    answer = Client().post("/api/login", json={"token": token}, headers=headers)

    assert answer.status_code in {401, 403}
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/healthz", "/assets/page.js", "/api/snapshot", "/nothing"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
def test_a_foreign_host_gets_nothing(path: str, host: str):
    """DNS rebinding: also with the token."""
    answer = Client().get(path, headers={"host": host} | BEARER)

    assert answer.status_code == 421


@pytest.mark.parametrize("path", ["/", "/healthz", "/assets/page.js", "/api/snapshot", "/nothing"])
def test_every_answer_carries_the_strict_headers(path: str):
    """Errors too."""
    headers = Client().get(path).headers

    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] in {"no-store", "no-cache"}


def test_the_policy_allows_nothing_inline_or_foreign():
    """No unsafe word, no host; frames and forms are off."""
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"} <= set(POLICY.split("; "))


def test_the_page_keeps_the_policy():
    """No inline script, style or handler, no outside address in any file of the page."""
    for name, (content, _) in page_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, name
        assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=\"|innerHTML|eval\(", text), name


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../routes.py",
        "/assets/%2e%2e/routes.py",
        "/assets/..%2froutes.py",
        "/assets/",
        "/assets/page",
        "/assets//etc/passwd",
        "/assets/__init__.py",
        "/assets/page.js%00",
    ],
)
def test_only_the_files_of_the_page_are_given(path: str):
    """A name is looked up in a table, never in the file system."""
    assert Client().get(path, headers=BEARER).status_code in {401, 404}


def test_a_sign_of_life_says_only_that():
    """Without a token."""
    answer = Client().get("/healthz")

    assert (answer.status_code, answer.text) == (200, "ok\n")


def test_a_large_or_endless_body_is_refused_before_it_is_read():
    """Nobody fills the memory without a token."""
    client = Client()

    bodies = b"x" * (MAX_BODY_BYTES + 1), endless()
    found = [client.post("/api/login", content=body).status_code for body in bodies]

    assert found == [413, 413]


def test_history_gives_even_steps_with_null_for_gaps():
    """Of the GPUs and channels that were asked for."""
    uuid = BOOK.snapshot.devices[0].uuid
    at = BOOK.snapshot.at_ns / 1e9
    query = {"uuid": uuid, "channel": "power_watts", "start": at - 10, "stop": at, "points": 20}

    curves = Client().get("/api/history", params=query, headers=BEARER).json()["curves"]

    assert list(curves) == [uuid]
    assert curves[uuid]["step"] == 0.5
    assert list(curves[uuid]["channels"]) == ["power_watts"]
    assert 20 <= len(curves[uuid]["channels"]["power_watts"]["mean"]) <= 21


def test_history_of_everything_needs_no_word():
    """All GPUs, all channels, the last day."""
    curves = Client().get("/api/history", headers=BEARER).json()["curves"]

    assert [list(one["channels"]) for one in curves.values()] == [list(PLOTTED)] * 2


def test_history_of_a_gpu_that_was_never_seen_is_empty():
    """No zeros are made up."""
    assert Client().get("/api/history?uuid=GPU-x", headers=BEARER).json() == {"curves": {}}


@pytest.mark.parametrize(
    "query",
    [
        "channel=power",
        "start=5&stop=5",
        "start=9&stop=5",
        "start=nan",
        "start=-1",
        "start=x",
        "stop=inf",
        "points=0",
        "points=100000",
        "points=4000&uuid=" + ",".join(f"GPU-{n}" for n in range(60)),
        "uuid=" + "x" * 5000,
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(query: str):
    """400 or 422; an answer has a limit of size."""
    assert Client().get(f"/api/history?{query}", headers=BEARER).status_code in {400, 422}


def test_json_has_no_nan_and_unknown_is_null():
    """Python's own NaN is no JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    for path in ("/api/snapshot", "/api/history"):
        json.loads(Client().get(path, headers=BEARER).text, parse_constant=refuse)


def test_the_page_has_the_colours_of_the_reports():
    """Both themes, as they were found for colour-blind eyes."""
    css = " ".join(page_files()["page.css"][0].decode().split())

    assert css_variables(LIGHT) in css
    assert css_variables(DARK) in css


def test_the_thresholds_come_with_the_snapshot():
    """Those that are shipped, the lowest first."""
    rules = Client().get("/api/snapshot", headers=BEARER).json()["thresholds"]

    flop = {rule["name"]: rule["flop"] for rule in rules}
    assert flop["eu-systemic-risk"] == 1e25
    assert flop["california-sb53"] == 1e26
    assert [rule["flop"] for rule in rules] == sorted(flop.values())


def test_metrics_are_given_to_who_bears_the_token():
    """In Prometheus' text format."""
    answer = Client().get("/metrics", headers=BEARER)

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "flopwitness_" in answer.text
