"""The process of a call, which ends whatever the program does."""

import asyncio
import time

import pytest

from tests.scripts.programs import written

pytest.importorskip("anyio", reason="anyio comes with the extra [mcp]")

from thirty_two_lanes.agents import processes  # noqa: E402

pytestmark = pytest.mark.slow
RACE = "shift[1, 64](np.ones(64, np.float32))\n"
MEGABYTES = 3000


def answer(folder, text, seconds=30):
    """What is answered about a program."""
    request = {
        "task": "check_file",
        "path": str(written(folder, text)),
        "arguments": [],
        "launches": None,
    }
    limits = {"seconds": seconds, "megabytes": MEGABYTES}
    return asyncio.run(processes.answer_to(request | limits))


def kinds(answered):
    """The kinds of its findings."""
    return {it["kind"] for it in answered["findings"]}


def test_a_program_that_does_not_end_is_interrupted(tmp_path):
    """What it had shown until then is reported."""
    answered = answer(tmp_path, RACE + "while True:\n    pass", seconds=4)

    assert answered["stopped"].startswith("ended after 4 seconds")
    assert answered["failed"] and "races" in kinds(answered)


def test_a_kernel_that_does_not_end_is_interrupted_with_its_line(tmp_path):
    """Its memory changes with each turn, so that no emulator can call it endless."""
    text = """
    @cuda.jit
    def endless(values):
        while values[0] > -1:
            values[0] += 1

    endless[1, 1](np.zeros(1))
    """
    answered = answer(tmp_path, text, seconds=4)

    assert "interrupted at line" in answered["stopped"]
    assert "`endless`" in answered["stopped"]


def test_one_that_hears_no_interrupt_is_ended(tmp_path, monkeypatch):
    """And what it had shown is not lost."""
    monkeypatch.setattr(processes, "GRACE_S", 4)
    deaf = """
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    shift[1, 64](np.ones(64, np.float32))
    while True:
        pass
    """
    start = time.monotonic()
    answered = answer(tmp_path, deaf, seconds=6)

    assert time.monotonic() - start < 30
    assert "did not react to an interrupt" in answered["stopped"]
    assert "races" in kinds(answered)


@pytest.mark.skipif("sys.platform != 'linux'", reason="the limit is Linux's")
def test_memory_has_a_limit(tmp_path):
    """Python says so in the program, as where there is no more."""
    text = f"""
    kept = bytearray({MEGABYTES // 4} * 2**20)
    print("kept", flush=True)
    more = bytearray({MEGABYTES} * 2**20)
    """
    answered = answer(tmp_path, text)

    assert 1 == answered["status"]
    assert answered["output"].startswith("kept\n")
    assert answered["output"].endswith("MemoryError")


def test_a_crash_is_told_from_an_end(tmp_path):
    """A process that is gone without a word."""
    answered = answer(tmp_path, "import os\nos._exit(9)")

    assert "its process ended with the status 9" in answered["stopped"]


def test_nothing_is_left_and_nothing_written_elsewhere(tmp_path):
    """Its temporary folder is its own, and is gone; a log without an end is cut."""
    text = """
    import tempfile, os
    where = os.path.join(tempfile.gettempdir(), "own.txt")
    print(open(where, "w").write("own"), where, flush=True)
    try:
        open("beside.txt", "w")
    except PermissionError as error:
        print(error, flush=True)
    """
    answered = answer(tmp_path, text)

    first, second = answered["output"].splitlines()
    number, where = first.split(" ", 1)
    assert "3" == number
    assert "may not write beside.txt" in second
    assert ["program.py"] == [it.name for it in tmp_path.iterdir()]
    assert not processes.Path(where).exists()
