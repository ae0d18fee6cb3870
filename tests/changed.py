"""What a commit changes, as git tells: files and exercises that differ from where the
branch left `main`, or from the last commit on it; nothing where there is no git.

`make test` judges the changed exercises whole, and of the others a sample that each
one's own name decides: a new exercise moves no other one into it or out of it.
"""

import ast
import subprocess
from functools import cache

from helpers.exercises.catalogue import exercises, file_of
from tests.paths import ROOT
from tests.quick import some


def of_exercises(cases, every=None, slow_every=1) -> list:
    """Cases of exercises, each a name or a tuple that begins with one: those of
    exercises that a commit changes are quick, and of the others one in `every`.
    """
    others = some(cases, every, slow_every)
    names = [case[0] if isinstance(case, tuple) else case for case in cases]
    return [
        case if name in changed_exercises() else other
        for name, case, other in zip(names, cases, others, strict=True)
    ]


@cache
def changed_exercises() -> set:
    """The names of the exercises that a commit changes, or what they stand on."""
    since = base()
    return {it.name for it in exercises().values() if since and is_changed(it, since)}


def is_changed(kind, since) -> bool:
    """Does a class of an exercise differ from a commit's, or one that it is made of?"""
    path = file_of(kind)
    if path not in changed_files(since):
        return False
    names = differing(git("show", f"{since}:{path}"), (ROOT / path).read_text("utf-8"))
    return names is None or not names.isdisjoint(it.__name__ for it in kind.__mro__)


@cache
def differing(before, now) -> set | None:
    """The classes that differ in two texts of a module; None where all of it may."""
    (old, old_rest), (new, new_rest) = map(in_parts, (before, now))
    if old_rest != new_rest:
        return None
    return {name for name, text in new.items() if old.get(name) != text}


def in_parts(text):
    """What a module's classes are, by name, and what the rest of it is."""
    body = ast.parse(text).body
    classes = {it.name: ast.dump(it) for it in body if isinstance(it, ast.ClassDef)}
    return classes, [ast.dump(it) for it in body if not isinstance(it, ast.ClassDef)]


def base() -> str:
    """The commit to compare with; "" where there is no git, or no other commit."""
    here = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        if (common := git("merge-base", "HEAD", main)) != here and common:
            return common
    return git("rev-parse", "--verify", "HEAD~1")


@cache
def changed_files(since) -> set:
    """The files that differ from a commit, new ones too."""
    differ = git("diff", "--name-only", since).splitlines()
    return {*differ, *git("ls-files", "--others", "--exclude-standard").splitlines()}


def git(*words) -> str:
    """What git prints; "" where it fails, or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
