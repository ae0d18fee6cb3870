"""What advice is tried on: kernels with faults from all over the project, each with a
launch. A source gives a name, a kernel, a launch and a function that gives its
arguments anew.
"""

from contextlib import redirect_stdout
from io import StringIO
from unittest import mock

from helpers.exercises.catalogue import exercise
from helpers.exercises.trials import listed_trials
from tests.core.advice.planted import compiled, planted
from tests.core.advice.trying import look, tried
from tests.exercises.kinds import KERNELS
from tests.specimens import lesson_launches
from tests.specimens.race_cases import CASES
from tests.specimens.zoo_cases import ZOO

FAULTS = {"race", "bounds", "barrier", "uninitialised"}  # why answers fail
BUGS = "34_find_the_bug"


def specimens():
    """Labelled kernels, and the zoo."""
    for case in (*ZOO, *CASES):
        if not case.hangs:
            yield case.name, case.kernel, case.launch, case.fresh


def lesson(stem=BUGS):
    """What a lesson emulates, whether it ends or not."""
    noted = []

    class AndWhatFails(lesson_launches.Noting):
        def __getitem__(self, config):
            emulated = self.emulation[config]

            def launched(*arguments):
                kept = tuple(map(lesson_launches.kept_as, arguments))
                noted.append((self.kernel, config, kept))
                run = emulated(*arguments)
                self.noted.append((self.kernel, config, kept, run))
                return run

            return launched

    file = next(it for it in lesson_launches.lessons() if it.stem == stem)
    quiet = redirect_stdout(StringIO())
    with mock.patch.object(lesson_launches, "Noting", AndWhatFails), quiet:
        lesson_launches.executed.__wrapped__(file)
    for number, (kernel, config, kept) in enumerate(noted):
        name = f"{kernel.py_func.__name__} {number}"
        yield name, kernel, config, lambda kept=kept: [*map(copied, kept)]


def copied(value):
    return value.copy() if hasattr(value, "copy") else value


def wrong_answers(names=KERNELS):
    """The wrong answers of exercises that fail by such a fault, at the first size at
    which it shows.
    """
    for name in names:
        task = exercise(name)
        trials = listed_trials(task, 1)
        for what, (reason, text) in task.wrong_texts().items():
            if reason in FAULTS:
                kernel = task.kernel(text)
                yield from first_with_faults(f"{name}: {what}", kernel, trials)


def first_with_faults(name, kernel, trials):
    """The first trial in which a kernel has a finding."""
    for trial in trials:

        def fresh(trial=trial):
            return trial.passed(trial.held())

        if look(kernel, trial.launch, fresh(), lambda site: site.line):
            yield name, kernel, trial.launch, fresh
            return


def random_kernels(seeds):
    """Random kernels, each with the first of its faults that shows."""
    for seed in seeds:
        _, *faulty = planted(seed)
        for case in map(compiled, faulty):
            if look(case.kernel, case.launch, case.fresh(), lambda site: site.line):
                yield case.name, case.kernel, case.launch, case.fresh
                break


def results(source):
    """What became of each finding of a source."""
    for name, *launch in source:
        yield from tried(name, *launch)
