"""What docs/GRADING.md and its workflow tell instructors to type."""

import re
import shlex

import pytest
import yaml

from helpers.grading.__main__ import parser
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "GRADING.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / "docs" / "grading.yml").read_text(encoding="utf-8")
JOINED = (
    (PAGE + WORKFLOW).replace("\\\n", " ").replace('${SECRET:+--secret "$SECRET"}', "")
)
COMMANDS = re.findall(r"python -m helpers\.grading (.+)", JOINED)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_one(line):
    """Its names and options are those of the command line."""
    assert parser().parse_args(shlex.split(line)).command


def test_each_command_is_shown():
    """The five of them."""
    shown = {line.split()[0] for line in COMMANDS}
    assert {"release", "grade", "feedback", "report", "export"} == shown


def test_links_of_the_page_lead_somewhere():
    """Those to files here."""
    links = re.findall(r"\]\((?!http)([^)]+)\)", PAGE)
    assert links
    assert [] == [it for it in links if not (ROOT / "docs" / it).exists()]


def test_the_workflow_gives_a_pull_request_no_secret():
    """Its token reads, it is not kept, and the secret is for the instructor's run."""
    read = yaml.safe_load(WORKFLOW)
    assert {"contents": "read"} == read["permissions"]
    assert "pull_request_target" not in WORKFLOW.replace("# ", "")
    steps = read["jobs"]["grade"]["steps"]
    checkouts = [it["with"] for it in steps if "checkout" in it.get("uses", "")]
    assert [False] * 3 == [it["persist-credentials"] for it in checkouts]
    with_secrets = [it for it in steps if "secrets." in str(it)]
    assert ["grade"] == [it["name"] for it in with_secrets]
    assert "== 'workflow_dispatch' && secrets." in str(with_secrets)
    assert "--isolated" in with_secrets[0]["run"]


def test_the_workflow_pins_its_actions():
    """As those of this repository."""
    uses = re.findall(r"uses: (\S+)", WORKFLOW)
    assert uses
    assert [] == [it for it in uses if not re.search(r"@v\d+\.\d+\.\d+$", it)]
