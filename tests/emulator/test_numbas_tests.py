"""Numba's own tests of its CUDA target, run through the emulator in a process of their
own.
"""

import json
import subprocess
import sys

import pytest

from helpers import device
from tests.paths import ROOT
from tests.specimens.kernels import BUILT_IN

pytestmark = [
    pytest.mark.skipif(BUILT_IN, reason="those of the package are what is run"),
    pytest.mark.skipif(device.has_gpu, reason="launches go to the GPU"),
]

# the modules that need no compiler of NVIDIA's, and what fails in them, since it asks
# for machine code, a driver or a linker, or for an exception of Numba's own
MODULES = {
    "test_alignment": "",
    "test_array_methods": "test_array_copy",
    "test_array_reductions": "",
    "test_complex": "",
    "test_complex_kernel": "",
    "test_enums": "",
    "test_exception": "",
    "test_frexp_ldexp": "",
    "test_iterators": "",
    "test_math": "",
    "test_numba_interop": "",
    "test_overload": "test_overload_attribute_target",
    "test_powi": "",
    "test_record_dtype": "",
    "test_reduction": "",
    "test_slicing": "",
    "test_sm": "test_invalid_array_type",
    "test_ufuncs": "",
    "test_userexc": "",
    "test_vector_type": "",
}
# most of the time; each function of theirs is a row of ours as well
ROW_BY_ROW = ("test_array_reductions", "test_complex", "test_math", "test_ufuncs")
# a quarter of the time: one long kernel makes vectors of every mix of shorter ones;
# `test_creation_readout`, which makes each vector type of scalars, is always asked
SLOW = ("test_fancy_creation_readout",)

RUN = """
import importlib, json, sys, unittest, warnings
from unittest.mock import MagicMock
warnings.simplefilter("ignore")
import helpers
# a package that Numba's tests import to read machine code, and that we do not have
texts = MagicMock(**{"Matcher.return_value.run.return_value": 0})
for part in ("", ".finput", ".matcher", ".options", ".parser"):
    sys.modules["filecheck" + part] = texts
from numba.cuda.tests import support
support.MemoryLeakMixin.setUp = support.MemoryLeakMixin.tearDown = lambda self: None
def cases(suite):
    for each in suite:
        yield from cases(each) if isinstance(each, unittest.TestSuite) else [each]
failed, (names, slow, wanted) = {}, map(json.loads, sys.argv[1:])
for name in names:
    module = importlib.import_module("numba.cuda.tests.cudapy." + name)
    result = unittest.TestResult()
    found = cases(unittest.defaultTestLoader.loadTestsFromModule(module))
    unittest.TestSuite(
        case for case in found if (case._testMethodName in slow) == wanted
    ).run(result)
    bad = result.failures + result.errors
    names = {getattr(t, "test_case", t)._testMethodName for t, _ in bad}
    failed[name] = [result.testsRun, *sorted(names)]
print(json.dumps(failed))
"""


def run(modules, slow):
    """By module: how many tests ran, and the names of those that failed."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(json.dumps, (modules, SLOW, slow))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def failed():
    """What the modules gave, in one process."""
    return run([name for name in MODULES if name not in ROW_BY_ROW], slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("module", [m for m in MODULES if m not in ROW_BY_ROW])
def test_the_emulator_passes_numbas_tests(module, failed):
    """All but those that no machine without CUDA can pass."""
    count, *names = failed[module]

    assert count
    assert MODULES[module].split() == names


@pytest.mark.slow
@pytest.mark.parametrize("module", ROW_BY_ROW)
def test_the_emulator_passes_numbas_tests_of_many_functions(module):
    """Each function with each type."""
    count, *names = run([module], slow=False)[module]

    assert count
    assert MODULES[module].split() == names


@pytest.mark.slow
def test_the_emulator_passes_numbas_slow_test():
    """Each vector type, made of scalars and of shorter vectors in every order."""
    assert {"test_vector_type": [len(SLOW)]} == run(["test_vector_type"], slow=True)
