"""Which room of the tool and of `helpers` may import which, and why; how large things
may grow.
"""

import ast
import re
import sys
from functools import cache
from typing import NamedTuple

import pytest

from tests.paths import ROOT
from tests.setup import rooms_figure
from tests.setup.syntax import statements_of, tree_of

TOOL, HELPERS = ROOT / "tool" / "thirty_two_lanes", ROOT / "helpers"
PACKAGES = {folder.name: folder for folder in (TOOL, HELPERS)}


class Rule(NamedTuple):
    """A room, what it may import of ours and of other packages, and why no more."""

    room: str
    may: str
    packages: str
    why: str


RULES = (
    Rule("core", "", "numba matplotlib", "what rooms say to each other, and facts"),
    Rule("language", "core", "", "the CUDA language as tables: NumPy, no compiler"),
    Rule("frontend", "core language", "numba", "the one room that knows typed IR"),
    Rule("emulator/program.py", "core", "", "a contract belongs to neither side"),
    Rule("emulator/machine", "core language program", "", "emits; knows no judge"),
    Rule("emulator/codegen", "core language program machine", "", "names its calls"),
    Rule(
        "emulator/native",
        "core language program codegen machine",
        "llvmlite",
        "the machine's basic blocks, by NumPy's own loops",
    ),
    Rule("emulator/judges", "core program races", "", "listen; know no machine"),
    Rule("emulator/judges/races", "core judges", "", "judges of their own"),
    Rule("emulator/report", "core judges", "", "loops over judges: text and pages"),
    Rule(
        "emulator",
        "core language frontend program codegen machine native judges races report",
        "numba",
        "one launch: compile, bind, run, judge, report",
    ),
    Rule("emulator/host", "core frontend emulator", "numba", "where Numba calls us"),
    Rule(
        "assembly",
        "core frontend",
        "numba cuda elftools",
        "asks the compiler, and reads its machine code",
    ),
    Rule("pictures", "core", "matplotlib PIL IPython", "what a figure is; its SVG"),
    Rule(
        "scripts",
        "core emulator host judges report tool",
        "numba pytest",
        "runs somebody's own program, and reports on its launches",
    ),
    Rule(
        "film",
        "core frontend emulator program judges report scripts pictures",
        "matplotlib",
        "one block of a launch, step by step: listens, and judges nothing",
    ),
    Rule(
        "agents",
        "core frontend assembly film scripts",
        "numba mcp pydantic anyio",
        "what coding agents ask for: each call in a limited process of its own",
    ),
    Rule(
        "intrinsics",
        "frontend emulator",
        "numba llvmlite",
        "what Numba's language lacks: an instruction, and its twin",
    ),
    Rule("tool", "*", "", "the tool's door, and its commands"),
    Rule("checking", "core", "", "compares arrays, whoever made them"),
    Rule(
        "measuring",
        "core frontend",
        "numba",
        "times and recordings; never the emulator",
    ),
    Rule(
        "exercises",
        "core language frontend emulator program checking assembly",
        "numba IPython",
        "judges answers; knows no lesson",
    ),
    Rule(
        "grading/sandbox",
        "core exercises door tool",
        "numba IPython psutil",
        "runs submissions, and judges what they hand over",
    ),
    Rule(
        "grading",
        "core exercises sandbox scripts door tool",
        "numba nbformat nbgrader distributed",
        "marks, feedback and exports; runs nothing itself",
    ),
    Rule("plotting", "core pictures", "matplotlib PIL IPython", "takes numbers"),
    Rule("door", "*", "numba", "the front door, the doctor"),
)
PATHS = {rule.room.removesuffix(".py"): rule for rule in RULES}
OF_HELPERS = "checking measuring exercises sandbox grading plotting door".split()
# whose `__init__.py` is not empty
DOORS = ("", "assembly", "plotting", "pictures", "emulator", "emulator/judges")


def room_of(package, parts) -> str:
    """The short name of a module's room: the longest path that has a rule."""
    paths = ["/".join(parts[: end + 1]) for end in reversed(range(len(parts)))]
    door = "door" if package == "helpers" else "tool"
    return short(next((path for path in paths if path in PATHS), door))


def short(path) -> str:
    """What a rule calls a room: the last word of its path."""
    return path.removesuffix(".py").rpartition("/")[2]


def modules():
    """Each module of ours: its file, its package, its folders' names and its own."""
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            yield file, package, file.relative_to(folder).with_suffix("").parts


@cache
def imports(file):
    """What a file imports, wherever in it, as dotted names; several rules ask."""
    name, folder = next(it for it in PACKAGES.items() if file.is_relative_to(it[1]))
    package, found = [name, *file.relative_to(folder).parent.parts], []
    for node in statements_of(file):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base += [node.module] if node.module else []
            found += [".".join([*base, alias.name]) for alias in node.names]
    return found


def imported_rooms(file):
    """The rooms of ours that a file imports, and the packages of others."""
    for name in imports(file):
        first, *rest = name.split(".")
        if first in PACKAGES:
            yield room_of(first, rest)
        elif first != "numpy" and first not in sys.stdlib_module_names:
            yield first


def test_the_tool_imports_nothing_of_the_course():
    """It is installed alone, where `helpers` is anybody's own module."""
    allowed = {rule.room: rule.may.split() for rule in RULES}

    assert not [
        room
        for room, may in allowed.items()
        if short(room) not in OF_HELPERS and {*may} & {*OF_HELPERS}
    ]
    assert "helpers" not in {
        name.split(".")[0]
        for file, package, _ in modules()
        if package == TOOL.name
        for name in imports(file)
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.room)
def test_a_room_imports_only_what_its_rule_allows(rule):
    """Within functions, too; a rule for a room that is gone is wrong as well."""
    name = short(rule.room)
    files = [file for file, *where in modules() if room_of(*where) == name]
    allowed = {name, *rule.may.split(), *rule.packages.split()}
    allowed |= set(map(short, PATHS)) if rule.may == "*" else set()

    broken = [
        f"{file.relative_to(ROOT)} imports {other}"
        for file in files
        for other in sorted(set(imported_rooms(file)) - allowed)
    ]
    assert files
    assert [] == broken, f"{rule.room}: {rule.why}"


MACHINE = TOOL / "emulator" / "machine"
OWNERS = {"warps.py": "Warp", "machine.py": "Launch", "batch.py": "Batch"}


def state_of(file, name) -> set[str]:
    """The attributes that a class of the machine gives itself."""
    tree = tree_of(MACHINE / file)
    made = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    return {
        node.attr
        for node in ast.walk(made)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def touched(file, names):
    """Attributes of what is called by one of these names, and whether they are set."""
    owner = rf"\b(?:{'|'.join(names)})\b[\s)\\]*\."
    if not re.search(owner, file.read_text(encoding="utf-8")):
        return  # most files: their nodes need no look
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
            if owner in names:
                yield node.attr, not isinstance(node.ctx, ast.Load)


def test_only_the_machine_changes_its_warps_and_launches():
    """What rooms are handed they may look at: a warp's listeners are no one's else."""
    state = set().union(*(state_of(*owner) for owner in OWNERS.items()))
    names = {name.lower() for name in OWNERS.values()}

    broken = [
        f"{file.relative_to(ROOT)} sets `{attribute}` of the machine's"
        for file, _, _ in modules()
        if not file.is_relative_to(MACHINE)
        for attribute, is_set in touched(file, names)
        if is_set and attribute in state
    ]
    assert {"listeners", "live", "steps", "shared"} <= state
    assert [] == broken


def test_only_the_machine_and_machine_code_read_a_warp():
    """Judges hear events, tables of the language hold names: neither needs a warp."""
    state = state_of("warps.py", "Warp")
    native = MACHINE.parent / "native"

    broken = [
        f"{file.relative_to(ROOT)} reads `warp.{attribute}`"
        for file, _, _ in modules()
        if not file.is_relative_to(MACHINE) and not file.is_relative_to(native)
        for attribute, _ in touched(file, {"warp"})
        if attribute in state
    ]
    assert [] == broken


def test_a_file_has_at_most_400_lines_and_a_function_40():
    """A file that you cannot hold in your head is two files; lessons are read aloud.
    One of up to 500 says in its docstring why: "In one file: ...".
    """
    long = []
    folders = TOOL, HELPERS, ROOT / "tests", ROOT / "lessons", ROOT / ".make"
    for file in (file for folder in folders for file in folder.rglob("*.py")):
        if file.parent.name == "lessons" and file.name[0].isdigit():
            continue
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(ROOT)
        says_why = "In one file: " in (ast.get_docstring(tree_of(file)) or "")
        if len(text.splitlines()) > (500 if says_why else 400):
            long.append(f"{name}: {len(text.splitlines())} lines")
        for node in statements_of(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                if lines > 40:
                    long.append(f"{name}: `{node.name}` has {lines} lines")
    assert [] == long


def test_a_class_has_a_name_of_its_own():
    """Who looks for one, or reads of it in a traceback, finds one."""
    files = {}
    for file, *_ in modules():
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    assert {} == {name: where for name, where in files.items() if len(where) > 1}


def test_a_folder_has_at_most_20_modules():
    """A stranger finds any file in a look, or by its lesson's number."""
    folders = [f for p in (TOOL, HELPERS) for f in (p, *p.rglob("*")) if f.is_dir()]
    folders += [f for f in (ROOT / "tests").rglob("*") if f.is_dir()]
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder in folders
        if (count := len(list(folder.glob("[!0-9]*.py")))) > 20
    }
    assert {} == crowded, "give what belongs together there a folder of its own"


def test_a_package_is_silent_unless_it_is_a_front_door():
    """An `__init__` that is not empty is a door that people come in by."""
    speaking = {
        "/".join(parts[:-1])
        for file, _, parts in modules()
        if parts[-1] == "__init__" and file.read_text(encoding="utf-8").strip()
    }
    assert speaking <= set(DOORS)


def test_the_figure_of_the_rooms_shows_each_rule():
    """`python -m tests.setup.rooms_figure` draws docs/rooms.svg again."""
    shown = {box.name for box in rooms_figure.BOXES if not box.name.startswith("core/")}
    inside = {"emulator/judges/races"}  # a room within a room
    drawn_apart = {"emulator", "tool", "door"}  # the frame, and what is around all

    assert {rule.room for rule in RULES} - inside - drawn_apart == shown
    assert rooms_figure.figure() == rooms_figure.FILE.read_text(encoding="utf-8")
