"""The machine's loop as machine code: takes the lowest pc that has threads, runs its
pieces, splits and joins threads, as `machine/batch.py` does.

It comes back to Python when a warp's threads wait or have ended, at a piece that is
NumPy's, when the loop watch wants to know more, and now and then for a Ctrl-C.
"""

from llvmlite import ir as llvm

from helpers.emulator.machine.batch import PATIENCE, WATCH
from helpers.emulator.native.layout import AT, ROW
from helpers.emulator.native.words import CONTEXT, I1, I64, PIECE, each, number

NEXT, JUMP, BRANCH, RETURN, MEET, WAIT = range(6)  # how a piece ends
TAKE, RUN, ENDED, GO, GONE = range(5)  # where to begin
DONE, INTERPRET, WAITS, LOOK, PAUSE = range(5)  # why it came back


class Driver:
    """Writes the function `drive(context, where to begin) -> why it came back`."""

    def __init__(self, module):
        shape = llvm.FunctionType(I64, [CONTEXT, I64])
        function = llvm.Function(module, shape, "drive")
        self.module, (self.context, start) = module, function.args
        self.b = b = llvm.IRBuilder(function.append_basic_block("start"))
        self.blocks = {
            name: function.append_basic_block(name)
            for name in ("take", "run", "ended", "go", "gone")
        }
        begin = b.switch(start, self.blocks["take"])
        for code, name in enumerate(self.blocks):
            begin.add_case(number(code), self.blocks[name])
        for name in self.blocks:
            b.position_at_end(self.blocks[name])
            getattr(self, f"_{name}")()

    # words of the context

    def get(self, name):
        return self.b.load(self.b.gep(self.context, [number(AT[name])]))

    def set(self, name, value):
        value = number(value) if isinstance(value, int) else value
        self.b.store(value, self.b.gep(self.context, [number(AT[name])]))

    def at(self, name, index):
        """A pointer to a word of an array that a word of the context names."""
        base = self.b.inttoptr(self.get(name), CONTEXT)
        return self.b.gep(base, [index])

    def item(self, name, index):
        return self.b.load(self.at(name, index))

    def part(self, place):
        """A word of the piece that runs: function, kind, then, otherwise or pc."""
        row = self.b.mul(self.get("piece"), number(ROW))
        return self.item("pieces", self.b.add(row, number(place)))

    def more(self, name, amount=1):
        value = self.b.add(self.get(name), number(amount))
        self.set(name, value)
        return value

    def back(self, why):
        self.b.ret(number(why))

    # groups of threads

    def _mask_of(self, pc, word):
        row = self.b.mul(pc, self.get("words"))
        return self.at("masks", self.b.add(row, word))

    def _lowest(self, also):
        """The lowest pc that has threads, and `also`; the number of pcs if none."""
        b, count = self.b, self.get("pcs")
        before = b.block
        head, body, following, after = (
            b.append_basic_block(n) for n in ("lowest", "present", "following", "found")
        )
        b.branch(head)
        b.position_at_end(head)
        pc = b.phi(I64)
        pc.add_incoming(number(0), before)
        b.cbranch(b.icmp_unsigned("<", pc, count), body, after)
        b.position_at_end(body)
        here = b.icmp_unsigned("!=", self.item("present", pc), number(0))
        b.cbranch(b.and_(here, also(pc)), after, following)
        b.position_at_end(following)
        pc.add_incoming(b.add(pc, number(1)), following)
        b.branch(head)
        b.position_at_end(after)
        return pc

    def _add(self, pc, mask):
        """Let threads go on at a pc, with those already there."""
        b = self.b
        known = self.at("present", pc)
        keep = b.sub(number(0), b.load(known))  # all bits, or none
        with each(b, self.get("words")) as word:
            place = self._mask_of(pc, word)
            b.store(b.or_(b.and_(b.load(place), keep), mask(word)), place)
        b.store(number(1), known)

    # the states of the loop

    def _take(self):
        b = self.b
        everywhere = lambda pc: llvm.Constant(I1, 1)  # noqa: E731
        ready = lambda pc: b.icmp_unsigned(  # noqa: E731
            "==", self.item("postponed", pc), number(0)
        )
        first, any_pc = self._lowest(ready), self._lowest(everywhere)
        none = b.icmp_unsigned("==", first, self.get("pcs"))
        pc = b.select(none, any_pc, first)
        with b.if_then(b.icmp_unsigned("==", pc, self.get("pcs"))):
            self.back(DONE)
        with each(b, self.get("words")) as word:
            b.store(b.load(self._mask_of(pc, word)), self.at("active", word))
        b.store(number(0), self.at("present", pc))
        self.set("nearest", self._lowest(everywhere))
        self.set("iterations", 0)
        self.set("piece", self.item("first", pc))
        b.branch(self.blocks["run"])

    def _run(self):
        b = self.b
        with b.if_then(b.icmp_signed("<", self.more("budget", -1), number(0))):
            self.back(PAUSE)
        with b.if_then(b.icmp_signed("==", self.part(0), number(0))):
            self.back(INTERPRET)
        function = b.inttoptr(self.part(0), PIECE.as_pointer())
        stopped = b.call(function, [self.context])
        with b.if_then(b.icmp_signed("!=", stopped, number(0))):
            self.back(INTERPRET)
        b.branch(self.blocks["ended"])

    def _ended(self):
        """Go where the terminator leads."""
        b = self.b
        waits, *ends = (
            b.append_basic_block(name)
            for name in ("waits", "next", "jump", "branch", "return", "meet")
        )
        end = b.switch(self.part(1), waits)
        for kind, block in enumerate(ends):
            end.add_case(number(kind), block)
        b.position_at_end(waits)
        self.back(WAITS)
        b.position_at_end(ends[NEXT])
        self.more("piece")
        b.branch(self.blocks["run"])
        b.position_at_end(ends[JUMP])
        self.set("following", self.part(2))
        b.branch(self.blocks["go"])
        b.position_at_end(ends[BRANCH])
        self._branch()
        b.position_at_end(ends[RETURN])
        self._return()
        b.position_at_end(ends[MEET])
        self._meet(ends[JUMP], waits)

    def _return(self):
        b = self.b
        self.set("returned", 1)
        with each(b, self.get("words")) as word:
            left = self.at("live", word)
            gone = b.load(self.at("active", word))
            b.store(b.and_(b.load(left), b.not_(gone)), left)
        b.branch(self.blocks["take"])

    def _meet(self, all_here, some):
        """Go on where all lanes are that have not returned: of any mask, all came."""
        b = self.b
        self.set("differs", 0)
        with each(b, self.get("words")) as word:
            pair = (b.load(self.at(name, word)) for name in ("active", "live"))
            self.set("differs", b.or_(self.get("differs"), b.xor(*pair)))
        same = b.icmp_signed("==", self.get("differs"), number(0))
        b.cbranch(same, all_here, some)

    def _branch(self):
        b = self.b
        before, some, others = b.block, b.append_basic_block("sum"), None
        after = b.append_basic_block("summed")
        b.branch(some)
        b.position_at_end(some)
        word, then, others = b.phi(I64), b.phi(I64), b.phi(I64)
        taken = b.load(self.at("then", word))
        rest = b.and_(b.load(self.at("active", word)), b.not_(taken))
        following = b.add(word, number(1))
        for phi, value in (
            (word, following),
            (then, b.or_(then, taken)),
            (others, b.or_(others, rest)),
        ):
            phi.add_incoming(number(0), before)
            phi.add_incoming(value, some)
        any_then, any_other = b.or_(then, taken), b.or_(others, rest)
        b.cbranch(b.icmp_unsigned("<", following, self.get("words")), some, after)
        b.position_at_end(after)
        with b.if_then(b.icmp_unsigned("==", any_then, number(0))):
            self.set("following", self.part(3))
            b.branch(self.blocks["go"])
        with b.if_then(b.icmp_unsigned("==", any_other, number(0))):
            self.set("following", self.part(2))
            b.branch(self.blocks["go"])
        then_of = lambda word: b.load(self.at("then", word))  # noqa: E731
        self._add(self.part(2), then_of)
        self._add(
            self.part(3),
            lambda word: b.and_(b.load(self.at("active", word)), b.not_(then_of(word))),
        )
        b.branch(self.blocks["take"])

    def _go(self):
        """Go on with the block that follows; a back edge is counted."""
        b = self.b
        with b.if_then(b.icmp_unsigned("<=", self.get("following"), self.part(4))):
            count = self.more("iterations")
            watched = b.icmp_unsigned("<", b.and_(count, number(WATCH - 1)), number(2))
            with b.if_then(watched):
                with b.if_then(self._recurs()):
                    self.set("recurs", 1)
                    self.back(LOOK)
            with b.if_then(b.icmp_unsigned(">=", count, number(PATIENCE))):
                self.set("recurs", 0)
                self.back(LOOK)
            self.more("turns")
        b.branch(self.blocks["gone"])

    def _gone(self):
        b = self.b
        following = self.get("following")
        with b.if_then(b.icmp_unsigned(">=", following, self.get("nearest"))):
            self._add(following, lambda word: b.load(self.at("active", word)))
            b.branch(self.blocks["take"])
        self.set("piece", self.item("first", following))
        b.branch(self.blocks["run"])

    def _recurs(self):
        """Are a loop's variables as at the last look, with nothing written since?"""
        b, header = self.b, self.get("following")
        here = b.icmp_signed("==", self.get("looked_at"), header)
        same = b.and_(here, b.icmp_signed("==", self.get("dirty"), number(0)))
        self.set("looked_at", header)
        self.set("dirty", 0)
        row = b.inttoptr(self.item("looks", header), CONTEXT)
        self.set("differs", 0)
        with each(b, b.load(row)) as place:
            entry = b.add(b.mul(place, number(3)), number(1))
            now, before, count = (
                b.load(b.gep(row, [b.add(entry, number(n))])) for n in range(3)
            )
            now, before = (b.inttoptr(p, CONTEXT) for p in (now, before))
            with each(b, count) as word:
                old, new = b.gep(before, [word]), b.load(b.gep(now, [word]))
                changed = b.xor(b.load(old), new)
                self.set("differs", b.or_(self.get("differs"), changed))
                b.store(new, old)
        return b.and_(same, b.icmp_signed("==", self.get("differs"), number(0)))
