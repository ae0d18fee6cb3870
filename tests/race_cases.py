"""All labelled kernels that race or do not."""

import race_kernels
import race_kernels_atomics
import race_kernels_global
from labelled import cases_of

MODULES = race_kernels, race_kernels_atomics, race_kernels_global
CASES = [case for module in MODULES for case in cases_of(vars(module))]
