"""On a telephone nothing of a page is cut off: looked at with a real browser, where the machine has one."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from trireme.reports import (
    Bar,
    Chart,
    Colour,
    Emphasis,
    LegendEntry,
    axis_from_zero,
    charts_beside,
    legend,
    page,
    table,
)

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
HEADLESS = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files")
QUIET = ("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update")
# A window is never narrower than 500 px, so that the page is looked at in a frame.
FRAME = """<!doctype html>
<iframe src="page.html" width="{width}" height="900" onload="look(this)"></iframe>
<pre id="seen"></pre>
<script>function look(frame) {{
  const page = frame.contentDocument, shown = [...page.querySelectorAll(".label, .tick, .name, .legend li, h1")];
  const seen = shown.map(each => each.getBoundingClientRect()).filter(box => box.width > 2);
  document.getElementById("seen").textContent = JSON.stringify({{
    count: seen.length, left: Math.min(...seen.map(box => box.left)), right: Math.max(...seen.map(box => box.right)),
    page: page.documentElement.scrollWidth}});
}}</script>"""
NAME = "Trireme onnxruntime_int8_joined, no summaries"


def written_page() -> str:
    """A page with all that takes room: long names, marks far right, and a table wider than the window."""
    bars = [
        Bar(NAME, "ours", value, f"{value:,.0f}", "2.3×", mark, "85%", emphasis)
        for value, mark, emphasis in ((3714.0, 4369.0, Emphasis.STRONG), (286.0, None, Emphasis.REFUSED))
    ]
    charts = [Chart("texts/s", "more is better", bars, axis_from_zero([3714.0, 4369.0, 286.0]))] * 2
    numbers = table(["server", *(f"figure {column}" for column in range(12))], [["Trireme", *["123.45"] * 12]])
    content = [legend([LegendEntry("ours", NAME)]), charts_beside(charts), numbers]
    return page("How fast sentiment is served", {"ours": Colour("#1c5ce1", "#60a5ff")}, content)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 1200])
def test_no_label_is_cut_off(width: int, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(written_page(), encoding="utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    options = (*HEADLESS, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000")
    command = [str(BROWSER), *options, "--dump-dom", (tmp_path / "frame.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="seen">(.+?)</pre>', shown.stdout)
    assert found, shown.stderr
    seen = json.loads(found.group(1))
    assert seen["count"] > 10
    assert 0 <= seen["left"] < seen["right"] <= seen["page"] <= width
