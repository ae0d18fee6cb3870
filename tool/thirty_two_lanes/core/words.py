"""How reports say what they found: findings, and numbers in sentences.

Findings have three levels: "wrong" can give wrong answers, "costly" costs at least 1.5
times the ideal, "slight" less, or is a race in which all store the same. Costs are
compared as lost passes of a warp: a wavefront, four sectors, an instruction's 32 idle
lanes. Not modelled: what a pass costs in time.
"""

from typing import NamedTuple

COSTLY = 1.5  # times the ideal


class Finding(NamedTuple):
    """What is wrong or costs too much on a line; `also` is the other line of two, and
    `accesses` has both with what is done there. The advice is "" where a line with the
    same topic and a higher cost has it; `remedy` is what it says to do, where `what`
    does not. `count` is how many it stands for; `same`, what it has in common with
    itself in another launch, where its lines, its noun and its names do not tell.
    """

    level: str
    site: object
    topic: str  # words that the name of a lesson would hold
    what: str
    advice: str
    cost: float = 0.0
    also: object = None
    count: int = 1
    same: tuple = ()
    accesses: tuple = ()  # (site, words) of each
    remedy: str = ""  # without its full stop


def level_of(taken, ideal) -> str:
    """The level of a cost; "" where it is ideal."""
    if taken <= ideal:
        return ""
    return "costly" if taken >= COSTLY * ideal else "slight"


def figure(number) -> str:
    """A number of a request: three digits, and no decimals where it is whole."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def counted_figure(number, noun) -> str:
    """A mean beside its noun, which is said to be one where it is not whole."""
    average = "" if number == int(number) else " on average"
    return f"{figure(number)} {noun}" + ("" if number == 1 else "s") + average


def raised(sentence) -> str:
    """With a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def lowered(sentence) -> str:
    """With a small letter."""
    return sentence[:1].lower() + sentence[1:]


def counted(number, noun, several=None) -> str:
    """A number beside its noun: "1 bank", "2 banks", "3 launches"."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def runs(numbers) -> list:
    """Numbers that follow one another together, as (first, last)."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


def ranges(numbers, between="–") -> str:
    """Numbers as a reader writes them: "0–31", "1, 3–5"."""
    ends = runs(numbers)
    return ", ".join(f"{a}" if a == b else f"{a}{between}{b}" for a, b in ends)
