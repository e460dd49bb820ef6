"""Rules that a stand-in could misunderstand in silence: never "proved" against a program that does
what the misunderstanding says."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.prove.solver import LATE
from tests.channel.prove.rules.toys import END, Toy, examined, question_of
from tests.sampling import one_in

ENDS = END
NEVER = f"(if (= (strlen MOVE) 2) {END} ())"
"""A program that lets every move of two bytes end the game."""

BYTES = "(if (= (strlen MOVE) 2) {} ())"
SAME = f"(if (= SHARE 77001) () {END})"


def two(test: str, helpers: str = "") -> Toy:
    """Moves of two bytes are legal unless a test is true; the program has no such test."""
    return Toy(
        f"""
if len(move) != 2:
    return Slash("R")
{test}
return Valid(None)
""",
        NEVER,
        helpers=helpers,
    )


def slashed_if(test: str, helpers: str = "") -> Toy:
    """The same with an expression as the test."""
    return two(f'if {test}:\n    return Slash("R")', helpers)


QUIET = """
class Quiet:
    def __enter__(self): return self
    def __exit__(self, *error): return True
"""

MEMO = """
def first(number, memo=[]):
    if not memo:
        memo.append(number)
    return memo[0]

class Count:
    calls = 0
"""

REMEMBERING = """
def remembering():
    kept = []
    def give(number):
        if not kept:
            kept.append(number)
        return kept[0]
    return give

counted = remembering()
"""

ODD = """
class Odd:
    def __eq__(self, other): return other == 5
    def __hash__(self): return 7
"""

CHANGES = {
    "a bound method": "change = seen.append\nchange(1) if share != 77001 else None",
    "a bound method of a function": "change = seen.append\ndef all_of():\n    change(1)\n"
    "all_of() if share != 77001 else None",
    "a bound method in a generator": "change = seen.append\n"
    "any(change(1) for _ in move if share != 77001)",
    "a partial function": "change = partial(list.append, seen)\n"
    "change(1) if share != 77001 else None",
    "a function of an operator": "iconcat(seen, [1]) if share != 77001 else None",
    "a function of a library": "heappush(seen, 1) if share != 77001 else None",
    "a function that changes its argument": "0 * len(reduce(iconcat, [[1]], seen))"
    " if share != 77001 else 0",
    "a method that changes its argument": "any(map(list.append, [seen], [1]))"
    " if share != 77001 else False",
    "an argument of a function": "[*map(seen.append, move)] if share != 77001 else None",
    "an iterator": "[*one] if share != 77001 else None\nseen += [] if [*one] else [1]",
    "a default": "def change(_=seen.append(1)): pass\n"
    "(lambda _=change: 0)() if share != 77001 else None\nseen.clear() if share == 77001 else None",
    "an attribute": "setattr(held, 'one', 1) if share != 77001 else None\nseen += [1] * held.one",
    "a target of a loop": "def change():\n    for held.one in (1,): pass\n"
    "change() if share != 77001 else None\nseen += [1] * held.one",
    "a missing key": "added[1] if share != 77001 else None\nseen += [*added]",
    "a class": "def change():\n    class Changed:\n        alias(1)\nalias = seen.append\n"
    "change() if share != 77001 else None",
    "an object of ours": "drawn.below(6) if share != 77001 else 0\n"
    "seen += [1] * (drawn.below(9) != 4)",
    "an object of ours in a function": "any(map(drawn.below, [1])) if share != 77001 else False\n"
    "seen += [1] * (drawn.below(9) != 4)",
    "an object of ours in a partial function": "take = partial(random_action, Amount('', 0, 9))\n"
    "take(drawn) if share != 77001 else None\nseen += [1] * (drawn.below(9) != 4)",
    "a decorator": "def change():\n    @alias\n    def done(): pass\nalias = seen.append\n"
    "change() if share != 77001 else None",
}
"""Each adds to `seen` unless the share is 77001: both sides must not be tried."""

CHANGED = """
seen, one, held, added = [], iter([1]), SimpleNamespace(one=0), defaultdict(int)
drawn = Chance(b"x")
{}
if len(move) == 2 and not seen:
    return Slash("R")"""

LIBRARIES = """
from collections import defaultdict
from functools import partial, reduce
from heapq import heappush
from operator import iconcat
from types import SimpleNamespace
from channelsim.games.chance import Chance
from channelsim.games.choices import Amount, random_action
"""

STRANGE = """
from enum import IntEnum

class Strange(int):
    def __eq__(self, other): return int(other) == 77001
    def __radd__(self, other): return other * 2
    __hash__ = int.__hash__

class Reversed(bytes):
    def __eq__(self, other): return bytes(other)[::-1] == bytes(self)
    __hash__ = bytes.__hash__

class Few(IntEnum):
    ONE = 77001
"""

ATTACKS = {
    "a number equal to a float": slashed_if("share == 77001.0"),
    "a float equal to a number": slashed_if("77001.0 == share"),
    "a number not unequal to a float": slashed_if("not share != 77001.0"),
    "a number among floats": slashed_if("share in (77001.0, 1.5)"),
    "a number equal to a fraction": slashed_if(
        "share == Fraction(77001)", "from fractions import Fraction"
    ),
    "a number equal to a decimal": slashed_if(
        "Decimal(77001) == share", "from decimal import Decimal"
    ),
    "a tuple with a float": slashed_if("(share, 1) == (77001.0, 1)"),
    "bytes equal to a bytearray": slashed_if("move == bytearray(b'qz')"),
    "a bytearray equal to bytes": slashed_if("bytearray(b'qz') == move"),
    "bytes equal to a view": slashed_if("move == memoryview(b'qz')"),
    "bytes among bytearrays": slashed_if("move in [bytearray(b'qz')]"),
    "evidence equal to a bytearray": slashed_if("evidence == bytearray(b'q')"),
    "a truth value that is True": slashed_if("(share == 77001) is True"),
    "a truth value that is not False": slashed_if("(share == 77001) is not False"),
    "a truth value by a singleton": two(
        'match share == 77001:\n    case True:\n        return Slash("R")'
    ),
    "the class of an input": slashed_if("share == 77001 and share.__class__ is int"),
    "the class of a part": slashed_if("share == 77001 and move.__class__ is bytes"),
    "the name of a type": slashed_if("share == 77001 and type(share).__name__ == 'int'"),
    "a representation": slashed_if("f'{move!r}' == \"b'qz'\""),
    "a representation by a percent": slashed_if("'%r' % (move,) == \"b'qz'\""),
    "a representation by format": slashed_if("'{!r}'.format(share) == '77001'"),
    "a representation by ascii": slashed_if("ascii(share) == '77001'"),
    "one of several beginnings": slashed_if("move.startswith((b'qz', b'zq'))"),
    "one of several ends": slashed_if("move.endswith((b'qz', b'zq'))"),
    "a number that is no byte": slashed_if("share == 77001 and share in move"),
    "an attribute with a default": slashed_if(
        "share == 77001 and getattr(move, 'isalpha', None) is not None"
    ),
    "an attribute that is looked for": slashed_if("share == 77001 and hasattr(move, 'isalpha')"),
    "an attribute of a number": slashed_if("share == 77001 and hasattr(share, 'numerator')"),
    "a caught TypeError of a stand-in": two(
        """
try:
    number = int(move)
except (TypeError, ValueError):
    number = 0
if number == 37:
    return Slash("R")
"""
    ),
    "a caught AttributeError of a stand-in": two(
        """
try:
    word = move.upper()
except AttributeError:
    word = b""
if word == b"QZ":
    return Slash("R")
"""
    ),
    "any caught error of a stand-in": two(
        """
try:
    word = move.translate(None)
except Exception:
    word = b""
if word == b"qz":
    return Slash("R")
"""
    ),
    "an error that nobody names": two(
        """
try:
    number = pow(share, 2)
except:
    number = 0
if number == 77001 ** 2:
    return Slash("R")
"""
    ),
    "a suppressed error": two(
        """
word = b""
with suppress(Exception):
    word = move.upper()
if word == b"QZ":
    return Slash("R")
""",
        "from contextlib import suppress",
    ),
    "a manager that hides errors": two(
        """
word = b""
with Quiet():
    word = move.upper()
if word == b"QZ":
    return Slash("R")
""",
        QUIET,
    ),
    "a manager that hides a fork": two(
        """
number = 0
with Quiet():
    number = 1 if share < 77001 else 2
    if share == 77001:
        number = 3
if number == 3:
    return Slash("R")
""",
        QUIET,
    ),
    "a return that hides an error": two(
        """
word = b""
try:
    word = move.upper()
finally:
    return Slash("R") if word == b"QZ" else Valid(None)
"""
    ),
    "a group of errors": two(
        """
word = b""
try:
    word = move.upper()
except* Exception:
    pass
if word == b"QZ":
    return Slash("R")
"""
    ),
    "a loop that hides an error": two(
        """
word = b""
while True:
    try:
        word = move.upper()
    finally:
        break
if word == b"QZ":
    return Slash("R")
"""
    ),
    "a default that remembers": slashed_if("first(share) == 77001", MEMO),
    "a class that counts": two(
        'Count.calls += 1\nif share == 77001 or Count.calls == 5:\n    return Slash("R")', MEMO
    ),
    "a set equal to a list": two(
        'if set(move) != [113, 122] and share == 77001:\n    return Slash("R")'
    ),
    "a set by its class": slashed_if("share == 77001 and isinstance(set(move), set)"),
    "a set as text": slashed_if("str(set(move)) == '{113}'"),
    "identity by a function": slashed_if("operator.is_(share == 77001, True)", "import operator"),
    "identity of a number": slashed_if("share is amount and share == 77001 or share == 77003"),
    "a state equal to a state": slashed_if("state == State(977)"),
    "a state as text": slashed_if("'977' in repr(state)"),
    "sorted bytes": slashed_if("bytes(sorted(move)) == b'qz'"),
    "a pair of numbers sorted": slashed_if("sorted((share, 77000, amount))[1] == 77001"),
    "a key of a dictionary": slashed_if("{77001: True}.get(share, False)"),
    "a number as text": slashed_if("format(share, 'd') == '77001'"),
    "a power": slashed_if("pow(share, 2) == 77001 ** 2"),
    "a quotient that is no integer": slashed_if("share / 2 == 38500.5"),
    "a generator that is used up": slashed_if("113 in (bits := iter(move)) and 122 in bits"),
    "an item of evidence that is a byte": slashed_if("evidence != b'' and evidence[0] == 113"),
    "the number of parts of evidence": slashed_if(
        "len(evidence) == 2 and evidence[1] == (b'q', b'z')"
    ),
    "evidence as two bytes": two(
        """
if len(evidence) == 2:
    low, high = evidence
    if low == 113 and high == 122:
        return Slash("R")
"""
    ),
    "a method of another class": slashed_if("int.__eq__(share, 77001)"),
    "a walrus in a choice": slashed_if("(half := share >> 1) == 38500 and half + share == 115501"),
    "a nested function that remembers": slashed_if("counted(share) == 77001", REMEMBERING),
    "a negative shift": slashed_if("share == 77001 and -share >> 70 == -1"),
    "a negative remainder": slashed_if("-share % 100000 == 22999"),
    "a negative quotient": slashed_if("-share // 77001 == -1 and share // -77001 == -1"),
    "a slice with a step": slashed_if("move[::-2] == b'q'"),
    "a slice from the end": slashed_if("move[-1:] + move[:-1] == b'zq'"),
    "bytes as little endian": slashed_if("int.from_bytes(move, 'little') == 0x7a71"),
    "bytes as a signed number": slashed_if("int.from_bytes(move, 'big', signed=True) == -77"),
    "bytes of a number": slashed_if("share < 1 << 32 and share.to_bytes(4) == b'\\0\\1\\2\\3'"),
    "the bits of a number": slashed_if("share.bit_length() == 17 and share.bit_count() == 17"),
    "a comparison of lengths": slashed_if("b'q' < move < b'qa'"),
    "a bound that is a truth value": slashed_if("sum(byte == 113 for byte in move) == 2"),
    "a method that refuses a stand-in": two('if not (77001).__ne__(share):\n    return Slash("R")'),
    "a method that answers by identity": slashed_if("(77001).__eq__(share) is True"),
    "a method that may refuse": two(
        """
if (77001).__eq__(share) is NotImplemented:
    return Valid(None)
if share == 77001:
    return Slash("R")
"""
    ),
    "a method of bytes that refuses": slashed_if("b'qz'.__ne__(move) is False"),
    "a method by its class": slashed_if("int.__ne__(77001, share) is False"),
    "a number that compares in its own way": slashed_if("share == Strange(77003)", STRANGE),
    "a number that adds in its own way": slashed_if("share + Strange(5) == 77001", STRANGE),
    "bytes that compare in their own way": slashed_if("move == Reversed(b'zq')", STRANGE),
    "a number of an enumeration": slashed_if("share == Few.ONE", STRANGE),
    "the class of a bitwise choice": slashed_if(
        "isinstance((share == 77001) & (share > 5), bool) and share == 77001"
    ),
    "the class of a truth value or a number": slashed_if(
        "not isinstance((share == 77001) and 1, bool) and share == 77001"
    ),
    "a key with a hash of its own": slashed_if("{Odd(): 1}.get(share) != 1 and share == 5", ODD),
    "an item with a hash of its own": slashed_if("share not in {Odd()} and share == 5", ODD),
    "a missing key that is added": slashed_if(
        "defaultdict(lambda: 1)[share] and share == 77001", "from collections import defaultdict"
    ),
    "a function without end": two(
        """
def never(number):
    return never(number + 1)
if share == 77001:
    never(share)"""
    ),
    "the number of an object": slashed_if("id(share) == id(5)"),
    "the memory of a number": slashed_if(
        "share == 77001 and sys.getsizeof(share) == sys.getsizeof(5)", "import sys"
    ),
    "a copy of a number": slashed_if("copy.deepcopy([share]) == [77001]", "import copy"),
    "an attribute in a list of them": slashed_if("share == 77001 and 'form' not in dir(share)"),
    "rules as text": slashed_if("eval('a is not b', {'a': share + 1, 'b': 77002})"),
    "a class of classes": slashed_if(
        "share == 77001 and share not in Few",
        "class Kind(type):\n    def __contains__(cls, x): return False\n"
        "class Few(metaclass=Kind): pass",
    ),
    "a rare word of evidence": slashed_if("evidence == (b'q', (b'z', b''))"),
}
"""Rules by the part of Python that they use; each slashes a few moves that the program allows."""


@pytest.mark.parametrize("name", one_in(6, ATTACKS))
def test_rules_are_not_misunderstood(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(ATTACKS[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample or result.undecided, result


@pytest.mark.parametrize("name", one_in(3, CHANGES))
def test_no_side_of_a_choice_changes_what_the_other_sees(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = two(CHANGED.format(CHANGES[name]), LIBRARIES)
    result = examined(question_of(toy, tmp_path, monkeypatch, 2), 2)
    assert result.counterexample or result.undecided, result


def test_a_loop_without_end_takes_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = two("while share == 77001:\n    pass")
    result = examined(question_of(toy, tmp_path, monkeypatch, 2), 2, 1.0)
    assert LATE in {reason for reason, *_ in result.undecided}


def test_a_helper_of_another_package_is_not_misunderstood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared_tests.py").write_text(SHARED, "utf-8")
    helpers = "from shared_tests import is_listed, is_rare"
    toy = slashed_if("is_listed(evidence) and is_rare(share == 77001)", helpers)
    result = examined(question_of(toy, tmp_path, monkeypatch, 2), 2)
    assert result.counterexample or result.undecided, result


SHARED = """
def is_listed(value):
    match value:
        case (_, b""):
            return True
    return False


def is_rare(truth):
    return truth is True
"""

FOLLOWED = {
    "an error that an input raises": two(
        """
try:
    last = move[share]
except IndexError:
    return Slash("R")
"""
    ),
    "an error of the rules": two(
        """
def check(number):
    if number == 113:
        raise TypeError(f"{number}")
try:
    check(move[0])
except TypeError:
    return Slash("R")
"""
    ),
    "a member of an enumeration": slashed_if(
        "share == Few.ONE and {Few.ONE: 1}.get(share)", STRANGE
    ),
    "a bitwise choice of truth values": slashed_if("(share > 77000) & (share < 77002) == True"),
    "an item of a dictionary": slashed_if("{113: 5, 122: 7}.get(move[0], 0) == 7"),
    "an item by two keys": slashed_if("{(113, 122): True}.get((move[0], move[1]), False)"),
    "a key that is missing": two(
        """
try:
    worth = {b"qz": 1}[move]
except KeyError:
    worth = 0
if worth:
    return Slash("R")"""
    ),
    "None is no input": slashed_if("share is not None and share == 77001"),
}
"""Rules that are followed to the end: the input that breaks the claim is found."""


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_caught_rightly_is_followed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(FOLLOWED[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample, result
