"""Reads what compute-sanitizer writes, and asks a recording of it for verdicts."""

import linecache
import re
from collections import Counter

TOOLS = "racecheck", "memcheck", "synccheck", "initcheck"
NOTHING = "nothing"
SEVERITIES = NOTHING, "info", "warning", "error"
OTHER = re.compile(
    r"COMPUTE-SANITIZER|SUMMARY|Program hit|Target application|LEAK|No attachable|"
    r"Error: process|Internal|Saved host|Host Frame|Unable to launch|^\s*$"
)
ACCESS = re.compile(r"(Read|Write|Atomic\w*) access at (.*)", re.IGNORECASE)
PLACE = re.compile(r"([\w./<>-]+\.py):(\d+)")


def records(log):
    """The reports of a log, each as its lines without their margin."""
    found = []
    for line in log.splitlines():
        if not line.startswith("========="):
            continue
        text = line.removeprefix("=========")
        if text.startswith("     ") and found:
            found[-1].append(text.strip())
        elif text.strip():
            found.append([text.strip()])
    return [lines for lines in found if not OTHER.search(lines[0])]


def by_kernel(log, names):
    """The reports by the kernel that they name; under "" those that name none."""
    longest = sorted(names, key=len, reverse=True)
    found = {}
    for lines in records(log):
        text = "\n".join(lines)
        name = next((name for name in longest if name in text), "")
        found.setdefault(name, []).append(lines)
    return found


def counted_reports(reports):
    """What is kept of reports: equal ones once, with their number."""
    counts = Counter()
    for lines in reports:
        hazards = re.search(r"\[(\d+) hazards?\]", "\n".join(lines))
        what, severity, places = summary(lines)
        counts[what, severity, places] += int(hazards[1]) if hazards else 1
    return [
        {"what": what, "severity": severity, "places": list(places), "count": count}
        for (what, severity, places), count in sorted(counts.items())
    ]


def summary(lines):
    """What a report says, how bad it is, and the lines of source that it names."""
    title = lines[0]
    severity = re.match(r"(error|warning|info)\b", title, re.IGNORECASE)
    what = re.sub(r" (between|at|with) .*", "", title)
    places = []
    for line in lines:
        access = ACCESS.search(line)
        place = PLACE.search(line)
        if place and (access or not places):
            kind = f"{access[1].lower()}: " if access else ""
            source = linecache.getline(place[1], int(place[2])).strip()
            places.append(kind + (source or f"line {place[2]}"))
    return what, severity[0].lower() if severity else "error", tuple(places)


def verdict(entry, tool) -> str:
    """The worst that a tool reports of a kernel: nothing, info, warning or error."""
    if tool not in entry.get("tools", {}):
        return "not run"
    kept = entry["tools"][tool]
    if kept.get("ended") == "timeout":
        return "timeout"
    return max(
        (report["severity"] for report in kept["reports"]),
        key=SEVERITIES.index,
        default=NOTHING,
    )
