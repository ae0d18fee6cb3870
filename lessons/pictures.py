"""Draws the README's pictures, in a browser: a film, a report and a figure of banks; and
the film of a published kernel, where `stumpy` is installed.

`python -m lessons.pictures` writes docs/pictures/, each on a light page and a dark one;
it needs Playwright (`python -m pip install -e ".[browser]"`) and Chromium. As GitHub
shows them, 830 pixels wide, the README's are at most 380 high: its commands stay in sight.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from helpers import emulate, plot_banks, watch
from lessons.publishing.race import launched

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
SHARP = 2  # pixels of a picture for each of the page
PAGE = """<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; }
body { font: 14px system-ui, sans-serif; margin: 8px; background: Canvas; }
#shown { width: fit-content; padding: 4px; }
.lanes-film { width: calc(100vw - 24px); }
</style><div id="shown">"""
PUBLISHED = "stumpy", "_compute_and_update_PI_kernel", "9"  # the ninth launch

# what a film shows in the page, and its picture leaves out; `lines` and `arrays` are in
# pixels, where there are too many
SHORTEN = """([step, lines, arrays]) => {
    const root = document.querySelector('.lanes-film-player').shadowRoot;
    for (const it of ['.side', '.legend', '.key']) root.querySelector(it)?.remove();
    root.querySelector('.source').style.maxHeight = lines + 'px';
    const stage = root.querySelector('.stage');
    Object.assign(stage.style, {maxHeight: arrays + 'px', overflow: 'hidden'});
    const slider = root.querySelector('input[type=range]');
    if (step) slider.value = step - 1;
    if (step) slider.dispatchEvent(new Event('input', {bubbles: true}));
}"""


class Shot(NamedTuple):
    """How a page becomes a picture: how wide the page is; of a film, how much."""

    width: int
    film: tuple = ()  # the step, or 0 for where it opens; the two limits of SHORTEN


SHOTS = {
    "film": Shot(1120, (0, 440, 264)),
    "report": Shot(1120),
    "banks": Shot(1180),
    "stumpy": Shot(1120, (47, 212, 412)),
}


def main():
    """Write the pictures; return the exit status."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(__doc__, file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        options = {"executable_path": chromium, "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        for name, html in pages(Path(folder)).items():
            file = Path(folder, f"{name}.html")
            file.write_text(PAGE + html, "utf-8")
            for scheme in ("light", "dark"):
                photograph(browser, file, scheme)
        browser.close()
    return 0


def pages(folder) -> dict:
    """What is photographed, as HTML by name."""
    banks = plot_banks([lane * 2 * 4 for lane in range(32)])
    found = {
        "film": launched(watch)._repr_html_(),
        "report": launched(emulate)._repr_html_(),
        "banks": banks.svg(),
    }
    if find_spec(PUBLISHED[0]):
        found["stumpy"] = published(folder)
    return found


def published(folder) -> str:
    """The film of a published kernel, of the program on the page that shows it."""
    text = (ROOT / "docs/PROFESSIONALS.md").read_text("utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    (folder / "find_motif.py").write_text(program, "utf-8")
    _, kernel, launch = PUBLISHED
    command = [sys.executable, "-m", "thirty_two_lanes", "watch", "--kernel", kernel]
    command += ["--launch", launch, "-o", "whole.html", "find_motif.py"]
    subprocess.run(command, cwd=folder, check=True)
    whole = (folder / "whole.html").read_text("utf-8")
    return whole[whole.index("<div class='lanes-film'>") : whole.index("</main>")]


def photograph(browser, file, scheme):
    """Keep what a page shows."""
    shot = SHOTS[file.stem]
    view = {"viewport": {"width": shot.width, "height": 400}, "color_scheme": scheme}
    page = browser.new_page(**view, device_scale_factor=SHARP)
    page.goto(file.as_uri())
    page.wait_for_timeout(1500)  # the film draws itself
    if shot.film:
        page.evaluate(SHORTEN, [*shot.film])
        page.wait_for_timeout(500)
    page.locator("#shown").screenshot(path=FOLDER / f"{file.stem}-{scheme}.png")
    page.close()


if __name__ == "__main__":
    sys.exit(main())
