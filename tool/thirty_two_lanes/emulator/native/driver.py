"""The machine's loop as machine code: takes the lowest pc that has threads, runs its
pieces, splits and joins threads, as `machine/batch.py` does.

It comes back to Python when a warp's threads wait or have ended, at a piece that is
NumPy's, when the loop watch wants to know more, and now and then for a Ctrl-C.
"""

from llvmlite import ir as llvm

from thirty_two_lanes.emulator.machine.batch import WATCH
from thirty_two_lanes.emulator.machine.warps import FIRST_DIGEST
from thirty_two_lanes.emulator.native.layout import AT, ROW
from thirty_two_lanes.emulator.native.words import (
    CONTEXT,
    I1,
    I64,
    PIECE,
    each,
    each_bit,
    intrinsic,
    number,
)

NEXT, JUMP, BRANCH, RETURN, MEET, WAIT = range(6)  # how a piece ends
TAKE, RUN, ENDED, GO, GONE = range(5)  # where to begin
DONE, INTERPRET, WAITS, LOOK, PAUSE = range(5)  # why it came back
MOST_TOLD = 4096  # requests that wait to be told


class Driver:
    """Writes the function `drive(context, where to begin) -> why it came back`; where
    it `tells`, it counts steps and splits, and comes back before a buffer is full.
    """

    def __init__(self, module, tells=False):
        shape = llvm.FunctionType(I64, [CONTEXT, I64])
        function = llvm.Function(module, shape, "drive")
        self.module, self.tells = module, tells
        self.context, start = function.args
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
        self._retry(pc, self.item("arriving", pc))
        known = self.at("present", pc)
        keep = b.sub(number(0), b.load(known))  # all bits, or none
        with each(b, self.get("words")) as word:
            place = self._mask_of(pc, word)
            b.store(b.or_(b.and_(b.load(place), keep), mask(word)), place)
        b.store(number(1), known)

    def _retry(self, pc, arriving):
        """Look again whether lanes that wait at a pc for others can go on."""
        b, postponed = self.b, self.at("postponed", pc)
        b.store(b.and_(b.load(postponed), b.xor(arriving, number(1))), postponed)
        b.store(number(0), self.at("arriving", pc))

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
        self._begin(pc)

    def _begin(self, pc):
        """Begin a basic block: a step."""
        b = self.b
        if self.tells:
            lanes = intrinsic(b, "ctpop", I64, b.load(self.at("active", number(0))))
            self._count("lanes", pc, lanes)
            self._count("steps", pc, number(1))
        self.set("piece", self.item("first", pc))
        b.branch(self.blocks["run"])

    def _count(self, name, pc, amount):
        place = self.at(name, pc)
        self.b.store(self.b.add(self.b.load(place), amount), place)

    def _run(self):
        b = self.b
        with b.if_then(b.icmp_signed("<", self.more("budget", -1), number(0))):
            self.back(PAUSE)
        if self.tells:
            waiting = self.item("told", number(0))
            with b.if_then(b.icmp_signed(">=", waiting, number(MOST_TOLD))):
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
        b, pc = self.b, self.part(4)
        self.set("returned", 1)
        with each(b, self.get("words")) as word:
            live = self.at("live", word)
            gone = b.load(self.at("active", word))
            b.store(b.and_(b.load(live), b.not_(gone)), live)
            row = b.mul(pc, self.get("words"))
            left = self.at("left", b.add(row, word))
            b.store(b.or_(b.load(left), gone), left)
        with each(b, self.get("pcs")) as other:
            self._retry(other, self.item("arriving", other))
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
        if self.tells:
            self._count("splits", self.part(4), number(1))
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
            count, turns = self.more("iterations"), self.more("turns")
            watched = b.icmp_unsigned("<", b.and_(count, number(WATCH - 1)), number(2))
            with b.if_then(watched):
                with b.if_then(self._may_be_a_circle(turns)):
                    self.back(LOOK)
            with b.if_then(b.icmp_signed(">=", turns, self.get("patience"))):
                self.set("recurs", -1)
                self.back(LOOK)
        b.branch(self.blocks["gone"])

    def _gone(self):
        b = self.b
        following = self.get("following")
        with b.if_then(b.icmp_unsigned(">=", following, self.get("nearest"))):
            self._add(following, lambda word: b.load(self.at("active", word)))
            b.branch(self.blocks["take"])
        self._begin(following)

    def _may_be_a_circle(self, turns):
        """Must the machine look at a loop: is it as it was at the last look, or at the
        one that is kept, or is another one to be kept, with all memory?
        """
        b, header, looks = self.b, self.get("following"), self.more("looks")
        zero = number(0)
        power = b.icmp_signed("==", b.and_(looks, b.sub(looks, number(1))), zero)
        early = b.icmp_signed("<", looks, number(FIRST_DIGEST))
        keeps = b.and_(power, early)
        last = self._differs_from("last", llvm.Constant(I1, 1))
        kept = self._differs_from("kept", llvm.Constant(I1, 0))
        here = b.icmp_signed("==", self.get("looked_at"), header)
        clean = b.icmp_signed("==", self.get("dirty"), zero)
        recurs = b.and_(b.and_(here, clean), b.icmp_signed("==", last, zero))
        here = b.icmp_signed("==", self.get("kept_at"), header)
        comes_back = b.and_(here, b.icmp_signed("==", kept, zero))
        self.set("recurs", b.zext(recurs, I64))
        self.set("looked_at", header)
        self.set("dirty", 0)
        for other in (
            comes_back,
            b.icmp_signed("!=", self.get("blind"), zero),
            b.and_(power, b.not_(early)),
            b.icmp_signed(">", turns, self.get("limit")),
        ):
            recurs = b.or_(recurs, other)
        with b.if_then(b.and_(keeps, b.not_(recurs))):
            self._differs_from("kept", llvm.Constant(I1, 1))
            self.set("kept_at", header)
            self.set("kept_dirty", 0)
            self.set("kept_here", 1)
        return recurs

    def _differs_from(self, state, becomes):
        """How do a loop's threads and variables differ from an earlier state, which may
        become what is now?
        """
        b = self.b
        row = b.inttoptr(self.item("variables", self.get("following")), CONTEXT)
        threads = b.mul(self.get("blocks"), number(32))
        self.set("differs", 0)
        with each(b, self.get("words")) as word:
            mask = b.load(self.at("active", word))
            self._compare(self.at(state, word), mask, becomes)
            with each(b, b.load(row)) as place:
                slot = b.load(b.gep(row, [b.add(place, number(1))]))
                first = b.add(b.mul(slot, threads), b.shl(word, number(6)))
                with each_bit(b, mask) as bit:
                    where = b.add(first, bit)
                    value = b.load(self.at("memory", where))
                    before = self.at(state, b.add(where, self.get("words")))
                    self._compare(before, value, becomes)
        return self.get("differs")

    def _compare(self, before, value, becomes):
        b, old = self.b, self.b.load(before)
        self.set("differs", b.or_(self.get("differs"), b.xor(old, value)))
        b.store(b.select(becomes, value, old), before)
