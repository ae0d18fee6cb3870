"""Findings as SARIF 2.1.0 (Static Analysis Results Interchange Format, of OASIS), which
code scanning and editors read.

Both accesses of a race are related locations of its result, with what each thread does.
"""

from importlib.metadata import PackageNotFoundError, version
from urllib.parse import quote

from thirty_two_lanes.scripts.kinds import FAULTS, KINDS
from thirty_two_lanes.scripts.meanings import meanings

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


def as_sarif(found) -> dict:
    """A SARIF log of all that was found, as plain data, which JSON can hold."""
    driver = {
        "name": "Thirty-Two Lanes",
        "version": _version(),
        "rules": [_rule(kind) for kind in KINDS],
    }
    results = [_result(it) for it in found]
    run = {"tool": {"driver": driver}, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _version() -> str:
    """The tool's; it has none where it was not installed."""
    try:
        return version("thirty-two-lanes")
    except PackageNotFoundError:
        return "unknown"


def _rule(kind) -> dict:
    level = "error" if kind in FAULTS else "warning"
    return {
        "id": kind,
        "shortDescription": {"text": meanings()[kind]["means"]},
        "defaultConfiguration": {"level": level},
    }


def _result(it) -> dict:
    kernel = {"name": it.kernel, "kind": "function"}
    place = _location(it.places[0]) | {"logicalLocations": [kernel]}
    result = {
        "ruleId": it.kind,
        "ruleIndex": KINDS.index(it.kind),
        "level": it.severity,
        "message": {"text": it.message},
        "locations": [place],
    }
    accesses = [each for each in it.places if each.does]
    if accesses:
        result["relatedLocations"] = [
            {"id": number, **_location(each), "message": {"text": each.does}}
            for number, each in enumerate(accesses)
        ]
    return result


def _location(place) -> dict:
    """A place; of a file that lies elsewhere, its name alone is told."""
    file = {"uri": quote(place.path or place.file)}
    if place.path:
        file["uriBaseId"] = "%SRCROOT%"
    region = {"startLine": place.line, "snippet": {"text": place.text}}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}
