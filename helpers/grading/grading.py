"""Marks a folder of submissions, on this machine's cores or on a Dask cluster.

Both are an executor of `concurrent.futures` that is given one submission at a time, and
never more than a few beyond those that are being marked.
"""

import os
import secrets
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from helpers.exercises.reasons import NOT_GRADED
from helpers.grading import notebooks, submissions
from helpers.grading.digest import grader_digest
from helpers.grading.people import ClassList, lateness, read_class
from helpers.grading.references import require_right
from helpers.grading.report import missing
from helpers.grading.store import MarksStore, key_of
from helpers.grading.words import many, named, printable
from helpers.grading.worker import Submitted, end_nurseries, grade, row_of

AHEAD = 2  # submissions waiting for each that is being marked
RETRIES = 3  # of one whose worker was lost
MOST_SAID = 500  # characters of an error
ENOUGH = 20  # submissions for which it pays to prepare, and to guess at others
EVERY_S = 5  # between two lines of progress


class SchedulerError(Exception):
    """A cluster that cannot be used; the message says what to do."""


def grade_folder(folder, manifest, out, options, say=print) -> bool:
    """Mark all submissions in a folder that were not marked before; is all graded?"""
    if not folder.is_dir():
        raise submissions.NoSubmissions(f"{folder} is not there, or is no folder")
    require_apart(folder, out)
    people = read_class(options.class_list) if options.class_list else None
    found = submissions.find(folder, manifest.assignments)
    noticed = [*submissions.left_out(folder, manifest.assignments, found)]
    for line in noticed:
        say(line)
    if not found:
        raise submissions.NoSubmissions(
            f"{folder} has no submissions: a folder for each student must be in it"
        )
    store = MarksStore(out)
    with store.alone():
        store.keep_release(manifest, options.release)
        keep_seen(found, noticed, store, people, options.due, say)
        mark_found(folder, found, manifest, store, options, say)
        store.write_marks()
    marked = {named(result): missing(result) for result in store.results()}
    given = [named(vars(it)) for it in found]
    if kept := [name for name in marked if name not in given]:
        say(f"kept from before, not handed in now: {printable(', '.join(kept))}")
    lost = [name for name in marked if name in given and marked[name]]
    for name in lost:
        say(printable(f"{name}: {marked[name]}"))
    return not lost


def require_apart(folder, out):
    """Is neither folder in the other? Else what is handed in could be read as marks."""
    one, other = (Path(it).resolve() for it in (folder, out))
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise submissions.NoSubmissions(
            f"{out} and {folder} are one, or one in the other, and a file that is "
            "handed in could be read as marks: give the marks a folder of their own"
        )


def keep_seen(found, noticed, store, people, due, say):
    """Keep what is seen beside marks: a list of the class and a deadline stay until
    others are given.
    """
    seen = store.seen()
    people, due = people or ClassList(seen["class"]), due or seen["due"]
    students = dict.fromkeys(it.student for it in found)
    remarks = [*people.remarks(students)]
    for line in remarks:
        say(line)
    late = seen["late"] | {it: {} for it in students}
    for one in found:
        if how := lateness(one, due):
            late[one.student][one.assignment] = how
    new = {"noticed": noticed + remarks, "class": people.rows, "due": due, "late": late}
    store.keep_seen(**new)


def mark_found(folder, found, manifest, store, options, say):
    """Mark what was not marked before, if the course's own answers are right."""
    secret = secret_of(store, options.secret)
    store.sheet_key(secret)
    jobs = to_do(folder, found, manifest, store, secret, options)
    plural = "s" if len(found) != 1 else ""
    say(f"{len(found):,} submission{plural}, {len(jobs):,} of them to be marked")
    if not jobs:
        return
    with executor(options) as (pool, workers):
        how = options.container, not options.not_isolated
        pool.submit(require_right, manifest, secret, *how).result()
        say("the course's own answers earn all points")
        spent = mark_all(pool, workers, jobs, manifest, store, say)
    if len(jobs) >= ENOUGH:
        hours = float(f"{spent / len(jobs) * 1000 / 3600:.1g}")
        say(f"1,000 such submissions take about {many(hours, 'hour')} of one core")


def secret_of(store, given) -> str:
    """What the inputs of the judge are made of: given, or drawn once and kept."""
    if given:
        return str(given)
    path = store.folder / ".secret"  # no student is called so
    if not path.exists():
        store.write(path, secrets.token_hex(16) + "\n")
        path.chmod(0o600)
    return path.read_text("utf-8").strip()


def to_do(folder, found, manifest, store, secret, options) -> list:
    """Each submission that is to be marked, with its key and its work.

    What cannot be read is kept at once: it is not graded, which is not 0.
    """
    digest, jobs = grader_digest(), []
    for one in found:
        items = manifest.assignments[one.assignment]
        rows = tuple(asdict(item) for item in items)
        try:
            data = notebooks.read(folder, one.path)
            key = key_of(data, items, manifest.seed, secret, digest)
            if store.has(one.student, one.assignment, key, options.isolated):
                continue
            cells = tuple(notebooks.cells_of(data))
            notebooks.require_its_own(cells, items)
        except notebooks.Unreadable as error:
            result = not_graded(rows, f"The notebook is not graded: {error}.")
            result["release"] = manifest.digest(one.assignment)
            store.keep(one.student, one.assignment, "", result)
            continue
        work = Submitted(
            *(cells, rows, manifest.seed, secret, options.container),
            isolated=not options.not_isolated,
        )
        jobs.append((one, key, work))
    jobs.sort(key=lambda job: job[0].assignment)  # for which judges are prepared
    counts = Counter(one.assignment for one, *_ in jobs)
    return [
        (one, key, replace(work, prepared=counts[one.assignment] >= ENOUGH))
        for one, key, work in jobs
    ]


def not_graded(rows, why) -> dict:
    """The result of a submission that nobody marked."""
    exercises = [row_of(it, None, NOT_GRADED, why) for it in rows]
    return {"exercises": exercises, "cells": [], "ended": "", "isolation": ""}


# ---------------------------------------------------------------- many at a time


@contextmanager
def executor(options):
    """Who marks, and how many at a time."""
    if options.scheduler:
        with dask_client(options.scheduler) as client:
            workers = max(1, sum(client.nthreads().values()))
            with client.get_executor(retries=RETRIES, pure=False) as pool:
                yield pool, workers
        return
    workers = options.workers or os.cpu_count() or 1
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool, workers
    finally:  # after Ctrl-C nobody waits for what is running
        pool.shutdown(wait=False, cancel_futures=True)
        end_nurseries()


def dask_client(address):
    """A Dask cluster's client."""
    try:
        from distributed import Client
    except ImportError:
        remedy = "python -m pip install distributed"
        raise SchedulerError(f"`--scheduler` needs Dask: {remedy}") from None
    return Client(address)


def mark_all(pool, workers, jobs, manifest, store, say) -> float:
    """Mark and keep each job; the seconds that submissions and judges computed."""
    waiting, running, spent = list(jobs)[::-1], {}, 0.0
    progress = GradingProgress(len(jobs), say)
    while waiting or running:
        while waiting and len(running) < (1 + AHEAD) * workers:
            submission, key, work = waiting.pop()
            running[pool.submit(grade, work)] = submission, key, work
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            submission, key, work = running.pop(future)
            result = result_of(future, submission, work, say)
            spent += result.pop("cpu_seconds")
            result["release"] = manifest.digest(submission.assignment)
            store.keep(submission.student, submission.assignment, key, result)
            progress.one_more()
    return spent


def result_of(future, submission, work, say) -> dict:
    """The marks of a submission, or that it has none: it stops no other one's."""
    try:
        return future.result()
    except Exception as error:
        what = type(error).__name__
        who = f"{submission.student} ({submission.assignment})"
        say(printable(f"{who} is not graded: {what}: {error}"[:MOST_SAID]))
        why = f"The grader failed at it ({what}): a person must look."
        return not_graded(work.items, why) | {"cpu_seconds": 0.0}


class GradingProgress:
    """Says every few seconds how many are marked, and how long the rest will take."""

    def __init__(self, total, say):
        self.total, self.say, self.done = total, say, 0
        self.begun = self.said = time.monotonic()

    def one_more(self):
        self.done += 1
        now = time.monotonic()
        if self.done < self.total and now - self.said < EVERY_S:
            return
        self.said, took = now, now - self.begun
        left = took / self.done * (self.total - self.done)
        rest = f", about {left:,.0f} s left" if self.done < self.total else ""
        self.say(f"{self.done:,} of {self.total:,} marked in {took:,.0f} s{rest}")
