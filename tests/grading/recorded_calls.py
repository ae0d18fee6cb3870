"""Which system calls the course's answers make in the sandbox, and its judge.

    python -m tests.grading.recorded_calls 01 14

It grades the answers to some assignments, or to all, and the cells of `EVERYDAY`, under
`strace`, and prints each call that was made behind the filter: how often, and whether
it is in the list of `helpers/grading/sandbox/system_calls.py`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from helpers.grading import references
from helpers.grading.manifest import item_of
from helpers.grading.release import assignments
from helpers.grading.sandbox import isolation, system_calls
from helpers.grading.worker import end_nurseries, grade

EVERYDAY = (  # what notebooks do beside the course
    "import asyncio; await asyncio.sleep(0.01)",
    "import subprocess; subprocess.run('echo 1 | cat', shell=True)",
    "import concurrent.futures as it\n"
    "with it.ThreadPoolExecutor(4) as pool: list(pool.map(abs, range(99)))",
    "import os, pathlib, shutil, tempfile\n"
    "with tempfile.TemporaryDirectory() as inner:\n"
    "    one = pathlib.Path(inner, 'one'); one.write_text('1'); one.chmod(0o600)\n"
    "    shutil.copytree(inner, inner + '2'); shutil.move(one, 'two')\n"
    "    os.utime('two'); os.rename('two', 'one'); list(os.scandir('.'))",
    "import numpy as np\nnp.save('a', np.random.rand(9)); np.load('a.npy', 'r').sum()",
    "import time, datetime, random; time.sleep(0.01); datetime.datetime.now()",
    "import sqlite3; sqlite3.connect(':memory:').execute('select 1').fetchall()",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.savefig('a.png')",
)
# a line of strace's: a process, and its call, or the end of one that took longer
LINE = re.compile(r"(\d+) (?:<\.\.\. )?(\w+)(\(| resumed>)(.*)")
BEGINS = "PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {"


def main(names):
    """Grade under strace, and print what was recorded."""
    if os.environ.get("RECORDED"):
        return grade_answers(names)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        command = ["strace", "--follow-forks", "--quiet=all", "--output", str(log)]
        command += [sys.executable, "-m", "tests.grading.recorded_calls", *names]
        whole = os.environ | {"RECORDED": "1", "GRADING_AS_ROOT": "1"}
        subprocess.run(command, env=whole, check=True)
        calls = calls_in(log.read_text("utf-8", "replace").splitlines())
    known = system_calls.allowed(system_calls.column())
    for name, count in sorted(calls.items()):
        print(f"{name:24} {count:8,} {'' if name in known else 'REFUSED'}")


def grade_answers(names):
    """Grade without a sandbox, in which processes would have other numbers."""
    isolation.has_bubblewrap = lambda: False
    for _, _, tasks in assignments(names, None, ()):
        work = references.work_of([item_of(it) for it in tasks], None, "a secret")
        work = replace(work, cells=(*work.cells, *EVERYDAY), isolated=False)
        found = grade(work)
        lost = [row for row in found["exercises"] if not references.is_right(row)]
        if lost or found["cells"]:
            print(references.losses("these", lost, found))
    end_nurseries()


def calls_in(lines) -> Counter:
    """How often each call was begun by a child, or by what it started."""
    children, found = set(), Counter()
    for line in lines:
        if not (parts := LINE.match(line)):
            continue
        process, name, how, rest = parts.groups()
        if name == "prctl" and BEGINS in rest:
            children.add(process)
        elif process in children:
            found[name] += how == "("
            if name in ("clone", "vfork", "fork") and (
                new := re.search(r"= (\d+)$", rest)
            ):
                children.add(new[1])
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
