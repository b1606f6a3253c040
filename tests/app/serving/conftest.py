"""Fixtures of the live page: a browser for all its tests, where there is one."""

from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest

from app.page_stage import ARGUMENTS, N_RUNNING, Stage, Watch


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser without a window, for one file: while it is open no other event loop can run."""
    reason = "needs Playwright, which is not installed"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    chromium = which("chromium") or which("chromium-browser")
    if chromium is None:
        pytest.skip("needs Chromium, which is not installed")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def shown() -> Iterator[Stage]:
    """Return a stage with finished workloads and one that runs."""
    stage = Stage()
    stage.go_on(N_RUNNING)
    while not (stage.book.snapshot.n_finished and stage.book.snapshot.running):
        stage.go_on(1)
    with stage.server:
        yield stage


@pytest.fixture
def watch(browser: Any) -> Iterator[Watch]:
    """Return what opens pages; at the end nothing forbidden may have happened."""
    watch = Watch(browser)
    yield watch
    for context in browser.contexts:
        context.close()
    assert watch.faults == []
