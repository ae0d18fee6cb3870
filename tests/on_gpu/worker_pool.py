"""Processes that answer one question after the other, and are replaced when they die.

A kernel's fault can end a GPU's context, and with it all that its process could still
do; so each process is by itself, and what hangs is ended.
"""

import time
from multiprocessing import connection, get_context

PATIENCE = 120  # seconds for one question
CONTEXT = get_context("spawn")


class Worker:
    """A process and the question that it has."""

    def __init__(self, function):
        self.pipe, theirs = CONTEXT.Pipe()
        given = {"target": work, "args": (function, theirs), "daemon": True}
        self.process = CONTEXT.Process(**given)
        self.process.start()
        theirs.close()
        self.question, self.since = None, 0

    def ask(self, question):
        self.question, self.since = question, time.monotonic()
        self.pipe.send(question)

    def answer(self):
        """The answer, if it has come; a process that died or hangs says so."""
        try:
            if self.pipe.poll():
                return self.pipe.recv()
        except (EOFError, ConnectionResetError):
            return failed(f"the process died with code {self.process.exitcode}")
        if time.monotonic() - self.since > PATIENCE:
            return failed(f"no answer within {PATIENCE} seconds")
        return None

    def end(self):
        self.process.kill()
        self.process.join()


def failed(text):
    return {"faults": [text], "features": [], "values": 0, "broken": True}


def work(function, pipe):
    while True:
        question = pipe.recv()
        answer = function(question)
        pipe.send(answer)
        if answer["broken"]:
            return


def answers(function, questions, processes, seconds):
    """Each question with its answer, as they come; none is begun after `seconds`."""
    waiting = iter(questions)
    began = time.monotonic()
    workers = []

    def begin(worker):
        question = next(waiting, None) if time.monotonic() - began < seconds else None
        if question is None:
            worker.end()
        else:
            worker.ask(question)
            workers.append(worker)

    for _ in range(processes):
        begin(Worker(function))
    while workers:
        connection.wait([worker.pipe for worker in workers], timeout=1)
        for worker in list(workers):
            told = worker.answer()
            if told is None:
                continue
            workers.remove(worker)
            yield worker.question, told
            if told["broken"]:
                worker.end()
                worker = Worker(function)
            begin(worker)
