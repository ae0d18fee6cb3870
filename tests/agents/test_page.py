"""docs/AGENTS.md tells what an agent did: it is done again, in the page's words."""

import json
import re

import numpy as np
import pytest

from tests.paths import ROOT
from thirty_two_lanes.agents.tasks import TASKS

PAGE = (ROOT / "docs/AGENTS.md").read_text(encoding="utf-8")
EXAMPLE = PAGE[PAGE.index("## An example") :]
UPDATE = """\
        if t < step:
            tile[t] += tile[t + step]
        step //= 2
"""


def blocks(language):
    """The example's blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", EXAMPLE, re.DOTALL)


def holds(told, real):
    """Is what is told part of what was answered? Of a list, its beginning."""
    if isinstance(told, dict):
        return all(name in real and holds(it, real[name]) for name, it in told.items())
    if isinstance(told, list):
        return len(told) <= len(real) and all(map(holds, told, real))
    return told == real


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """A function that checks a source with the page's arguments, as the page does."""
    monkeypatch.chdir(tmp_path)
    source, out = json.loads(blocks("json")[0])

    def check(text, size=source["shape"]):
        arguments = [{**source, "shape": size}, out]
        launch = {"kernel": None, "blocks": 2, "threads": 128, "shared_bytes": 0}
        answer = TASKS["check_kernel"](
            print, source=text, arguments=arguments, **launch
        )
        answer["outputs"] = answer["outputs"][1:]  # the page shows `out` alone
        return answer

    return check


@pytest.mark.slow
def test_the_page_tells_what_happened(checked):
    """Each edit follows the advice before it, and each answer is the real one."""
    _, first, beyond = map(json.loads, blocks("json"))
    racy, better = blocks("python")
    lines = racy.splitlines(keepends=True)
    one_barrier = "".join([*lines[:11], "    cuda.syncthreads()\n", *lines[11:]])
    fine = one_barrier.replace(UPDATE, better)
    guard = re.search(r"`(tile\[t\] = .* else .*)`", EXAMPLE)[1]
    guarded = fine.replace("tile[t] = values[i]", guard)

    assert holds(first, checked(racy))
    half, whole = checked(one_barrier), checked(fine)
    for answer, failed in ((half, True), (whole, False)):
        assert f'"{answer["summary"]}"' in EXAMPLE
        assert failed == answer["failed"]
        means = np.arange(256).reshape(2, 128).mean(axis=1)
        assert means.tolist() == answer["outputs"][0]["first"]
        assert ", ".join(map(str, means)).replace(", ", " and ") in EXAMPLE
    assert holds(beyond, checked(fine, 200))
    last = checked(guarded, 200)
    assert not last["failed"]
    assert [63.5, 91.97] == np.round(last["outputs"][0]["first"], 2).tolist()
    assert f"72 numbers is {np.arange(128, 200).mean()}" in EXAMPLE
