"""Draws the README's pictures, in a browser: a report, a film and a bank figure.

`python -m lessons.pictures` writes docs/pictures/, each on a light page and a dark one;
it needs Playwright (`python -m pip install -e ".[browser]"`) and Chromium.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from numba import cuda, float32

from helpers import emulate, plot_banks, watch

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
WIDTH = 1120
STEP = 135      # of the film: the race
PAGE = """<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; }
body { font: 14px system-ui, sans-serif; margin: 16px; background: Canvas; }
</style>"""
SEEK = """([host, step]) => {
    const slider = document.querySelector(host).shadowRoot
        .querySelector('input[type=range]');
    slider.value = step;
    slider.dispatchEvent(new Event('input', {bubbles: true}));
}"""


@cuda.jit
def product(a, b, c):
    """c = a @ b, tile by tile."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for step in range(a.shape[1] // 16):
        tile_a[ty, tx] = a[row, step * 16 + tx]
        tile_b[ty, tx] = b[step * 16 + ty, col]
        cuda.syncthreads()
        for k in range(16):
            acc += tile_a[ty, k] * tile_b[k, tx]
    c[row, col] = acc


def main():
    """Write the pictures; return the exit status."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(__doc__, file=sys.stderr)
        return 1
    rng = np.random.default_rng(0)
    a, b = (rng.random((64, 64), dtype=np.float32) for _ in range(2))
    launch = (4, 4), (16, 16)
    report = emulate(product)[launch](a, b, np.zeros_like(a))
    film = watch(product)[launch](a, b, np.zeros_like(a))
    FOLDER.mkdir(exist_ok=True)
    banks = plot_banks([lane * 2 * 4 for lane in range(32)])
    (FOLDER / "banks.png").write_bytes(banks.png())
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        options = {"executable_path": chromium, "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        pages = {"report": report._repr_html_(), "film": film._repr_html_()}
        for name, html in pages.items():
            file = Path(folder, f"{name}.html")
            file.write_text(PAGE + html, "utf-8")
            for scheme in ("light", "dark"):
                photograph(browser, file, scheme)
        browser.close()
    return 0


def photograph(browser, file, scheme):
    """Keep what a page shows."""
    view = {"viewport": {"width": WIDTH, "height": 400}, "color_scheme": scheme}
    page = browser.new_page(**view)
    page.goto(file.as_uri())
    page.wait_for_timeout(1500)     # the film draws itself
    if file.stem == "film":
        page.evaluate(SEEK, [".lanes-film-player", STEP - 1])
        page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / f"{file.stem}-{scheme}.png", full_page=True)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
