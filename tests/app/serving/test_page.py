"""The page in a real browser: what it shows, to whom, and what it never does."""

from pathlib import Path

import pytest

from app.page_stage import PACE, SIZES, Stage, Watch, has_worked, text
from app.serving_book import ACCESS
from flopwitness.app.serving.server import Server

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright, which is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe, which is not installed")


def test_gpus_then_a_running_then_a_finished_workload(watch: Watch):
    """As the samples come, without a reload."""
    stage = Stage()
    stage.go_on(3)
    with stage.server:
        page = watch.page(stage.url)
        sync_api.expect(page.locator(".gpu")).to_have_count(2)
        sync_api.expect(page.locator("#running")).to_contain_text("Nothing is running")
        sync_api.expect(page.locator("#total")).to_contain_text("Nothing was estimated yet")

        while not any(has_worked(one) for one in stage.book.snapshot.running):
            stage.go_on(1)
        sync_api.expect(page.locator("#running tbody tr")).to_have_count(1)
        sync_api.expect(page.locator("#running tbody")).to_contain_text("× 10")

        stage.until_finished()
        sync_api.expect(page.locator("#finished tbody tr")).not_to_have_count(0)
        sync_api.expect(page.locator("#news")).to_contain_text("finished")
        sync_api.expect(page.locator("#scale tbody")).to_contain_text("EU AI Act")
        sync_api.expect(page.locator("#ledger")).to_contain_text("No ledger")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_no_serious_fault_and_nothing_is_wider_than_the_screen(
    watch: Watch, shown: Stage, size: str, scheme: str
):
    """Contrast, names, roles, order: on phone and desktop, light and dark."""
    page = watch.page(shown.url, size=size, color_scheme=scheme)
    page.wait_for_selector("#finished tbody tr")

    violations = axe.Axe().run(page).response["violations"]

    grave = [one["id"] for one in violations if one["impact"] in {"serious", "critical"}]
    assert grave == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_locked_page_is_for_everybody_too(watch: Watch, shown: Stage):
    """Without the token it asks for it, tells a wrong one, and opens with the right one."""
    page = watch.page(shown.server.place.url)
    page.wait_for_selector("#token:focus")
    violations = axe.Axe().run(page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in {"serious", "critical"}] == []

    page.keyboard.type("not-the-token-at-all-000")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#login-error")).to_contain_text("does not open")
    assert page.locator(".gpu").count() == 0

    page.fill("#token", ACCESS.token)
    page.keyboard.press("Enter")
    sync_api.expect(page.locator(".gpu")).to_have_count(2)
    # A refused login is an answer, which browsers write to the console as a failed request.
    watch.faults[:] = [fault for fault in watch.faults if "401" not in fault]


def test_the_token_leaves_the_address_and_a_reload_needs_none(watch: Watch, shown: Stage):
    """It stands in no history, and the cookie opens from then on."""
    page = watch.page(shown.url)
    page.wait_for_selector(".gpu")

    assert ACCESS.token not in page.url
    assert ACCESS.token not in page.evaluate("document.cookie")
    page.reload()
    page.wait_for_selector(".gpu")


def test_a_lost_connection_is_shown_with_the_age_of_the_data(watch: Watch):
    """In words, said once; when the server is back the page goes on."""
    stage = Stage()
    stage.go_on(5)
    with stage.server:
        page = watch.page(stage.url)
        sync_api.expect(page.locator("#link")).to_have_attribute("data-state", "live")
    sync_api.expect(page.locator("#link")).to_have_attribute("data-state", "lost")
    assert "data are" in text(page, "#link-text")
    assert "connection lost" in page.locator("#news").text_content()

    again = Server(stage.book, ACCESS, stage.server.place, pace=PACE)
    with again:
        sync_api.expect(page.locator("#link")).to_have_attribute("data-state", "live")
        stage.go_on(1)
        at = stage.book.snapshot.n_samples
        sync_api.expect(page.locator("#facts")).to_contain_text(f"{at:,}")
    watch.faults[:] = [fault for fault in watch.faults if "ERR_" not in fault]


def test_a_replay_that_is_over_is_said_to_be(watch: Watch):
    """Its data stay."""
    stage = Stage()
    stage.go_on(5)
    stage.book.close()
    with stage.server:
        page = watch.page(stage.url)
        sync_api.expect(page.locator("#link-text")).to_have_text("the replay is over")
        sync_api.expect(page.locator(".gpu")).to_have_count(2)


def test_every_file_of_the_page_is_used():
    """What no other file names is dead."""
    folder = Path(__file__).parents[3] / "src/flopwitness/app/serving/page"
    texts = {path.name: path.read_text() for path in folder.iterdir()}

    for name in texts.keys() - {"index.html"}:
        assert any(name in content for other, content in texts.items() if other != name), name
