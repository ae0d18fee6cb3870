"""All labelled kernels that race or do not."""

from tests.specimens import race_kernels, race_kernels_atomics, race_kernels_global
from tests.specimens.labelled import cases_of

MODULES = race_kernels, race_kernels_atomics, race_kernels_global
CASES = [case for module in MODULES for case in cases_of(vars(module))]
