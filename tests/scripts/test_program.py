"""Somebody's program runs as Python would run it."""

import sys
import threading

import pytest

from tests.scripts.programs import run
from thirty_two_lanes.scripts.program import NoProgram, run_program


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """The path and the modules of the process, after a program changed them."""
    monkeypatch.setattr(sys, "path", sys.path[:])


def program(folder, text):
    """A file with a program that holds no kernel."""
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_program_finds_what_python_gives_it(tmp_path, capsys):
    """Its name, its arguments, its folder and its neighbours; ours afterwards."""
    (tmp_path / "beside_it.py").write_text("HERE = 7")
    file = program(
        tmp_path,
        "import sys, beside_it\n"
        "print(__name__, sys.argv[1:], sys.path[0], beside_it.HERE)\n"
        "print(sys.modules['__main__'].__file__ == __file__ == sys.argv[0])",
    )
    argv, path = sys.argv, sys.path[:]

    assert 0 == run_program(str(file), ["--a", "b"])

    expected = f"__main__ ['--a', 'b'] {tmp_path} 7\nTrue\n"
    assert expected == capsys.readouterr().out
    assert (argv, path) == (sys.argv, sys.path)


def test_a_module_runs_as_with_m(tmp_path, capsys, monkeypatch):
    """A package's `__main__`, too."""
    package = tmp_path / "of_somebody"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print(sys.argv[1:])")
    monkeypatch.syspath_prepend(tmp_path)

    assert 0 == run_program("of_somebody", ["x"], module=True)
    assert "['x']\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    "ending, status, said",
    [
        ("", 0, ""),
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit('no data')", 1, "no data\n"),
    ],
)
def test_the_exit_status_is_the_programs(tmp_path, capsys, ending, status, said):
    """A number, nothing, or a text that is told."""
    assert status == run_program(str(program(tmp_path, ending)))
    assert said == capsys.readouterr().err


@pytest.mark.slow
def test_a_traceback_begins_at_the_programs_first_line(tmp_path):
    """No frame of ours comes before it."""
    file = program(tmp_path, "def f():\n    1 / 0\nf()\n")
    line = f"from thirty_two_lanes.scripts.program import *; run_program({str(file)!r})"

    expected = run(file, cwd=tmp_path)
    actual = run("-c", line, cwd=tmp_path)

    assert expected.stderr == actual.stderr
    assert 2 == actual.stderr.count("File")


def test_threads_of_others_are_not_waited_for(tmp_path):
    """Of a test runner, say: they may go on for ever."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    timer = threading.Timer(5, end.set)
    timer.daemon = True
    timer.start()
    try:
        run_program(str(program(tmp_path, "")), [])
        assert other.is_alive()
    finally:
        end.set()


def test_threads_that_a_program_leaves_are_waited_for(tmp_path, capsys):
    """As Python waits for them at its end."""
    file = program(
        tmp_path,
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('done'))).start()",
    )

    run_program(str(file))

    assert "done\n" == capsys.readouterr().out


def test_ctrl_c_comes_out(tmp_path):
    """Who runs the program has a report to make."""
    with pytest.raises(KeyboardInterrupt):
        run_program(str(program(tmp_path, "raise KeyboardInterrupt")))


def test_a_program_that_is_missing_is_a_sentence(tmp_path):
    """It is not looked for elsewhere."""
    with pytest.raises(NoProgram, match="there is no file nothing.py"):
        run_program("nothing.py")
