"""The reasons for which an answer is refused, and three hints for each.

Tests, gradebooks and exercises share these words. A hint speaks of the line that was
found, first as a question, then with the rule, last with what to change; an exercise
may have better ones.
"""

REASONS = {
    "no_answer": "there is nothing to judge yet",
    "refused": "Numba or the launch refuses it",
    "race": "two threads touch one cell, in no order",
    "barrier": "some threads miss a barrier",
    "bounds": "an index lies outside its array",
    "uninitialised": "something is read that nobody wrote",
    "timeout": "it does not end",
    "writes_input": "an input is changed",
    "constant": "the answer does not depend on the input",
    "tail": "right for whole blocks, wrong at other sizes",
    "wrong": "values differ from the specification",
    "over_budget": "right, and over its budget",
}

HINTS = {
    "refused": (
        "Read the sentence above: it names the line and what to write instead.",
        "A kernel takes exactly the arguments of the launch, in their order, and is "
        "decorated with `@cuda.jit`.",
        "Go back to the stub, and add your lines one after the other: the last one "
        "that you added is refused.",
    ),
    "race": (
        "Which two threads of the report touch the same cell, and does anything make "
        "one of them wait for the other?",
        "Between a store and another thread's access to the same cell there must be a "
        "barrier; where no barrier reaches, as between blocks, an atomic operation, or "
        "a cell for each thread.",
        "Put `cuda.syncthreads()` between the two lines of the report, where all "
        "threads of the block come by; in a loop, also before the next round's stores.",
    ),
    "barrier": (
        "Follow one thread that the report names: which `if`, `return` or loop keeps "
        "it from the barrier?",
        "All threads of a block must come to each `cuda.syncthreads()`, also those "
        "with no element to work on.",
        "Guard the work and not the barrier: move the barrier out of the `if`, and "
        "turn an early `return` into a condition around loads and stores.",
    ),
    "bounds": (
        "How many threads does the launch start, and how many elements are there?",
        "The last block may have more threads than elements are left, and index -1 is "
        "the last element and no error.",
        "Put a condition around the line that was found, that is true exactly for "
        "indices inside the array, on both sides and along each axis.",
    ),
    "uninitialised": (
        "Who wrote what this line reads, and when?",
        "Outputs, shared and local arrays begin with arbitrary bytes; a shuffle gives "
        "only what a lane that takes part holds.",
        "Store to each cell before anyone reads it, also for threads at the edge; add "
        "up in a variable and store it once.",
    ),
    "timeout": (
        "Which condition ends the loop, and which line changes what it asks?",
        "A loop of a kernel runs until its condition is false in that thread; waiting "
        "for another thread's store needs an atomic, and a thread that can still run.",
        "Let the loop run over a `range`, or check that each turn comes nearer to the "
        "end.",
    ),
    "writes_input": (
        "Which of the arrays on this line may the kernel write to?",
        "Other kernels read the inputs after yours: only the outputs are yours.",
        "Keep what changes in a variable of the thread or in a shared array.",
    ),
    "constant": (
        "Which line of your kernel loads the input?",
        "The judge uses new numbers each time, and changes single elements: a result "
        "that is known beforehand does not follow.",
        "Compute each element of the output from elements that this launch was given.",
    ),
    "tail": (
        "How many elements are left for the last block, and which threads have none?",
        "Sizes are no multiple of the block: the number of blocks is rounded up, and "
        "the last one is not full.",
        "Take the smallest size that fails, 1 or one more than a block, and follow the "
        "first and the last thread by hand.",
    ),
    "wrong": (
        "Take the first element that differs: which thread makes it, and from what?",
        "Compute that one element by hand from the specification, then from your "
        "lines; the first step at which they part is the fault.",
        "Look at the indices first: which coordinate goes to the row and which to the "
        "column, where a loop begins and ends, and what an accumulator starts with.",
    ),
    "over_budget": (
        "The answer is right. Which line does the report name, and what does it do "
        "more often than it must?",
        "Ask `emulate` for the whole report: the counts beside each line say what it "
        "costs.",
        "The means of this lesson are enough: look for the kernel in it that has the "
        "same trouble, and for what changed there.",
    ),
}


def hints_for(reason, own) -> tuple[str, ...]:
    """The hints for a reason: an exercise's own where it has some."""
    word = reason.partition(":")[0]
    return own.get(reason) or own.get(word) or HINTS.get(word, ())
