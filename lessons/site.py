"""Builds the site of the course: every lesson with its outputs, search, dark mode.

`python -m lessons.site` (or `make site`) writes `site/` from the committed notebooks
and pages, with no network and no kernel; open `site/index.html`. A link that leads
nowhere, and whatever else Sphinx warns of, is an error.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lessons.publishing.errors import LessonError
from lessons.publishing.doors import project_of
from lessons.publishing.front import with_words
from lessons.publishing.heads import with_head, with_sentences
from lessons.publishing.pages import gather, sentences

ROOT = Path(__file__).resolve().parent.parent
OUT = "site"

# what the theme's pages lack for a reader who hears them, or has no mouse
LACKING = (
    (
        '<p class="caption" role="heading">',
        '<p class="caption" role="heading" aria-level="2">',
    ),
    (
        '<aside class="sidebar-drawer">',
        '<aside class="sidebar-drawer" aria-label="Pages">',
    ),
    (
        '<aside class="toc-drawer">',
        '<aside class="toc-drawer" aria-label="On this page">',
    ),
    ("<pre>", '<pre tabindex="0">'),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)


def main(arguments=None, root=ROOT):
    """Gather the pages, let Sphinx make a site of them; return the exit status."""
    options = parser().parse_args(arguments)
    out = Path(options.out or root / OUT).resolve()
    try:
        require_place(out)
        with tempfile.TemporaryDirectory() as folder:
            gather(root, Path(folder))
            new = Path(folder, "_build")
            if status := sphinx(folder, new):
                return status
            finish(new, address_of(root))
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(
                new, out, ignore=shutil.ignore_patterns(".doctrees")
            )
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{out / 'index.html'}: open it in a browser")
    return 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(
        "python -m lessons.site", description=__doc__
    )
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--out", help="where to write it, in place of site/")
    return new


def require_place(out):
    """Refuse to write over a folder that holds something else."""
    if (
        out.exists()
        and any(out.iterdir())
        and not (out / "searchindex.js").exists()
    ):
        raise LessonError(
            f"{out} holds no site: name another folder with --out"
        )


def finish(site, address):
    """Put into each page what Sphinx and its theme leave out."""
    said = sentences()
    for place in site.rglob("*.html"):
        page = with_words(readable(place.read_text("utf-8")))
        page = with_sentences(page, said)
        name = place.relative_to(site).as_posix()
        place.write_text(with_head(page, name, address), "utf-8")


def address_of(root):
    """Where GitHub shows the site; "" as long as the project has no address."""
    if not (project := project_of(root)):
        return ""
    owner, name = project.name.split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def readable(page):
    """A page's HTML with what the theme leaves out."""
    for theirs, ours in LACKING:
        page = page.replace(theirs, ours)
    return page


def sphinx(source, out):
    """Run Sphinx on a folder; its exit status."""
    command = [sys.executable, "-m", "sphinx", "--builder=html", "--quiet"]
    command += ["--fail-on-warning", "--keep-going", "--jobs=auto"]
    try:
        import myst_nb  # noqa: F401
    except ImportError:
        raise LessonError(
            "the site needs more packages: "
            "`python -m pip install --requirement requirements.lock "
            "--requirement requirements-site.lock`"
        ) from None
    return subprocess.run([*command, source, out]).returncode


if __name__ == "__main__":
    sys.exit(main())
