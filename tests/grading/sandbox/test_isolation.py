"""What each level of isolation protects from: a test for each row of the table in
docs/GRADING.md.
"""

import os
import re
import socket
import struct
import subprocess

import psutil
import pytest

from helpers.grading import worker
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import Nursery
from tests.grading.asking import IMAGE, LEVEL, WHY_NOT, seen
from tests.paths import ROOT

needs_bubblewrap = pytest.mark.skipif(LEVEL != "bubblewrap", reason=WHY_NOT)
TRIED = """\
import os
def tried(what, *given):
    try: what(*given)
    except OSError as error: return type(error).__name__
    return \"\""""
NO_ID = 2**32 - 1  # an entry of access rights that names nobody


@pytest.fixture(scope="module")
def inside():
    """The warm process under bubblewrap, or in a container, that grading uses, too."""
    if LEVEL == "process":
        pytest.skip(WHY_NOT)
    with worker.nursery("collect", IMAGE) as warm:
        assert LEVEL == warm.level
        yield warm


def test_the_course_with_its_answers_is_not_there(inside):
    """Neither by its path nor by its name."""
    assert "False" == seen(inside, f"os.path.exists({str(ROOT / 'lessons')!r})")
    code = "import os\nfrom importlib.util import find_spec"
    assert "None" == seen(inside, "find_spec('lessons')", code)


def test_the_tests_and_the_marks_are_not_there(inside, tmp_path):
    """Other submissions lie where no path leads."""
    (tmp_path / "other.ipynb").write_text("an answer")
    for path in (tmp_path, ROOT / "tests"):
        assert "False" == seen(inside, f"os.path.exists({str(path)!r})"), path


def test_there_is_no_network(inside):
    """Not even to this machine itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = (
            "import socket\ntry:\n"
            f"    socket.create_connection(('127.0.0.1', {port}), 1); found = 'yes'\n"
            "except OSError: found = 'no'"
        )
        assert "no" == seen(inside, "found", code)
    devices = "[it.split(':')[0].strip() for it in list(open('/proc/net/dev'))[2:]]"
    assert "['lo']" == seen(inside, devices)


def test_no_process_but_its_own_can_be_seen(inside):
    """Process 1 is its parent, and whoever grades is nobody there."""
    found = seen(
        inside, "sorted(int(it) for it in os.listdir('/proc') if it.isdigit())"
    )
    assert len(eval(found)) <= 2
    assert str(os.getpid()) not in re.findall(r"\d+", found)


def test_it_runs_as_nobody_and_cannot_become_more(inside):
    """Not as the user who grades, and without the rights of root."""
    assert "65534" == seen(inside, "os.getuid()")
    status = seen(inside, "open('/proc/self/status').read()")
    assert re.search(r"NoNewPrivs:\s+1", status)
    none = re.findall(r"^Cap(?:Prm|Eff|Amb):\s+0+$", status, re.MULTILINE)
    assert 3 == len(none)
    assert "True" == seen(inside, "bool(tried(os.setuid, 0))", TRIED)
    assert "[]" == seen(inside, "[it for it in os.getgroups() if it != os.getgid()]")


@needs_bubblewrap
def test_whoever_grades_it_runs_as_another_user_of_the_machine(inside):
    """Root itself would own the machine's devices; a user has a namespace of users."""
    seen(inside, "0")
    its = psutil.Process(inside.process.pid).children(recursive=True)[:1]
    mine = os.getuid()
    whose = [user for it in its for user in it.uids()]
    assert [mine or isolation.NOBODY] * 3 == whose


def test_the_devices_of_the_machine_are_its_own(inside):
    """They are bound into the sandbox: rights and times would change on the machine."""
    code = f"""{TRIED}
def state(path):
    return [*os.stat(path)[:7], os.stat(path).st_mtime_ns]
found = []
for name in "null", "zero", "full", "random", "urandom", "tty":
    path = "/dev/" + name
    before = state(path)
    tries = {{
        "chmod": (os.chmod, path, before[0] & 0o777),
        "chown": (os.chown, path, os.getuid(), -1),
        "utime": (os.utime, path, (1, 1)),
        "link": (os.link, path, name),
        "remove": (os.unlink, path),
    }}
    found += [(name, it) for it, (what, *its) in tries.items() if not tried(what, *its)]
    found += [] if state(path) == before else [(name, "changed")]
"""
    assert "[]" == seen(inside, "found", code)


def test_what_is_written_to_nothing_is_gone_and_chance_is_to_be_had(inside):
    """Though no child may change these devices."""
    code = "open('/dev/null', 'w').write('x' * 9); found = open('/dev/null').read()"
    assert "''" == seen(inside, "repr(found)", code)
    assert "8" == seen(inside, "len(open('/dev/urandom', 'rb').read(8))")


PLACES = (
    *("/", "/grading", "/grading/course", "/grading/course/helpers", "/usr", "/dev"),
    *("/dev/shm", "/proc/sys", isolation.sys.prefix, isolation.sys.base_prefix),
)


def test_it_can_write_nowhere_but_in_its_folder(inside):
    """Else one submission could leave a module that the next one imports."""
    code = (
        f"import os\nfound = []\nfor place in {PLACES}:\n"
        "    try: open(place + '/left', 'w').close(); found.append(place)\n"
        "    except OSError: pass"
    )
    assert "[]" == seen(inside, "found", code)


def test_the_settings_of_the_machine_are_read_only(inside):
    """Where root grades, the kernel takes the child for root, too."""
    code = (
        "import os\nfound = []\n"
        "for it in ('sys/kernel/core_pattern', 'sys/vm/swappiness', "
        "'sys/kernel/sched_autogroup_enabled', 'self/oom_score_adj'):\n"
        "    try: os.close(os.open('/proc/' + it, os.O_WRONLY)); found.append(it)\n"
        "    except OSError: pass"
    )
    if LEVEL == "container":
        code = code.replace(", 'self/oom_score_adj'", "")
    assert "[]" == seen(inside, "found", code)


def test_what_it_leaves_beside_its_folder_is_gone_for_the_next(inside):
    """Its folder's parent can be written to, and is on nobody's path."""
    code = "import os; open('../left.py', 'w').write('evil = 1')"
    assert "True" == seen(inside, "os.path.exists('../left.py')", code)
    assert "False" == seen(inside, "os.path.exists('../left.py')")
    assert "False" == seen(
        inside, "os.path.dirname(os.getcwd()) in __import__('sys').path"
    )


def test_what_it_does_to_the_folder_of_all_is_undone(inside):
    """Else the next submission has no folder, or finds something there."""
    acl = struct.pack("<I" + 3 * "HHI", 2, 1, 0, NO_ID, 4, 0, NO_ID, 32, 0, NO_ID)
    state = "oct(os.stat('..').st_mode), oct(os.stat('.').st_mode), os.listxattr('..')"
    found = f"(os.getppid(), {state})"
    fresh = seen(inside, found)
    for code in (
        "os.chmod('..', 0o555)",
        "os.chmod('..', 0)",
        "os.setxattr('..', 'user.left', b'an answer')",
        f"os.setxattr('..', 'system.posix_acl_default', {acl!r})",
        "os.mkdir('../a'); os.mkdir('../a/b'); os.chmod('../a', 0); os.chmod('..', 0)",
    ):
        seen(inside, "0", f"import os\ntry: {code}\nexcept OSError: pass")
        assert fresh == seen(inside, found), code


def test_its_parent_cannot_be_read_or_traced(inside):
    """The next submission is run by a copy of that process, whose pipes the grader
    reads.
    """
    code = (
        "import os, ctypes\nfound = []\n"
        "for name in ('mem', 'environ', 'maps', *(f'fd/{n}' for n in range(999))):\n"
        "    for process in (1, os.getppid()):\n"
        "        try: open(f'/proc/{process}/{name}', 'rb'); found.append(name)\n"
        "        except OSError: pass\n"
        "trace = ctypes.CDLL(None, use_errno=True).ptrace\n"
        "found.append(trace(16, os.getppid(), 0, 0))"
    )
    assert "[-1]" == seen(inside, "found", code)


def test_its_files_have_a_limit_together(inside):
    """However many they are."""
    code = (
        "import os\ntry:\n    for i in range(99):\n"
        "        open(str(i), 'wb').write(bytes(2**20))\n"
        "except OSError as error: found = error.strerror"
    )
    assert "No space left on device" == seen(inside, "found", code)
    assert "['x']" == seen(inside, "os.listdir('.')", "import os; open('x', 'w')")


def test_memory_that_no_process_shows_is_not_to_be_had(inside):
    """Zeros that processes share are held until the last one ends, seen or not."""
    if LEVEL == "container":
        pytest.skip("a container's memory is limited as a whole")
    code = """\
import mmap, os
found = []
for what in (lambda: -1, lambda: os.open("/dev/zero", os.O_RDWR)):
    try: mmap.mmap(what(), 4096)
    except OSError: found.append("refused")"""
    assert "['refused', 'refused']" == seen(inside, "found", code)


@needs_bubblewrap
def test_the_judge_reads_courses_and_writes_nowhere(tmp_path):
    """No other folder of this machine, and no network."""
    (tmp_path / "other.ipynb").write_text("an answer")
    code = f"""\
import os, socket, lessons.exercises
places = {[str(ROOT / "tests"), str(tmp_path), str(ROOT / "lessons")]}
print([os.path.exists(it) for it in places])
print([name for _, name in socket.if_nameindex()])
for it in places[2:] + ["/", "/tmp", "/grading"]:
    try: open(it + "/left", "w")
    except OSError: print("no", end=" ")
"""
    expected = "[False, False, True]\n['lo']\nno no no no"
    assert expected == told_by_judge(code)


@needs_bubblewrap
def test_the_judge_finds_courses_of_other_packages(tmp_path, monkeypatch):
    """On the path of whoever grades, with the modules beside them."""
    folder = tmp_path / "other_course"
    (folder / "other_course-1.0.dist-info").mkdir(parents=True)
    about = "[thirty_two_lanes.exercises]\ncourse = other_course\n"
    (folder / "other_course-1.0.dist-info" / "entry_points.txt").write_text(about)
    (folder / "other_course.py").write_text("from beside import FOUND")
    (folder / "beside.py").write_text("FOUND = 3")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(folder)
    code = (
        "from importlib.metadata import entry_points\n"
        "points = entry_points(group='thirty_two_lanes.exercises')\n"
        "print(*(it.load().FOUND for it in points if it.value == 'other_course'))"
    )
    assert "3" == told_by_judge(code)


@needs_bubblewrap
def test_a_course_among_the_systems_files_is_not_there(monkeypatch):
    """As in `/usr/src/app`, where images put it: its packages alone are seen there."""
    monkeypatch.setattr(isolation, "SYSTEM", (*isolation.SYSTEM, str(ROOT)))
    code = f"""\
import os, psutil
print(*(os.path.exists({str(ROOT)!r} + it) for it in ("/lessons", "/tests")))
try: open({str(ROOT / "left")!r}, "w")
except OSError: print("no")
"""
    assert "False False\nno" == told_by("collect", code)
    assert "True False\nno" == told_by("judge", code)


def test_what_a_submission_could_read_nevertheless_is_named(tmp_path, monkeypatch):
    """An environment that is the course's own folder, and marks among what is seen."""
    app, system = tmp_path / "app", tmp_path / "usr"
    app.mkdir()
    monkeypatch.setattr(isolation, "SYSTEM", (str(tmp_path / "link"),))
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr(isolation, "courses", lambda: [str(app / "lessons")])
    its = [str(app / ".venv")]
    monkeypatch.setattr(isolation, "packages", lambda: its)
    assert [] == isolation.exposed([app / "marks"])
    inside = str(app / ".venv" / "marks")
    assert [(inside, its[0])] == isolation.exposed([inside])
    seen = str(tmp_path / "link")
    assert [(str(system), seen)] == isolation.exposed([system])
    its[0] = str(app)
    assert [(str(app), str(app))] == isolation.exposed([])


def told_by_judge(code):
    """What a program prints where the judge runs."""
    return told_by("judge", code)


def told_by(kind, code):
    """What a program prints in a sandbox of a kind."""
    command = isolation.command(kind, "bubblewrap")
    program = [*command[: command.index("-B")], "-c", code]
    environment = isolation.environment(kind, "bubblewrap")
    run = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert "" == run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("here, level", [(True, "bubblewrap"), (False, "process")])
def test_the_judge_of_a_container_s_answers_is_in_none(monkeypatch, here, level):
    """The image lacks the course; bubblewrap is used where it is there."""
    monkeypatch.setattr(isolation, "has_bubblewrap", lambda: here)
    assert level == Nursery("judge", "an/image").level
    assert "container" == Nursery("collect", "an/image").level


def test_each_level_is_a_row_of_the_documentation():
    """With the word that the grader prints."""
    page = (ROOT / "docs" / "GRADING.md").read_text(encoding="utf-8")
    for level in isolation.LEVELS:
        assert f"`{level}`" in page


@pytest.mark.slow
def test_the_container_is_given_no_network_and_no_rights():
    """What is asked of Docker; asking.py says how to see that it obeys."""
    line = " ".join(isolation.command("collect", "container", "an/image"))
    options = "--network none", "--read-only", "--cap-drop ALL", "--ipc none"
    for option in (*options, "--init=false"):
        assert option in line
    assert "an/image python -P -B -m" in line
    assert f"{ROOT}/helpers:" in line
    assert str(ROOT / "lessons") not in line


@pytest.mark.slow
def test_without_isolation_the_grader_says_so_loudly(monkeypatch):
    """The level is chosen by what starts here."""
    monkeypatch.setattr(isolation, "has_bubblewrap", lambda: False)
    assert "process" == isolation.level_of()
    assert "NOT ISOLATED" in isolation.LEVELS["process"]
    assert "container" == isolation.level_of("an/image")
