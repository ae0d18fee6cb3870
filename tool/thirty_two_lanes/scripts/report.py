"""What the launches of a program did, as text, as a page and as data."""

import sys
from html import escape
from textwrap import indent

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.race import below, facts
from thirty_two_lanes.core.words import counted, lowered
from thirty_two_lanes.emulator.report.page import as_html
from thirty_two_lanes.emulator.report.text import as_text
from thirty_two_lanes.scripts.kinds import NOUNS
from thirty_two_lanes.scripts.ledger import HostCalls
from thirty_two_lanes.scripts.told import place_of_error, places_of

VERSION = 2  # of the JSON file, which report.schema.json beside this file describes
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em;
padding: 0 1em; color: #1f2328; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
.shape { overflow-x: auto } pre { white-space: pre-wrap }
@media (prefers-color-scheme: dark) {
body { color: #e6edf3; background: #0d1117 } }
"""


def level_of(entry, fail_on) -> str:
    """How bad it is: "wrong" fails the program, and "stopped" ended with an error."""
    if entry.kinds.intersection(fail_on):
        return "wrong"
    if entry.stops:
        return "stopped"
    if not entry.judged:
        return "not judged"
    levels = {sighting.finding.level for sighting in entry.seen.values()}
    if "wrong" in levels:
        return "doubtful"
    return "costly" if "costly" in levels else "fine"


def heading(entry) -> str:
    """The kernel, where it is, and how often it was launched."""
    if isinstance(entry, HostCalls):
        return f"{entry.kernel} ({entry.place})"
    many = launches(entry.launches)
    if entry.judged < entry.launches:
        many += f", of which {entry.judged:,} judged"
    others = len(entry.shapes) - 1
    more = f" and {others:,} more" if others else ""
    return f"{entry.kernel} ({entry.place}), {brackets(entry.shape)}{more}: {many}"


def brackets(shape) -> str:
    """A launch's blocks and threads as they are written."""
    return f"[{', '.join(map(_short, shape))}]"


def launches(number) -> str:
    """A number of launches."""
    return counted(number, "launch", "launches")


def _short(sizes) -> str:
    """Sizes along the axes, without the last ones that are 1."""
    axes = max((n + 1 for n, size in enumerate(sizes) if size > 1), default=1)
    return str(sizes[0]) if axes == 1 else str(tuple(sizes[:axes]))


def kernel_as_text(entry, fail_on) -> str:
    """The report of one kernel: the errors, its worst run, and what others had."""
    lines = [f"{level_of(entry, fail_on)}: {heading(entry)}"]
    if isinstance(entry, HostCalls):
        return "\n".join([*lines, *(indent(it, "  ") for it in _host_calls(entry))])
    lines += [indent(stop, "  ") for stop in _stops(entry)]
    if entry.run is not None:
        lines += [indent(as_text(entry.run), "  ")]
    lines += [indent(sentence, "  ") for sentence in _elsewhere(entry)]
    return "\n".join(lines)


def _host_calls(entry) -> list[str]:
    """What is wrong with calls of the host: both lines of each, and the remedy."""
    told = []
    for seen in entry.seen.values():
        often = f" ({seen.launches:,} times)" if seen.launches > 1 else ""
        finding = seen.finding
        said = facts(f"{finding.what}{often}", finding.accesses)
        told.append(wrapped(f"{said}\n{below(finding.remedy)}"))
    return told


def _stops(entry) -> list[str]:
    """The errors that ended launches."""
    return [
        f"{it.kind}: {it.sentence}"
        + (f"\n(in {launches(it.launches)})" if it.launches > 1 else "")
        for it in entry.stops.values()
    ]


def _elsewhere(entry) -> list[str]:
    """What other launches than the one that is shown had; or before all stopped. Each
    with its advice, if it is wrong.
    """
    told = []
    for seen in entry.elsewhere():
        where = ["in another launch", "in other launches"][seen.launches > 1]
        if entry.run is None:
            where = "before that"
        elif len(entry.shapes) > 1:
            where += f", {'as ' * (seen.launches > 1)}{brackets(seen.shape)}"
        said = f"{seen.finding.site.label}: {_said(seen.finding)}"
        told.append(wrapped(f"{where}: {said}"))
    return told


def _said(finding) -> str:
    """What a finding is and, if it is wrong, its advice, which may say both."""
    what, advice = finding.what, lowered(finding.advice)
    if finding.level != "wrong" or not advice:
        return what
    return advice if advice.startswith(what) else f"{what}\n  {finding.advice}"


def as_lines(ledger, fail_on) -> str:
    """The whole report, worst first, and what it comes to."""
    kernels = [kernel_as_text(entry, fail_on) for entry in ledger.worst_first()]
    return "\n\n".join([*kernels, total(ledger, fail_on)])


def total(ledger, fail_on) -> str:
    """What was launched and found, in one sentence."""
    entries = ledger.kernels.values()
    if not entries:
        more = f": {found(ledger, fail_on)}" if ledger.host_calls else ""
        return f"No kernel was launched{more}."
    number = sum(entry.launches for entry in entries)
    judged = sum(entry.judged for entry in entries)
    kernels = counted(len(entries), "kernel")
    some = "" if judged == number else f", {judged:,} of them judged"
    return f"{kernels}, {launches(number)}{some}: {found(ledger, fail_on)}."


def found(ledger, fail_on) -> str:
    """How much was found of what is wrong or fails the program, by kind."""
    counts = ledger.counts()
    kinds = [kind for kind in ledger.kinds if kind in NOUNS or kind in fail_on]
    nouns = {kind: (f"line of {kind}", f"lines of {kind}") for kind in kinds} | NOUNS
    said = [counted(counts[kind], *nouns[kind]) for kind in kinds if counts[kind]]
    return ", ".join(said) or "nothing wrong"


def as_page(ledger, fail_on, title) -> str:
    """The whole report as a page of its own."""
    parts = [_section(entry, fail_on) for entry in ledger.worst_first()]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1><p>{escape(total(ledger, fail_on))}</p>"
        f"{''.join(parts)}</main></body></html>\n"
    )


def _section(entry, fail_on) -> str:
    """One kernel on the page, or the host's calls."""
    if isinstance(entry, HostCalls):
        parts = [f"<pre>{escape(it)}</pre>" for it in _host_calls(entry)]
    else:
        parts = [f"<pre>{escape(stop)}</pre>" for stop in _stops(entry)]
        if entry.run is not None:
            parts += [as_html(entry.run)]
        parts += [f"<p>{escape(sentence)}</p>" for sentence in _elsewhere(entry)]
    name = f"{level_of(entry, fail_on)}: {heading(entry)}"
    region = f"class='shape' role='region' tabindex='0' aria-label='{escape(name)}'"
    return f"<h2>{escape(name)}</h2><div {region}>{''.join(parts)}</div>"


def as_data(ledger, fail_on, title, paths) -> dict:
    """The whole report as plain data, which JSON can hold; `paths` name its files."""
    counts = ledger.counts()
    return {
        "version": VERSION,
        "program": title,
        "failed": any(counts[kind] for kind in fail_on),
        "counts": {kind: counts[kind] for kind in ledger.kinds},
        "kernels": [
            _as_data(it, fail_on, paths)
            for it in ledger.worst_first()
            if not isinstance(it, HostCalls)
        ],
        "host": [
            _finding(sighting, paths)
            for entry in ledger.host_calls
            for sighting in entry.seen.values()
        ],
    }


def _as_data(entry, fail_on, paths) -> dict:
    return {
        "kernel": entry.kernel,
        "place": entry.place,
        "blocks": list(entry.shape[0]),
        "threads": list(entry.shape[1]),
        "shapes": [_shape(*it) for it in entry.shapes.items()],
        "launches": entry.launches,
        "judged": entry.judged,
        "level": level_of(entry, fail_on),
        "findings": [_finding(sighting, paths) for sighting in entry.seen.values()],
        "stops": [_stop(entry, it, paths) for it in entry.stops.values()],
        "worst": entry.run.to_dict() if entry.run is not None else None,
    }


def _shape(shape, launches) -> dict:
    """How often a kernel was launched with some blocks and threads."""
    blocks, threads = map(list, shape)
    return {"blocks": blocks, "threads": threads, "launches": launches}


def _stop(entry, stop, paths) -> dict:
    return {
        "kind": stop.kind,
        "sentence": stop.sentence,
        "launches": stop.launches,
        "places": [place_of_error(entry, stop, paths)._asdict()],
    }


def _finding(sighting, paths) -> dict:
    finding, site = sighting.finding, sighting.finding.site
    return {
        "kind": sighting.kind,
        "level": finding.level,
        "file": site.file,
        "line": site.line,
        "text": site.text,
        "what": finding.what,
        "advice": finding.advice,
        "count": finding.count,
        "launches": sighting.launches,
        "places": [place._asdict() for place in places_of(finding, paths)],
    }


def say(text, stream=None):
    """Print a text, with what the stream cannot show as question marks."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), file=stream, flush=True)
