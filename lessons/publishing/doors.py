"""Doors to a lesson from a link: its badges, and what it does where it is alone.

All are made of the one address of the project, `[project.urls] Repository` in
pyproject.toml. Without an address there are none: nobody is sent to a place that is
somebody else's.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from nbformat import v4

from lessons.publishing.convert import convert, notebook_path
from lessons.publishing.errors import LessonError
from lessons.publishing.marked import filled

GITHUB = r"https://github\.com/([\w.-]+/[\w.-]+?)/?"
BADGES = {  # what opens a notebook: its badge, and where it finds {place}, of {name}
    "Colab": (
        "https://colab.research.google.com/assets/colab-badge.svg",
        "https://colab.research.google.com/github/{name}/blob/v{version}/{place}",
    ),
    "Binder": (
        "https://mybinder.org/badge_logo.svg",
        "https://mybinder.org/v2/gh/{name}/v{version}?urlpath=lab/tree/{place}",
    ),
    "Codespaces": (
        "https://github.com/codespaces/badge.svg",
        "https://codespaces.new/{name}",
    ),
}
# In Colab the course's folder is missing, and the package index has another package
# called `helpers`.
ALONE = """\
try:  # opened alone, as in Colab, this notebook brings what it needs
    from helpers import emulate
except ImportError:
    import sys
    sys.modules.pop("helpers", None)  # of another package
    %pip install --quiet {wheels}
    from helpers import emulate  # fails? Rename the `helpers` that it names"""
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # Lab's, Colab's
UNSEEN = {"tags": ["remove-cell"], "slideshow": {"slide_type": "skip"}}
NO_ADDRESS = "Clone or download this repository, and type the two commands above in its"


@dataclass(frozen=True)
class Project:
    """Where a project is, and its version; `name` is the owner's and its own."""

    address: str
    version: str

    @property
    def name(self):
        return re.fullmatch(GITHUB, self.address)[1]

    @property
    def wheels(self):
        """The wheels of this version's release: the tool's, and the course's."""
        folder = f"https://github.com/{self.name}/releases/download/v{self.version}"
        names = "thirty_two_lanes", "thirty_two_lanes_course"
        files = [f"{name}-{self.version}-py3-none-any.whl" for name in names]
        return " ".join(f"{folder}/{file}" for file in files)


def project_of(root) -> Project | None:
    """The project whose pyproject.toml has an address."""
    file = Path(root, "pyproject.toml")
    project = tomllib.loads(file.read_text("utf-8"))["project"] if file.exists() else {}
    address = project.get("urls", {}).get("Repository", "")
    if address and not re.fullmatch(GITHUB, address):
        raise LessonError(
            f"pyproject.toml, project.urls: Colab and Binder open "
            f"https://github.com/OWNER/NAME, and not {address}"
        )
    return Project(address, project["version"]) if address else None


def with_doors(root, lesson):
    """The notebook of a lesson, which can be opened by a link where there is one."""
    notebook = convert(lesson)
    if project := project_of(root):
        place = notebook_path(root, lesson).relative_to(root).as_posix()
        first, *others = notebook.cells
        first.source += "\n\n" + badges(project, place)
        code = [it.cell_type for it in others].index("code")
        cell = v4.new_code_cell(
            ALONE.format(wheels=project.wheels), metadata=FOLDED | UNSEEN, id="alone"
        )
        notebook.cells = [first, *others[:code], cell, *others[code:]]
    return notebook


def badges(project, place):
    """The badges that open a notebook, in one line."""
    return " ".join(
        f"[![Open in {what}]({badge})]"
        f"({url.format(name=project.name, version=project.version, place=place)})"
        for what, (badge, url) in BADGES.items()
    )


def with_address(readme, project, first):
    """A README's text with the way to the project's folder between its marks."""
    return filled(readme, "address", way_to(project, first))


def way_to(project, first):
    """How one gets the project's folder, or opens its first notebook without one."""
    if not project:
        return f"{NO_ADDRESS} folder."
    folder = project.name.partition("/")[2]
    return (
        f"Open the first lesson in a browser: {badges(project, first)}\n\n"
        f"Or get the folder, and type the two commands above in it:\n\n"
        f"    git clone {project.address}\n"
        f"    cd {folder}"
    )
