"""The emulated device's attributes: an H200's, by the names of both targets."""

import json
import re
from pathlib import Path

import numba
import pytest
from numba import cuda

from helpers import device
from tests.paths import RECORDED

pytestmark = pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")

OF_A_HOST = {"PCI_BUS_ID", "PCI_DEVICE_ID", "GPU_PCI_SUBSYSTEM_ID", "HOST_NUMA_ID"}
NUMBAS_OWN = Path(*numba.__path__) / "cuda" / "cudadrv" / "enums.py"


def recorded():
    """What `cuDeviceGetAttribute` gave on an H200, by CUDA's names."""
    answers = json.loads((RECORDED / "attributes.json").read_text(encoding="utf-8"))
    return answers["attributes"]


def test_the_attributes_are_an_h200s():
    """All that depend on the GPU alone, not on the machine that it is in."""
    here, on_gpu = cuda.get_current_device(), recorded()
    names = set(on_gpu) - OF_A_HOST
    assert 140 < len(names)
    assert {n: on_gpu[n] for n in names} == {n: getattr(here, n) for n in names}


def numbas_names():
    """CUDA's numbers of the attributes that Numba's own target knows, by its names."""
    found = re.findall(
        r"^CU_DEVICE_ATTRIBUTE_(\w+) = (\d+)",
        NUMBAS_OWN.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {name: int(number) for name, number in found}


def test_numbas_own_names_are_known_too():
    """Such as MAX_THREADS_PER_MULTI_PROCESSOR, of which CUDA writes a word as one."""
    here = cuda.get_current_device()
    assert 90 < len(numbas_names())
    assert [] == [name for name in numbas_names() if not hasattr(here, name)]
    assert 2048 == here.MAX_THREADS_PER_MULTI_PROCESSOR
    assert (65536, 65000) == (
        here.MAX_TEXTURE_2D_HEIGHT,
        here.MAX_TEXTURE_2D_LINEAR_HEIGHT,
    )


def test_two_names_of_one_attribute_give_the_same():
    """Both targets count the attributes as CUDA does."""
    bindings = pytest.importorskip("cuda.bindings.driver")
    here, numbers = cuda.get_current_device(), recorded()
    prefix = "CU_DEVICE_ATTRIBUTE_"
    cudas = {int(m): m.name.removeprefix(prefix) for m in bindings.CUdevice_attribute}
    pairs = [(n, cudas[k]) for n, k in numbas_names().items() if n not in OF_A_HOST]
    expected = {name: numbers[cuda_name] for name, cuda_name in pairs}
    assert expected == {name: getattr(here, name) for name, _ in pairs}


def test_an_unknown_attribute_is_told_with_one_that_is_known():
    """By a name that looks like it."""
    with pytest.raises(AttributeError, match="did you mean `MULTIPROCESSOR_COUNT`"):
        _ = cuda.get_current_device().MULTIPROCESOR_COUNT
