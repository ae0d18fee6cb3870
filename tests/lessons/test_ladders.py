"""The commands `lessons.ladders` and `lessons.sweep`, with clocks of our own."""

import ast
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from types import SimpleNamespace

import pytest

from helpers.measuring import store, timing
from lessons import baselines, sweep
from lessons import ladders as rooms
from lessons.baselines import lesson_kernels
from lessons.ladders import __main__ as ladders
from lessons.ladders import ladder, names
from lessons.publishing import rungs
from tests.paths import ROOT

TIMES_US = {"library": 200.0, "first": 400.0, "last": 100.0, "wrong": 1.0}


def works(bench):
    """A ladder of two rungs, one of which is wrong, and a library."""
    found = {
        name: (lambda name=name: LAUNCHED.append(name), lambda: True, SIZES)
        for name in ("library", "first", "last")
    }
    return found | {"wrong": (lambda: None, lambda: False, SIZES)}


SIZES, LAUNCHED = {"bytes": 10**6}, []
LADDER = SimpleNamespace(
    LADDERS={"of three": ("library", works)},
    SWEEP={"two": 2, "four": 4, "none": 0},
    sweep_work=lambda bench, what: works(bench)["first" if 4 // what < 2 else "last"],
)


def clock(bench, launch):
    """The time that a work of ours takes."""
    launch()
    return TIMES_US[LAUNCHED[-1]]


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """A GPU whose times we know, and one ladder."""
    synchronised = SimpleNamespace(Device=lambda: SimpleNamespace(synchronize=print))
    monkeypatch.setattr(baselines.Bench, "cupy", SimpleNamespace(cuda=synchronised))
    monkeypatch.setattr(baselines.Bench, "time_us", clock)
    monkeypatch.setattr(baselines.Bench, "versions", lambda bench: {"cuda": 13})
    monkeypatch.setattr(timing, "device", SimpleNamespace(name="A B"))
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    for module in ladders, sweep:
        monkeypatch.setattr(module, "device", SimpleNamespace(has_gpu=True, name="A B"))
        monkeypatch.setattr(module, "ladder", lambda name: LADDER)
        monkeypatch.setattr(module, "names", lambda: ["three"])
    sweep.work_of_library.cache_clear()


def test_a_ladder_is_a_share_of_its_library(gpu, capsys):
    """Half the rate is 50%; what is wrong is named and not timed."""
    assert 1 == ladders.main(["three"])

    said = capsys.readouterr()
    rows = {line.split()[0]: line for line in said.out.splitlines() if "µs" in line}
    assert set(rows) == {"library", "first", "last"}
    assert "50.0%" in rows["first"] and "200.0%" in rows["last"]
    assert "10 GB/s" in rows["last"] and "400.0–400.0" in rows["first"]
    assert "wrong: ValueError: the result is wrong" in said.err


def test_several_runs_have_a_median_and_a_spread(gpu, tmp_path, capsys, monkeypatch):
    """The last rung takes 100, 110 and 150 µs; the GPU is named first. All that is
    printed is recorded, and what was known of other ladders stays.
    """
    times = iter((100.0, 110.0, 150.0))
    compute = baselines.Bench.run

    def run(bench, works):
        TIMES_US["last"] = next(times)
        compute(bench, works)

    monkeypatch.setitem(TIMES_US, "last", 0)
    monkeypatch.setattr(baselines.Bench, "run", run)
    file = tmp_path / "a_b" / "ladders.json"
    store.write(file, {"ladders": {"four": {"runs": 5}}})

    ladders.main(["three", "--runs", "3"])

    first, *_, last = capsys.readouterr().out.strip().splitlines()
    assert first.startswith("A B, 20") and "cuda 13" in first
    assert last.split()[:2] == ["last", "110.0"] and "100.0–150.0" in last
    assert "181.8%" in last and "133.3–200.0%" in last
    known = store.read(file)["ladders"]
    of_three = known["three"]["titles"]["of three"]
    assert ({"runs": 5}, 3) == (known["four"], known["three"]["runs"])
    assert of_three["rungs"]["last"] == {
        "us": [100.0, 110.0, 150.0],
        "percent": [133.33, 181.82, 200.0],
        "bytes": 10**6,
    }
    assert "library" == of_three["library"]
    assert 3 * baselines.ROUNDS == known["three"]["launches"]


def test_a_variant_is_timed_beside_the_library(gpu):
    sweep.begin(threading.Lock())

    row = sweep.attempt(("three", "two"))

    assert (row["variant"], row["percent"], row["median_us"]) == ("two", 200.0, 100.0)


def test_a_variant_that_fails_says_why(gpu):
    sweep.begin(threading.Lock())

    row = sweep.attempt(("three", "none"))

    assert row == {"variant": "none", "error": row["error"]}
    assert "ZeroDivisionError" in row["error"] and "none: Zero" in sweep.said(row)


def test_a_sweep_is_written_with_what_it_was_measured_on(gpu, tmp_path):
    sweep.write("three", [{"variant": "two", "percent": 200.0}])

    written = store.read(tmp_path / "a_b" / "sweep_three.json")
    assert written["command"] == "python -m lessons.sweep three"
    assert (written["gpu"], written["library"]) == ("A B", "library")
    assert written["variants"] == [{"variant": "two", "percent": 200.0}]


@pytest.mark.parametrize("command", [ladders, sweep])
def test_without_a_gpu_nothing_is_climbed(command, gpu, monkeypatch, capsys):
    monkeypatch.setattr(command, "device", SimpleNamespace(has_gpu=False))

    assert 1 == command.main(["three"])
    assert "there is none" in capsys.readouterr().err


def test_a_ladder_is_found_by_its_file(tmp_path, monkeypatch):
    """In the order of the lessons, whatever the names; nothing else is to be edited."""
    for name, lesson in (("apples", "29"), ("zebras", "22"), ("pears", "24")):
        (tmp_path / f"{name}.py").write_text(f'LESSON = "{lesson}"\nLADDERS = {{}}\n')
    (tmp_path / "__main__.py").touch()
    monkeypatch.setattr(rooms, "FOLDER", tmp_path)
    monkeypatch.setattr(rooms, "__path__", [str(tmp_path)])
    for name in ("apples", "zebras", "pears"):
        monkeypatch.delitem(sys.modules, f"lessons.ladders.{name}", raising=False)

    assert ["zebras", "pears", "apples"] == rooms.names()


def lacking(name):
    """What a ladder lacks, each as a sentence."""
    module, file = ladder(name), f"lessons/ladders/{name}.py"
    climbed = store.read(store.file_of(store.USUAL, "ladders"))["ladders"]
    rungs = climbed.get(name, {"titles": {}})["titles"]
    known, lesson = getattr(module, "LADDERS", {}), getattr(module, "LESSON", "missing")
    if not [*(ROOT / "lessons").glob(f"{lesson}_*.py")]:
        yield f"{file}: LESSON is {lesson}, which is the number of no lesson"
    if not known:
        yield f"{file}: LADDERS is missing: titles, each with its library and its works"
    if hasattr(module, "SWEEP") != hasattr(module, "sweep_work"):
        yield f"{file}: SWEEP and sweep_work go together"
    for title in known.keys() & rungs.keys():
        if (library := known[title][0]) not in rungs[title]["rungs"]:
            yield f"{file}: {title!r} is held to {library!r}, which nobody recorded"
    for line, asked in names_asked(ROOT / file, vars(module)):
        if asked not in lesson_kernels(lesson):
            yield f"{file}, line {line}: lesson {lesson} defines no `{asked}`"
    for title in known.keys() - rungs.keys():
        yield (
            f"{file}: nothing is recorded of {title!r}; on a GPU, run "
            f"`python -m lessons.ladders {name} --runs 3`"
        )


def test_a_name_is_recorded_once():
    """`baseline` finds a work by its name alone: among the rungs of all ladders and
    what `lessons.baselines` records, there is one of it.
    """
    for folder in store.FOLDER.glob("nvidia_*"):
        climbed = store.read(folder / "ladders.json").get("ladders", {}).values()
        titles = (it for found in climbed for it in found["titles"].values())
        rungs = [name for title in titles for name in title["rungs"]]
        others = store.read(folder / "baselines.json").get("baselines", {})

        twice = [name for name, n in Counter([*rungs, *others]).items() if n > 1]
        assert [] == twice, folder.name


def names_asked(path, module):
    """The lines at which a ladder asks its lesson for a name, and the name: a constant,
    or what a comprehension takes from a table.
    """
    tree = ast.parse(path.read_text("utf-8"))
    seen = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.DictComp, ast.ListComp, ast.GeneratorExp)):
            for it in filter(by_a_variable, ast.walk(node)):
                each = ast.Expression(ast.ListComp(it.slice, node.generators))
                code = compile(ast.fix_missing_locations(each), path, "eval")
                seen[it] = eval(code, module, defaultdict(int, module))
    for it in filter(asks, ast.walk(tree)):
        alone = [ast.unparse(it.slice).strip("'")]
        yield from ((it.lineno, name) for name in seen.get(it, alone))


def asks(node) -> bool:
    """Does it take a kernel from those of a lesson?"""
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("ours")


def by_a_variable(node) -> bool:
    return asks(node) and not isinstance(node.slice, ast.Constant)


@pytest.mark.parametrize("name", names())
def test_a_ladder_has_its_lesson_its_rungs_and_their_recordings(name):
    """What is missing is named, with where to write it."""
    told = [*lacking(name)]

    assert [] == told, "\n".join(told)


def test_the_page_of_ladders_is_made_of_what_was_recorded():
    """`python -m lessons.build` writes it; numbers are never pasted."""
    page = (ROOT / rungs.PAGE).read_text("utf-8")

    assert rungs.with_rungs(page) == page


def test_a_ladder_that_the_page_does_not_have_is_added(tmp_path, monkeypatch):
    """At its end, with its own GPU and day where those differ."""
    versions = {"numba": "1", "cuda": 13020, "driver": 13000}
    titles = {"of 2": {"rungs": {"last": {"us": [1, 2000.04, 3], "percent": []}}}}
    climbed = {
        name: {"date": day, "versions": versions, "titles": titles}
        for name, day in (("scan", "2027-01-01"), ("stencil", "2027-01-02"))
    }
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    store.write(store.file_of("A B", "ladders"), {"ladders": climbed})

    before = "# Rungs\n\nProse.\n"

    page = rungs.with_rungs(before, "A B")

    assert page.startswith(f"{before}\n<!-- ladders: begin -->\n- scan: A B, ")
    assert "- stencil: A B, 2027-01-02, numba 1, CUDA 13.2.\n" in page
    assert "## Stencil: lesson 28\n\n### Of 2\n\n```text\nlast" in page
    assert f"{'last':<44}    2,000.0 µs         1.0–3.0\n" in page


@pytest.mark.slow
def test_what_records_on_a_gpu_needs_nothing_that_builds_notebooks():
    """A machine with a GPU has Numba and CuPy, and no Jupyter."""
    absent = "import sys; sys.modules |= dict.fromkeys(('jupytext', 'nbformat'))\n"
    commands = "ladders.__main__", "sweep", "record", "baselines"
    code = absent + "".join(f"import lessons.{name}\n" for name in commands)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )

    assert "" == done.stderr
