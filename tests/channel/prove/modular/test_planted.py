"""Changed places that make a difference are never proved equal; some that make none are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import thread_time

import pytest

from channelsim.channel.prove.concrete_runs import differ
from channelsim.channel.prove.modular.mutant import Original, is_equal
from channelsim.channel.prove.modular.state import Unsupported
from channelsim.clsp.curry import curry
from channelsim.clsp.programs import Program
from channelsim.clsp.run import run
from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games.forms import Atom, ByteIn, Form, Integer, ListOf, Optional, Pair
from tests.channel.prove.modular.programs import both

BYTE = Integer(0, 255)
SMALL = Integer(0, 4)
LIST = ListOf(SMALL, 5)
CARD = ByteIn(range(52), "a card")
KEY, HASH = bytes(48), bytes(32)

ENDLESS: Value = b"endless"
"""Stands for a state in which the mutant does not end: it is not run."""


@dataclass(frozen=True)
class Case:
    """A changed place; with `state`, `move`, `share` and `amount` the two programs differ."""

    main: str
    functions: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = SMALL
    state: Value = NIL
    move: bytes = b""
    share: int = 0
    amount: int = 0
    curried: tuple[int, int] | None = None
    """The values that each side's program has in front of the arguments."""

    @property
    def programs(self) -> tuple[Program, Program]:
        """The original and the mutant."""
        original, mutant = both(self.main, self.functions)
        if self.curried is None:
            return original, mutant
        first, second = map(int_to_atom, self.curried)
        return curry(original, first), curry(mutant, second)

    @property
    def environment(self) -> Value:
        """The arguments on which they differ."""
        coin = [KEY, KEY, NIL, int_to_atom(self.amount), HASH, NIL, self.move, NIL, NIL]
        return to_list([HASH, to_list([*coin, int_to_atom(self.share), b"x"]), self.state])


ID = {"id": "$0"}
FIRST = {"first": "(f $0)", "nth": "(if $0 (call nth (- $0 1) (r $1)) (f $1))"}
COUNT = {"count": "(if $0 (+ 1 (call count (r $0))) 0)"}
SUM = {"sum": "(if $0 (+ $1 (call sum {(- $0 1)|$0} $1)) 0)"}

DIFFERENT = {
    "a number of two bytes, compared as bytes": Case(
        "(call less $STATE)", {"less": "{(> 2 $0)|(>s 2 $0)}"}, BYTE, b"\x00\x80"
    ),
    "scalars that may be negative": Case(
        "(call less (substr $MOVE 0 32))",
        {"less": f"{{(> 0x73{'00' * 31} $0)|(>s 0x73{'00' * 31} $0)}}"},
        move=b"\xff" * 32,
    ),
    "an empty number as bytes": Case(
        "(call less $STATE)", {"less": "{(> $0 ())|(>s $0 ())}"}, CARD, b"\x00"
    ),
    "a shift of negative numbers": Case(
        "(call half $STATE)", {"half": "{(lsh $0 -1)|(ash $0 -1)}"}, Integer(-5, 5), b"\xff"
    ),
    "one amount": Case(
        "(call is $AMOUNT)", {"is": "(= $0 {98765432100|98765432101})"}, amount=98765432100
    ),
    "one share": Case(
        "(if (call is $SHARE) (list $SHARE () ()) ())",
        {"is": "(not (= $0 {()|77}))"},
        share=77,
    ),
    "one length": Case("(call fits $MOVE)", {"fits": "(> (strlen $0) {31|32})"}, move=bytes(32)),
    "bytes at the end": Case(
        "(call cut $MOVE)",
        {"cut": "(if (> (strlen $0) 31) (sha256 (substr $0 0 {32|31})) ())"},
        move=bytes(40),
    ),
    "an encoding": Case(
        "(call minimal $MOVE)", {"minimal": "{(= $0 (+ $0 0))|1}"}, move=b"\x00\x05"
    ),
    "the other operand": Case(
        "(call less $SHARE $AMOUNT)", {"less": "(- {$0 $1|$1 $0})"}, share=1, amount=2
    ),
    "operands that a call swaps": Case(
        "(call two {$SHARE $AMOUNT|$AMOUNT $SHARE})", {"two": "(+ $0 (* 2 $1))"}, share=1, amount=2
    ),
    "a depth that matters": Case(
        "(call nth $STATE (list 1 2 3 4 5))",
        {"nth": "(if $0 (call nth {(- $0 1)|(- 1 $0)} (r $1)) (f $1))"},
        state=b"\x02",
    ),
    "a call that never ends": Case("(call sum $STATE 1)", SUM, state=ENDLESS),
    "a raise of an empty list": Case("(call first $STATE)", {"first": "{(f $0)|()}"}, LIST),
    "a raise in front": Case("(if (call id $STATE) {(x)|()} ())", ID, state=b"\x01"),
    "a raise of a shorter move": Case(
        "(list (call id $STATE) (substr $MOVE {5 5|9 9}))", ID, move=bytes(7)
    ),
    "a raise in a call with one result": Case(
        "(list (call check {$AMOUNT|$SHARE}))", {"check": "(if (= $0 5) (x) ())"}, amount=5
    ),
    "an end that is looked at": Case(
        "(call third (list 1 2 {()|1}))", {"third": "(if (f (r (r $0))) 1 2)"}
    ),
    "an end whose truth is looked at": Case(
        "(call third (c 1 (c 2 {()|1})))", {"third": "(if (r (r $0)) 1 2)"}
    ),
    "an end that is returned": Case("(call rest (c 1 (c 2 {()|1})))", {"rest": "(r $0)"}),
    "an end that is hashed": Case(
        "(call hash (c 1 (c 2 {()|1})))", {"hash": "(sha256 (r (r $0)))"}
    ),
    "an end that is compared": Case(
        "(call same (c 1 (c $MOVE {()|1})))", {"same": "(= (r (r $0)) (f (r $0)))"}
    ),
    "a truth that is a value": Case(
        "(list (call yes $STATE))", {"yes": "(if $0 {1|2} ())"}, state=b"\x01"
    ),
    "a truth that is added": Case(
        "(call sum (call yes $STATE))",
        {"yes": "(if $0 {1|2} ())", "sum": "(+ $0 1)"},
        state=b"\x01",
    ),
    "the test of a whole function": Case(
        "(list (call either $STATE))", {"either": "(any (= $0 {2|3}) (= $0 4))"}, state=b"\x02"
    ),
    "one of two places of a call": Case(
        "(list (call less 1) (call less $STATE))",
        {"less": "{(- $0 1)|(- 1 $0)}"},
        state=b"\x03",
    ),
    "an odd factor": Case(
        "(call odd $SHARE $AMOUNT)", {"odd": "(logand 1 (+ $0 (* {2|3} $1)))"}, amount=1
    ),
    "two bits of a sum": Case(
        "(call odd $SHARE $AMOUNT)", {"odd": "(logand 3 ({+|-} $0 $1))"}, share=1, amount=1
    ),
    "a remainder": Case("(call rest $AMOUNT)", {"rest": "({r|f} (divmod $0 52))"}, amount=1),
    "a list that may be longer": Case(
        "(call is (call count $STATE))", {**COUNT, "is": "{(> 3 $0)|1}"}, LIST, to_list([NIL] * 4)
    ),
    "an optional atom": Case(
        "(call has $STATE)", {"has": "(if $0 {32|33} 1)"}, Optional(Atom(32)), bytes(32)
    ),
    "the other side of a pair": Case(
        "(call side $STATE)", {"side": "({f|r} $0)"}, Pair(SMALL, SMALL), (NIL, b"\x01")
    ),
    "functions without their tree": Case(
        "(a (f tree) (c {tree|()} (list $STATE)))",
        {"outer": "(call inner $0)", "inner": "(+ 1 $0)"},
    ),
    "code that is data": Case(
        "(list (call id $STATE) (sha256 (r (f (r tree)))))", {**ID, "other": "{7|8}"}
    ),
    "a constant beside the functions": Case(
        "(call less $STATE)", {"less": "(> (r (f (r tree))) $0)", "limit": "{3|4}"}, state=b"\x03"
    ),
    "code that is returned": Case("(list (call id $STATE) tree)", {**ID, "other": "{7|8}"}),
    "a bound of a call to itself": Case(
        "(call up $STATE)",
        {"up": "(if (> $0 {3|2}) () (c $0 (call up (+ $0 1))))"},
        state=b"\x03",
    ),
    "a bound of a sum that is counted down": Case(
        "(call sum $STATE $SHARE)",
        {"sum": "(if (> $0 {()|1}) (+ $1 (call sum (- $0 1) $1)) ())"},
        state=b"\x01",
        share=5,
    ),
    "more than below zero": Case(
        "(call sign $STATE)", {"sign": "(if (> {$0 -1|-1 $0}) 1 2)"}, Integer(-4, 4)
    ),
    "more than zero, or not less": Case(
        "(call sign $STATE)", {"sign": "(if (> $0 {-1|()}) 1 2)"}, Integer(-4, 4)
    ),
    "the sign of a number of one byte": Case(
        "(call more (substr $MOVE 0 1))", {"more": "(> {$0|(concat 0x00 $0)} 5)"}, move=b"\x80"
    ),
    "an improper end": Case(
        "(call end $STATE)",
        {"end": "(if (l $0) (call end (r $0)) {$0|()})"},
        None,
        (b"\x07", b"\x05"),
    ),
    "a test of an improper end": Case(
        "(call last $STATE)",
        {"last": "(if (l $0) (if {(l (r $0))|(r $0)} (call last (r $0)) (f $0)) ())"},
        None,
        (b"\x07", b"\x05"),
    ),
    "an item behind an improper end": Case(
        "(call second (c 1 {$STATE|(list $STATE)}))", {"second": "(if (r $0) (f $0) 3)"}
    ),
    "the size limit of one length": Case(
        "(list $MOVE (call limit (strlen $MOVE)))",
        {"limit": "(if (> $0 {9|10}) 42 9)"},
        move=bytes(10),
    ),
    "conditions in another order": Case(
        "(list (call all (list 51 $SHARE) (list 60 $MOVE)))",
        {"all": "(list {$0 $1|$1 $0})"},
        share=3,
    ),
    "the shape of evidence": Case(
        "(call has $STATE)",
        {"has": "(if (l $0) (if (l ({f|r} $0)) 1 2) 3)"},
        None,
        ((b"\x01", NIL), NIL),
    ),
    "one constant of forty bits": Case(
        "(call less $AMOUNT)",
        {"less": "(> {1000000000003|1000000000002} $0)"},
        amount=1000000000002,
    ),
    "arguments in another order": Case(
        "(list (call pot {$SHARE $AMOUNT|$AMOUNT $SHARE}))",
        {"pot": "(c $0 (c (+ $0 $1) ()))"},
        amount=2,
    ),
    "an argument in front of the others": Case(
        "(list (a (f tree) (c tree (c {5|6} (list $AMOUNT)))))", {"add": "(+ $0 $1)"}
    ),
    "an argument of the program in front": Case(
        "(list (call add $0 $3))", {"add": "(+ $0 (* 2 $1))"}, curried=(5, 6)
    ),
    "a pair that is an atom": Case("(call first {$STATE|(list $STATE)})", {"first": "(l $0)"}),
}

EQUAL = {
    "numbers from 0 to 4": Case("(call less $STATE)", {"less": "{(> 2 $0)|(>s 2 $0)}"}),
    "a positive scalar of 32 bytes": Case(
        "(call less (substr $MOVE 0 32))",
        {"less": f"(if (> $0 0) {{(> 0x73{'00' * 31} $0)|(>s 0x73{'00' * 31} $0)}} ())"},
    ),
    "a product": Case(
        "(list (call outer {$SHARE $AMOUNT|$AMOUNT $SHARE}))",
        {"outer": "(call times $0 $1 1)", "times": "(+ (* $0 $1) $2)"},
    ),
    "what is subtracted": Case(
        "(list (- $AMOUNT {$SHARE (call id $STATE)|(call id $STATE) $SHARE}))", ID
    ),
    "a constant at every call": Case("(call less 1)", {"less": "(list {(- $0 1)|(- 1 $0)})"}),
    "the end of a list": Case(
        "(list (call nth 1 (c 1 (c $SHARE {()|1}))))",
        {"nth": "(if $0 (call nth (- $0 1) (r $1)) (f $1))"},
    ),
    "a function's truth": Case("(if (call yes $STATE) 5 ())", {"yes": "(if $0 {1|2} ())"}),
    "odd or even": Case("(call odd $SHARE $AMOUNT)", {"odd": "(logand 1 ({+|-} $0 $1))"}),
    "an empty optional atom": Case(
        "(call has (call none $STATE))",
        {"has": "(list (if $0 {33|34} 32))", "none": "(if $0 (call none ()) ())"},
    ),
}


def proof(case: Case) -> str:
    original, mutant = case.programs
    try:
        return is_equal(Original(original, case.form), mutant, thread_time() + 5)
    except Unsupported:
        return ""


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_not_proved_away(name: str) -> None:
    case = DIFFERENT[name]
    if case.state != ENDLESS:
        left, right = (run(each, case.environment) for each in case.programs)
        assert differ(left, right), "the programs are not different"
    assert not proof(case)


@pytest.mark.parametrize("name", EQUAL)
def test_what_makes_no_difference_is_proved(name: str) -> None:
    assert proof(EQUAL[name])


def test_without_time_nothing_is_proved() -> None:
    original, mutant = both(EQUAL["numbers from 0 to 4"].main, {"less": "{(> 2 $0)|(>s 2 $0)}"})
    with pytest.raises(Unsupported, match="the time is over"):
        is_equal(Original(original, SMALL), mutant, thread_time() - 1)


def test_a_program_without_functions_is_undecided() -> None:
    with pytest.raises(Unsupported, match="without functions"):
        is_equal(Original(Program(b"\x01"), None), Program(b"\x02"), thread_time() + 1)
