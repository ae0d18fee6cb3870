"""Gives the findings of a launch their advice, from the source of its kernel and of the
device functions that it calls.
"""

from dataclasses import replace
from functools import cached_property

from thirty_two_lanes.core.advice import missed, unwritten
from thirty_two_lanes.core.advice.indices import bounds
from thirty_two_lanes.core.advice.layout import Layout
from thirty_two_lanes.core.advice.races import remedies, together
from thirty_two_lanes.core.source import definition_of, file_name, with_called


class Layouts:
    """The layouts of a kernel and of its device functions, made when asked for."""

    def __init__(self, function, *facts):
        self.function, self.facts = function, facts

    @cached_property
    def known(self):
        """File and layout of each function; the kernel's own is the first."""
        found = []
        for function in with_called(self.function):
            definition = definition_of(function)
            if definition is not None:
                is_kernel = function is self.function
                layout = Layout(definition, is_kernel, *self.facts)
                found.append((file_name(function.__code__.co_filename), layout))
        return found

    def of(self, site):
        """The layout that has a site's line, None where its source is not at hand."""
        for file, layout in self.known:
            if file == site.file and site.line in layout:
                return layout
        return None

    def all_call(self, site) -> bool:
        """Do all threads come to the kernel's line from which a site is called?"""
        kernel = self.of_kernel
        statement = kernel and kernel.at(site.called_from or 0)
        path = statement and kernel.paths[statement]
        return bool(path) and kernel.whole(path, len(path) - 1)

    @property
    def of_kernel(self):
        """The kernel's own."""
        return next((it for _, it in self.known if it.is_kernel), None)


def advised(function, tables, stopped=None) -> dict:
    """The tables of a launch's judges, their findings with advice; `stopped` is the
    error that ended the launch.
    """
    found = tables.get("races", ()), tables.get("barriers"), tables.get("uninitialised")
    told = any(it.about for it in tables.get("warnings", ()))
    if not any(found) and not told and not getattr(found[0], "minor", ()):
        return tables
    rows = tables["divergence"].by_line
    split = {site.line for site, row in rows.items() if row.splits}
    lacking = [*getattr(stopped, "sites", ())]
    for it in tables["barriers"]:
        lacking += [it.site, *[it.elsewhere] * (not it.left)]
    lines = {it.line for it in lacking}
    ran = {line for site in rows for line in (site.line, site.called_from)}
    layouts = Layouts(function, lines, split, ran)
    tables = {**tables, "races": _of_races(layouts, tables["races"])}
    for name, told in (
        ("barriers", lambda it: {"advice": _on_barriers(layouts, [it.site, *lacking])}),
        ("uninitialised", lambda it: {"edit": _on_unwritten(layouts, it)}),
    ):
        found = tables[name]
        tables[name] = type(found)(it._replace(**told(it)) for it in found)
    warned = tables["warnings"]
    tables["warnings"] = type(warned)(
        it.advised(_on_index(layouts, it)) for it in warned
    )
    return tables


def _of_races(layouts, found):
    facts, count = remedies.Facts([*found, *found.minor]), len(found)
    made = [
        replace(it, advice=_on_race(layouts, it, facts))
        for it in [*found, *found.minor]
    ]
    joined = together.among_wider(made)
    if joined:
        facts.widen(joined)
        made = [
            replace(it, advice=_on_race(layouts, it, facts)) if it in joined else it
            for it in made
        ]
    made = together.with_one_sentence(made)
    wide, minor = type(found)(made[:count]), type(found)(made[count:])
    wide.minor = minor
    return wide


def _on_race(layouts, race, facts):
    """Advice on a race, in the kernel itself where its lines are of two calls."""
    ends = race.first, race.second
    if race.first.called_from == race.second.called_from:
        found = [layouts.of(it) for it in ends]
        layout = found[0] if found[0] is found[1] else None
        lines = [it.line for it in ends]
    else:
        layout = layouts.of_kernel
        lines = [it.called_from or it.line for it in ends]
    others = [it for _, it in layouts.known if it is not layout and not it.is_kernel]
    advice = layout and remedies.advice_on(race, layout, lines, facts, others)
    if advice and not layout.is_kernel and not layouts.all_call(race.first):
        return replace(advice, edit=None)
    return advice


def _on_barriers(layouts, sites):
    """Advice on the first of some barriers to which not all threads come."""
    for site in sites:
        layout = layouts.of(site)
        advice = layout and missed.advice_on(layout, site.line)
        if advice:
            return advice
    return None


def _on_unwritten(layouts, found):
    layout = layouts.of(found.site)
    if layout is None or layout.missed:
        return None
    return unwritten.edit_on(layout, found.array, found.space)


def _on_index(layouts, warning):
    """Advice on a warning about an index, None on any other."""
    layout = warning.about and layouts.of(warning.about.site)
    if layout is None:
        return None
    if isinstance(warning.about, bounds.Wrapping):
        return bounds.on_wrap(layout, warning.about)
    return bounds.on_short_grid(layout, warning.about)


def advice_on_barriers(function, sites):
    """Advice on barriers at which threads wait for others in vain."""
    layouts = Layouts(function, {it.line for it in sites})
    return _on_barriers(layouts, sites)


def advice_on_bounds(function, outside):
    """Advice on an index outside its array; None where the source is not at hand."""
    layout = Layouts(function).of(outside.site)
    return layout and bounds.advice_on(layout, outside)
