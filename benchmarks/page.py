"""How fast the live page is in Chromium: from navigation to the first data, and frames while a day is panned.

A synthetic day of eight GPUs is put into the page's book; a browser without a window opens the page several
times at 1440 and at 390 pixels, then the history is zoomed in and dragged across the day. Prints one JSON
object. Needs Chromium and Playwright.
"""

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Iterator

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from flopwitness.app.baselines import IdleBaselines
from flopwitness.app.daemon import Daemon, Outputs
from flopwitness.app.finding_workloads import WorkloadFinder
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.serving.attach import serving
from flopwitness.app.serving.book import Facts, LiveBook
from flopwitness.app.ticking import Round
from flopwitness.core.device import Device
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import ActivityWatch

DAY, N_GPUS, BATCH_SECONDS = 86_400, 8, 600
START_NS = 1_800_000_000_000_000_000
SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]

FIRST_DATA = """() => new Promise((done) => {
  const look = () => {
    const reading = document.querySelector(".gpu .reading");
    if (reading && /\\d/.test(reading.textContent)) done(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})"""
"""Milliseconds from navigation to the first figure of a GPU on the page."""

FRAMES = """(n) => new Promise((done) => {
  const pane = document.querySelector(".pane");
  const box = pane.getBoundingClientRect();
  const fire = (name, x) => pane.dispatchEvent(new PointerEvent(name, {
    pointerId: 1, button: 0, isPrimary: true, bubbles: true, clientX: x, clientY: box.top + 40 }));
  pane.setPointerCapture = () => {};
  const times = [];
  let last = performance.now();
  let x = box.left + box.width / 2;
  fire("pointerdown", x);
  const step = (now) => {
    times.push(now - last);
    last = now;
    x += 24;
    fire("pointermove", x);
    if (times.length < n) requestAnimationFrame(step);
    else { fire("pointerup", x); done(times.slice(2)); }
  };
  requestAnimationFrame(step);
})"""
"""Milliseconds from frame to frame while the history is dragged, 24 pixels a frame."""


def day() -> Iterator[Round]:
    """Yield a day at 1 Hz: three runs of hours with idle between them, every GPU a little different."""
    rng = np.random.default_rng(6)
    for second in range(0, DAY, BATCH_SECONDS):
        seconds = second + np.arange(BATCH_SECONDS)
        is_busy = (seconds % 28_800) > 3_600
        yield tuple(gpu_batch(number, seconds, is_busy, rng=rng) for number in range(N_GPUS))


def gpu_batch(number: int, seconds: np.ndarray, is_busy: np.ndarray, *, rng: np.random.Generator) -> Trace:
    """Return what one GPU of the day shows."""
    shake = rng.normal(1.0, 0.04, len(seconds))
    share = np.where(is_busy, 0.45 * shake, 0.0)
    columns = {
        "power_watts": np.where(is_busy, (610 + 8 * number) * shake, 78.0 + number),
        "tensor_active_ratio": share,
        "hmma_active_ratio": share,
        "sm_active_ratio": np.where(is_busy, 0.9, 0.0),
        "dram_active_ratio": np.where(is_busy, 0.38 * shake, 0.0),
        "nvlink_rx_bytes_per_second": np.where(is_busy, 4e10 * shake, 0.0),
        "nvlink_tx_bytes_per_second": np.where(is_busy, 4e10 * shake, 0.0),
        "sm_clock_hertz": np.where(is_busy, 1.7e9 * shake.clip(0.8, 1.1), 345e6),
    }
    device = Device(f"GPU-{number:08x}-0000-4000-8000-{number:012x}", "H200-SXM", "node")
    return Trace(device, START_NS + seconds * 1_000_000_000, columns)


def filled() -> LiveBook:
    """Return a book that has seen the day."""
    book = LiveBook(facts=Facts("a synthetic day of eight GPUs"))
    calibration = shipped_calibration(["H200-SXM"])
    outputs = Outputs(lambda _: False, lambda _: None, book.count, None, book.take)
    finder = WorkloadFinder(ActivityWatch)
    daemon = Daemon(finder, lambda _: calibration, outputs=outputs, baselines=IdleBaselines())
    for batch in day():
        daemon._take(batch)  # noqa: SLF001  what is open stays open, as in a daemon that runs
        book.take(daemon)
    return book


def opened(browser: Browser, url: str, size: str) -> Page:
    """Return a fresh page, nothing of it cached."""
    width, height = SIZES[size]
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.goto(url, wait_until="commit")
    return page


def first_data_ms(browser: Browser, url: str, *, size: str, n: int) -> list[float]:
    """Return milliseconds to the first data of several visits."""
    found = []
    for _ in range(n):
        page = opened(browser, url, size)
        found.append(round(page.evaluate(FIRST_DATA), 1))
        page.context.close()
    return found


def frames_ms(browser: Browser, url: str, *, size: str, n: int) -> dict[str, float]:
    """Return how long frames took while an hour's view was dragged over the day."""
    page = opened(browser, url, size)
    page.wait_for_selector(".pane canvas")
    page.wait_for_timeout(1500)
    page.focus(".pane")
    for _ in range(6):
        page.keyboard.press("+")
    page.wait_for_timeout(1500)
    times = sorted(page.evaluate(FRAMES, n))
    page.context.close()
    return {
        "frames": len(times),
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(times[int(0.95 * len(times))], 1),
        "longest_ms": round(times[-1], 1),
    }


def main() -> int:
    """Run; 0 where the first data came within a second at the median, on both sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=7)
    parser.add_argument("--frames", type=int, default=240)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with serving("127.0.0.1:0", None, filled()) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        first = {size: first_data_ms(browser, url, size=size, n=options.visits) for size in SIZES}
        pan = {size: frames_ms(browser, url, size=size, n=options.frames) for size in SIZES}
        browser.close()
    medians = {size: statistics.median(times) for size, times in first.items()}
    sys.stdout.write(json.dumps({"first_data_ms": first, "median_ms": medians, "pan": pan}) + "\n")
    return 0 if max(medians.values()) < 1000 else 1


if __name__ == "__main__":
    sys.exit(main())
