"""Plots of the page in a real browser: read and moved by keys, pointer and wheel; gaps stay gaps."""

import re

import pytest

from app.page_stage import Stage, Watch, has_worked, text

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright, which is not installed")


def test_the_page_is_used_by_keys_alone(watch: Watch, shown: Stage):
    """Skip link, plots read instant by instant, history moved and zoomed; focus is always seen."""
    page = watch.page(shown.url, reduced_motion="reduce")
    page.wait_for_selector("#finished tbody tr")

    page.keyboard.press("Tab")
    assert text(page, ":focus") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    page.keyboard.press("Tab")
    assert "Plots of GPU" in page.locator(":focus").get_attribute("aria-label")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowLeft")
    sync_api.expect(page.locator(".gpu [role=status]").first).to_contain_text("UTC: Power")
    sync_api.expect(page.locator(".gpu .state").first).to_contain_text("read at")

    page.focus(".pane")
    before = text(page, "#history-text")
    page.keyboard.press("+")
    sync_api.expect(page.locator("#history-text")).not_to_have_text(before)
    zoomed = text(page, "#history-text")
    page.keyboard.press("ArrowLeft")
    sync_api.expect(page.locator("#history-text")).not_to_have_text(zoomed)
    page.keyboard.press("0")
    sync_api.expect(page.locator("#history-text")).to_have_text(before)
    sync_api.expect(page.locator("#history [role=status]")).to_contain_text("Power of 2 GPUs")


def test_the_history_is_moved_by_pointer_and_wheel(watch: Watch, shown: Stage):
    """A wheel that passes over it scrolls the page; once it is focused, or with Ctrl, it zooms."""
    page = watch.page(shown.url, reduced_motion="reduce")
    page.wait_for_selector("#finished tbody tr")
    pane = page.locator(".pane")
    pane.scroll_into_view_if_needed()
    pane.hover()
    before = text(page, "#history-text")

    page.mouse.wheel(0, 40)
    page.wait_for_timeout(100)
    assert text(page, "#history-text") == before

    pane.scroll_into_view_if_needed()
    pane.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -800)
    page.keyboard.up("Control")
    sync_api.expect(page.locator("#history-text")).not_to_have_text(before)
    zoomed = text(page, "#history-text")

    box = pane.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 30, steps=5)
    page.mouse.up()
    sync_api.expect(page.locator("#history-text")).not_to_have_text(zoomed)
    sync_api.expect(page.locator("#history .readout")).to_contain_text("UTC")


def test_missing_samples_are_gaps_in_a_line(watch: Watch, shown: Stage):
    """Null becomes no point: the line is taken up again behind it, and never falls to zero."""
    page = watch.page(shown.url)
    page.wait_for_selector(".gpu")

    calls = page.evaluate(
        """async () => {
          const { Recent } = await import("/assets/curves.js");
          const { drawCurve } = await import("/assets/plot.js");
          const recent = new Recent(["power_watts"]);
          const values = [1, 2, null, null, 5];
          const stats = { mean: values, low: values, high: values };
          recent.take({ a: { start: 1000, step: 1, channels: { power_watts: stats } } }, 1004);
          const { mean, low, high } = recent.window("a", "power_watts");
          const calls = [];
          const context = new Proxy({}, {
            get: (_, name) => (...spot) => calls.push([name, ...spot]),
            set: () => true,
          });
          const first = mean.length - 5;
          const last = mean.length - 1;
          const spots = { x: (at) => at - first, y: (value) => value };
          drawCurve(context, { mean, low, high }, { first, last, ...spots, stroke: "#000", fill: false });
          return calls.filter(([name]) => name.endsWith("To"));
        }"""
    )

    assert calls == [["moveTo", 0, 1], ["lineTo", 1, 2], ["moveTo", 4, 5], ["lineTo", 5, 5]]


def test_a_page_that_comes_late_has_the_last_minutes_at_once(watch: Watch):
    """The idle seconds before the workload are in its plots, though no event brings them any more."""
    stage = Stage()
    while not any(has_worked(one) for one in stage.book.snapshot.running):
        stage.go_on(1)
    stage.go_on(1)
    stage.server.events._sent.append((0.0, stage.book.snapshot.at_ns))
    stage.go_on(1)
    with stage.server:
        page = watch.page(stage.url)
        power = page.locator(".plot canvas").first

        sync_api.expect(power).to_have_attribute("aria-label", re.compile(r"Power.*least [78]\d W"))


def test_every_plot_has_words(watch: Watch, shown: Stage):
    """A text alternative with the newest, least and most."""
    page = watch.page(shown.url)
    page.wait_for_selector("#finished tbody tr")

    plots = page.locator(".plot canvas[aria-label*='in the last five minutes: now']")

    sync_api.expect(plots).to_have_count(10)
