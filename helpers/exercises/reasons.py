"""The reasons for which an answer is refused or a mark is what it is, and three hints
for each that a kernel or a prediction can have.

Tests, gradebooks and exercises share these words. A hint speaks of the line that was
found, first as a question, then with the rule, last with what to change; an exercise
may have better ones.
"""

import re

REASONS = {  # those of the judge, in words
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
    "larger": "right at small sizes, wrong at larger ones",
    "wrong": "not all values are right",
    "over_budget": "right, and over its budget",
}
WORDS = REASONS | {  # and those that no judge gives; "" is of a right answer
    "": "",
    "stopped": "its notebook, or its cell, ended before it was there",
    "for a person": "",
    "not graded": "",
    "by hand": "",
}


class Reason(str):
    """Why an answer earns what it earns: a word of `WORDS`, and for a budget its name,
    as in `over_budget:loads`. Files and pages hold this text.
    """

    def __new__(cls, text):
        reason = super().__new__(cls, text)
        if reason.word not in WORDS:
            raise ValueError(f"there is no reason {text!r}")
        return reason

    @property
    def word(self) -> str:
        """It without the name of a budget."""
        return self.partition(":")[0]

    @property
    def budget(self) -> str:
        """The name of the budget that is exceeded; "" where it is another reason."""
        return self.partition(":")[2]

    @property
    def words(self) -> str:
        """What it says; "" where a sentence beside it says all."""
        return WORDS[self.word]


NO_ANSWER, REFUSED, WRONG, TIMEOUT = map(
    Reason, ("no_answer", "refused", "wrong", "timeout")
)
STOPPED = Reason("stopped")  # a limit, or an end, kept it from being there
PERSON = Reason("for a person")  # nobody judges it here
NOT_GRADED = Reason("not graded")
BY_HAND = Reason("by hand")  # a person gave the points

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
        "Put `cuda.syncthreads()` between the two lines of the report, which all "
        "threads of the block reach; in a loop, also before the next round's stores.",
    ),
    "barrier": (
        "Follow one thread that the report names: which `if`, `return` or loop keeps "
        "it from the barrier?",
        "All threads of a block must come to each `cuda.syncthreads()`, also those "
        "with no element to work on.",
        "Guard the work and not the barrier: move the barrier out of the `if`, and "
        "turn an early `return` into a condition around loads and stores.",
    ),
    "race with itself": (
        "The two threads of the report execute the same line: what makes their indices "
        "differ, and why are they equal here?",
        "`threadIdx.x` begins at 0 in each block; a place in the whole grid needs "
        "the block's number, too. Cells that all threads change need `cuda.atomic`.",
        "Give each thread a cell of its own, or let one thread do it. No barrier "
        "helps: it orders two lines, and not two threads on one line.",
    ),
    "race in one line": (
        "One thread loads, on the line of the report, a cell to which another thread "
        "stores on the same line: which of the two comes first?",
        "A barrier orders what stands before it and what stands behind it. A line that "
        "loads and stores has no place for one between the two.",
        "In a loop, put `cuda.syncthreads()` where all threads reach it in each turn. "
        "If one turn alone races, load into a variable, then the barrier, then store.",
    ),
    "race between blocks": (
        "The two threads of the report are in different blocks: what could make one "
        "block wait for the other?",
        "`cuda.syncthreads()` reaches no other block, and blocks run in any order: "
        "what one of them stores, another may load too early.",
        "Let each cell of global memory belong to one thread, which alone stores to "
        "it, or use `cuda.atomic`; load from arrays that no block changes.",
    ),
    "bounds": (
        "Which index does the thread of the report compute, and the size of which "
        "array does your condition ask about?",
        "The last block may have more threads than elements are left, each axis has "
        "its own size, and index -1 is the last element and no error.",
        "Each index needs a condition that is true exactly inside its own array, on "
        "both sides and along each axis; a tile must hold all cells that a block uses.",
    ),
    "bounds negative": (
        "Which thread makes the negative index of the report, and from what?",
        "Numba counts a negative index from the end, as Python does: -1 is the last "
        "element. It is no error, and seldom what is meant.",
        "The condition around this line must keep such an index out: add `0 <=` to it, "
        "or begin the loop later.",
    ),
    "uninitialised": (
        "Who wrote what this line reads, and when?",
        "Outputs, shared and local arrays begin with arbitrary bytes; `+=` and an "
        "atomic operation read a cell, too.",
        "Store to each cell before anyone reads it, also for threads at the edge; add "
        "up in a variable and store it once.",
    ),
    "uninitialised lanes": (
        "Which lanes of the warp come to this line, and whose values does it ask for?",
        "A shuffle gives what a lane holds that takes part in it. A lane that has "
        "returned, or is in another branch, gives nothing.",
        "Let all 32 lanes shuffle. A lane without a number takes part with a value "
        "that changes nothing.",
    ),
    "timeout": (
        "Which condition ends the loop, and which line changes the values it tests?",
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
        "A size need not be a multiple of the block: the number of blocks is rounded "
        "up, and the last one is not full.",
        "Take the smallest size that fails, 1 or one more than a block, and follow the "
        "first and the last thread by hand.",
    ),
    "larger": (
        "Which number in your kernel would have to grow with the arrays?",
        "The judge draws larger sizes each time: a kernel asks for what it needs to "
        "know of them, as in `a.size`, `a.shape[1]` or `cuda.gridsize(1)`.",
        "Go through the numbers that you wrote, one by one: each must be right for "
        "arrays of any size; look at the ends of ranges and at the guards first.",
    ),
    "wrong": (
        "Take the first element that differs: which thread makes it, and from what?",
        "Compute that one element by hand from the specification, then from your "
        "lines; the first step at which they differ is the fault.",
        "Look at the indices first: which coordinate goes to the row and which to the "
        "column, where a loop begins and ends, and what an accumulator starts with.",
    ),
    "wrong unwritten": (
        "Which thread should store the first value that is missing, and does it reach "
        "its store?",
        "Every element needs a thread, and the condition around the store must be true "
        "in it. x and y of a launch need not be as large as rows and columns.",
        "Compute by hand the index of the thread that should have that element, and "
        "both sides of its condition: too strict a guard leaves elements out, too.",
    ),
    "over_budget": (
        "The answer is right. Which number of the report is over its limit, and which "
        "line makes it?",
        "Ask `emulate` for the whole report: the counts beside each line say what it "
        "costs.",
        "This lesson's techniques are enough: look for the kernel in it that has the "
        "same problem, and for what changed there.",
    ),
    "over_budget:lines": (
        "Which one of the given lines must change?",
        "Keep the given lines, their names and their order.",
        "Take the given kernel again, follow one thread that goes wrong, and change "
        "only the line at which it does.",
    ),
    "over_budget:sectors": (
        "Where do the 32 lanes of one warp lie in the array of that line?",
        "Lanes are numbered along `threadIdx.x`. A warp takes the fewest sectors if "
        "neighbouring lanes take neighbouring elements of a row.",
        "Let `x` choose the last index; where that cannot be for loads and stores "
        "alike, go through a tile in shared memory.",
    ),
    "over_budget:conflicts": (
        "How many words lie between the cells of two neighbouring lanes?",
        "Lanes whose words are a multiple of 32 apart queue at one bank, unless they "
        "take the same word.",
        "Change where the tile's rows begin: another width, or another column in each "
        "row.",
    ),
    "over_budget:loads": (
        "Which threads load the same element, or which thread loads it again?",
        "A value that one thread needs again belongs in a variable; one that several "
        "threads of a block need, in shared memory. `run.reuse[name].loads` counts.",
        "Load before the loop what is the same in each turn, and let the block load "
        "together what its threads share.",
    ),
    "over_budget:work": (
        "Which lines do most warps execute, and for how many of their elements?",
        "All threads should share the work; what does not change in a loop is computed "
        "before it.",
        "Count what one thread does for one element, and what it does twice.",
    ),
    "over_budget:share": (
        "How many elements does a thread of the first block have, and how many one of "
        "the last?",
        "All blocks and warps should do about as much: then all multiprocessors work.",
        "Begin at `cuda.grid(1)`. If there are more elements than threads, go on by "
        "`cuda.gridsize(1)`.",
    ),
    "wrong prediction": (
        "Take one of the cases that are named: which rule of the lesson decides it?",
        "Write down what the 32 lanes of one warp, or the threads of one block, do in "
        "that case, by hand and for small numbers.",
        "Run the case: write a kernel of a few lines, and ask `emulate`.",
    ),
}


def hints_for(reason, own) -> tuple[str, ...]:
    """The hints for a reason: the nearest one's, and of those an exercise's own."""
    for key in (reason, re.split("[: ]", reason)[0]):
        if hints := own.get(key) or HINTS.get(key):
            return hints
    return ()
