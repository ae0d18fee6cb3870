"""Races within a warp, together: most come in dozens, of a few lines and one omission.

Lanes of a warp run apart whenever the hardware likes, since Volta; only `syncwarp`, and
what waits for lanes as it does, orders them. A race of the same lines between warps has
its own remedy, which orders the lanes, too, and is not told again.
"""

from typing import NamedTuple

from thirty_two_lanes.core.race import INDIVISIBLE, Race
from thirty_two_lanes.core.words import Finding, counted, lowered

SYNC = "`cuda.syncwarp()`"
NOUNS = "race within a warp", "races within a warp"


class WarpRaces(NamedTuple):
    """Races between lanes of one warp, for one array; the worst is the first."""

    races: tuple[Race, ...]

    @property
    def title(self) -> str:
        """All of them as a phrase."""
        worst = self.races[0]
        if len(self.races) == 1:
            return worst.title
        return (
            f"{counted(len(self.races), *NOUNS)} on {worst.space} `{worst.array}`, "
            f"{self._of(self.sites)}"
        )

    @property
    def sites(self) -> list:
        """Their lines, in order."""
        return sorted({site for race in self.races for site, _ in race.accesses})

    @property
    def remedy(self) -> str:
        """What would order the lanes."""
        remedies = {race.remedy for race in self.races}
        if len(remedies) == 1:
            return remedies.pop()
        alone = [race for race in self.races if race.first == race.second]
        waits = {race.advice and race.advice.wait for race in self.races}
        call, where = waits.pop() if len(waits) == 1 and None not in waits else ("", "")
        sync = f"`{call}`" if call else SYNC
        load_first = f"load into a variable first, then {sync}, then store"
        if len(self.sites) == 1:
            return f"{load_first.capitalize()}; in a loop, one more {sync} behind it"
        where = where or ", where all lanes of the warp come by"
        between = f"Put {sync} between each two of {self._of(self.sites)}{where}"
        again = [race for race in alone if race.kind == "RAW"]  # in another iteration
        if again or any(race.next_turn for race in self.races):
            between += ", and between the loop's iterations"
        at_once = {race.first for race in alone if race.kind == "WAR"}
        if not at_once:
            return between
        return f"{between}; on {self._of(sorted(at_once))} {load_first}"

    def _of(self, sites) -> str:
        """The lines of some sites in words; those of the kernel, where calls differ."""
        one_call = len({site.called_from for site in self.sites}) == 1
        own = (it.line if one_call else it.called_from or it.line for it in sites)
        lines = sorted(set(own))
        where = f"{sites[0].file}, " if sites[0].elsewhere and one_call else ""
        if len(lines) == 1:
            return f"{where}line {lines[0]}"
        between = " and " if len(lines) == 2 else " to "
        return f"{where}lines {lines[0]}{between}{lines[-1]}"

    @property
    def finding(self) -> Finding:
        """What a report says beside the first of their lines."""
        worst = self.races[0]
        if not _is_ordered(worst):
            return worst.finding
        same = NOUNS[0], worst.space, worst.array
        if len(self.races) == 1:
            return worst.finding._replace(same=same)
        return Finding(
            "wrong",
            self.sites[0],
            "races",
            self.title,
            f"{self.title}: {lowered(self.remedy)}.",
            sum(race.hazards for race in self.races),
            self.sites[-1],
            len(self.races),
            same,
            worst.accesses,
            self.remedy,
        )

    @property
    def facts(self) -> str:
        """All in one line, and the accesses of the first race."""
        worst = self.races[0]
        if len(self.races) == 1:
            return worst.facts
        _, *accesses = worst.facts.split("\n")
        return "\n".join([self.title, *accesses])


def is_within_warp(race) -> bool:
    """Is it a race between lanes that can give a wrong answer?"""
    return race.scope == "warp" and not race.same_value


def within_warps(races) -> list[WarpRaces]:
    """Those within a warp that no race between warps tells of: together for each
    array where barriers order them, and else each alone.
    """
    found = {}
    for number, race in enumerate(races):
        if is_within_warp(race) and not race.implied:
            bars = race.advice.sentence if race.advice and race.advice.bars else ""
            those = race.space, race.array, bars, _of_some_lanes(race)
            key = those if _is_ordered(race) else number
            found.setdefault(key, []).append(race)
    return [WarpRaces(tuple(group)) for group in found.values()]


def _of_some_lanes(race):
    """How some lanes of a warp wait, as the advice on a race says, None if all do."""
    wait = race.advice and race.advice.wait
    return wait if wait and f"`{wait.call}`" != SYNC else None


def _is_ordered(race) -> bool:
    """Would `syncwarp` alone order the two lanes?"""
    atomics = {race.first_kind, race.second_kind} & INDIVISIBLE
    return race.kind != "WAW" and not (race.update or atomics or race.second_cell)
