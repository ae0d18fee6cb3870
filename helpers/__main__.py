"""`python -m helpers`: one page on what this machine can do, and what it lacks."""

import sys

from helpers.doctor import examine, page

OTHERS = (
    "python -m helpers: it takes no arguments, and nothing was checked; to run or to "
    "watch a program of your own, type `lanes {}`"
)


def main(arguments) -> int:
    """Show the page of this machine; the exit status."""
    if arguments:
        print(OTHERS.format(" ".join(arguments)), file=sys.stderr)
        return 2
    findings = examine()
    print(page(findings))
    return int(any(finding.fault for finding in findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
