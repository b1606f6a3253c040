"""The page in a real browser, where there is one: nothing is cut, on screen or on paper."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.report.scope_made import scope_content_of
from flopwitness.app.report.scope_page import render_scope
from flopwitness.app.svg import inline_svg

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MEASURE = (
    "<script>document.title = document.documentElement.scrollWidth + ' of ' + "
    "document.documentElement.clientWidth</script></body>"
)
"""Added to a copy: the page itself has no script."""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")


def browse(folder: Path, *arguments: str) -> str:
    """Run the browser without a window on the page in a folder and return what it printed."""
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    command = [str(BROWSER), *flags, *arguments, (folder / "page.html").as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.parametrize("width", [420, 1280])
def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int):
    """Wide tables scroll by themselves; the page does not."""
    html = render_scope(scope_content_of(), draw=inline_svg)
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html).replace("</body>", MEASURE)
    (tmp_path / "page.html").write_text(html)

    dumped = browse(tmp_path, f"--window-size={width},900", "--dump-dom")

    needed, given = re.search(r"<title>(\d+) of (\d+)</title>", dumped).groups()
    assert int(needed) <= int(given)


def test_paper_is_a4_upright_and_lying(tmp_path: Path):
    """210 by 297 mm, with sessions on lying pages."""
    (tmp_path / "page.html").write_text(render_scope(scope_content_of(), draw=inline_svg))

    browse(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'page.pdf'}")

    sheets = re.findall(rb"/MediaBox \[0 0 (\d+)\S* (\d+)\S*\]", (tmp_path / "page.pdf").read_bytes())
    assert set(sheets) == {(b"594", b"841"), (b"841", b"594")}
