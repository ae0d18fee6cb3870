"""Kernels that are copies of one warm process, which has loaded what notebooks import
and has drawn a figure: a build and its tests start one for each notebook.

    python -m lessons.publishing.warm

Each line that it reads, of JSON, is a kernel's arguments, environment and folder, and
it answers with the number of the process that has become it. It ends with its parent.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import EntryPoint
from io import BytesIO

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from lessons.publishing.errors import LessonError

NAME = "warm"
# in which the kernels of one environment may differ
OWN = {"PYTHONSTARTUP", "IPYTHONDIR", "PYTEST_CURRENT_TEST"}
# read while modules are loaded, so that a copy cannot have its own
LOADED_WITH = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}

templates = {}  # by environment


def metadata():
    """What a kernel's specification says, so that its process is a copy: nothing where
    the system copies no process.
    """
    if not hasattr(os, "fork"):
        return {}
    factory = KernelProvisionerFactory.instance()
    place = EntryPoint(NAME, f"{__name__}:Warm", factory.GROUP_NAME)
    factory.provisioners[NAME] = place
    return {"kernel_provisioner": {"provisioner_name": NAME}}


class Warm(LocalProvisioner):
    """Starts a kernel as a copy of the warm process of its environment."""

    async def launch_kernel(self, cmd, *, env, cwd, **_):
        shared = {name: it for name, it in env.items() if name not in OWN}
        template = template_of(frozenset((shared | LOADED_WITH).items()))
        asked = {"arguments": cmd[3:], "env": env | LOADED_WITH, "cwd": cwd}
        self.process = Copy(template, asked)
        self.pid = self.pgid = self.process.pid
        self.cwd = cwd
        return self.connection_info


def template_of(environment):
    """The warm process of an environment, another one if it has ended. The kernels of
    one that nobody holds any more would end with it.
    """
    known = templates.get(environment)
    if known is None or known.poll() is not None:
        known = templates[environment] = started(dict(environment))
    return known


def started(env):
    """A process that warms up."""
    command, pipe = [sys.executable, "-m", __name__], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env, text=True)


class Copy:
    """What a `Popen` is to Jupyter, of a process that the warm one has started."""

    stdin = stdout = stderr = None

    def __init__(self, template, asked):
        print(json.dumps(asked), file=template.stdin, flush=True)
        answer = template.stdout.readline()
        if not answer:
            raise LessonError("no kernel: what all of them import ended with an error")
        self.pid = int(answer)

    def poll(self):
        """None while it runs, then 0: nobody knows how it ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll

    def send_signal(self, number):
        """Send it a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def serve(lines, answers):
    """Start a copy for each line; return what is asked of this process, if it is one,
    and None at the end.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who has ended is gone
    for line in lines:
        if not (process := os.fork()):
            return json.loads(line)
        print(process, file=answers, flush=True)


def warm_up():
    """Load what kernels and notebooks do, and draw a figure."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # read by the next import
    import ipykernel.kernelapp  # noqa: F401
    from matplotlib import pyplot

    import helpers

    for name in helpers.__all__:
        getattr(helpers, name)
    pyplot.figure().savefig(BytesIO())
    pyplot.close()
    gc.collect()
    gc.freeze()


def become(arguments, env, cwd):
    """Be the kernel that is asked for, in a session of its own."""
    from ipykernel.kernelapp import launch_new_instance

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(cwd)
    launch_new_instance(arguments)


if __name__ == "__main__":
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a kernel prints is no answer
    warm_up()
    if asked := serve(sys.stdin, told):
        become(**asked)
