"""`python -m helpers`: one page on what this machine can do, and what it lacks."""

import sys

from helpers.doctor import examine, page

findings = examine()
print(page(findings))
sys.exit(any(finding.fault for finding in findings))
