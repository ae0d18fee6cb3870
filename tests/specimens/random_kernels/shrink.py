"""Makes a program that fails smaller: lines go as long as it fails in the same way.

Each program that is smaller and still fails is given at once: who cannot wait for the
least has the best so far.
"""

import re

from tests.specimens.random_kernels.launches import faults


def shrunk(program):
    """Ever smaller texts that still fail, each with what it fails with."""
    told = faults(program)
    lines = program.text.splitlines()
    size = len(lines) if told else 0
    while size:  # from the end: what comes late depends on what comes early
        for start in reversed(range(1, len(lines), size)):
            for fewer in without(lines, start, size):
                now = faults_of(program._replace(text="\n".join(fewer)))
                if now and kind(now[0]) == kind(told[0]):
                    lines, told = fewer, now
                    yield "\n".join([*lines, "", *told])
                    break
        size //= 2


def faults_of(program):
    """What is wrong with a program; nothing if it lost the lines that it needs."""
    try:
        return faults(program)
    except SyntaxError:
        return []


def without(lines, start, size):
    """The lines without some of them; or a block's lines without its head."""
    first = lines[start : start + size]
    if not first:
        return
    depth = indent(first[0])
    end = start + len(first)
    while end < len(lines) and indent(lines[end]) > depth:
        end += 1
    yield lines[:start] + lines[end:]
    if end > start + 1 and size == 1:
        body = [line[4:] for line in lines[start + 1 : end]]
        yield lines[:start] + body + lines[end:]


def indent(line):
    return len(line) - len(line.lstrip())


def kind(text):
    """A fault's text without its numbers and names."""
    return re.sub(r"\(<random.*|[-+\d.e]+|\b[a-z]\w*\d+\b", "", text)[:60]
