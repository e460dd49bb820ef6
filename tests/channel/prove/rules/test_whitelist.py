"""Every class of syntax, builtin and method has a row: what has none is undecided."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from re import findall

import pytest

from channelsim.channel.prove.rules import choices, known_syntax, syntax
from channelsim.channel.prove.rules.builtin_models import BUILTINS
from channelsim.channel.prove.rules.known_calls import BUILTINS as ROWS
from channelsim.channel.prove.rules.known_calls import (
    FUNCTIONS,
    METHODS,
    MODEL,
    ONLY_PLAIN,
    REFUSED,
)
from channelsim.channel.prove.rules.known_syntax import NODES, PLAIN, REWRITTEN
from channelsim.channel.prove.rules.real import is_model
from channelsim.channel.prove.rules.standins.names import OF_STAND_INS, STAND_INS
from channelsim.channel.prove.rules.syntax import _Pass
from tests.channel.prove.rules.test_attacked import slashed_if, two
from tests.channel.prove.rules.toys import Toy, examined, question_of
from tests.sampling import one_in

NODE_CLASSES = sorted(
    name for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.AST)
)


def test_each_class_of_syntax_has_a_row() -> None:
    assert [name for name in NODE_CLASSES if name not in NODES] == []


def test_a_node_that_is_rewritten_has_a_visitor() -> None:
    by_others = {
        *("And", "Or", "Not", "In", "NotIn", "Is", "IsNot", "ClassDef"),
        *(name for name in NODE_CLASSES if name.startswith("Match") and name != "Match"),
    }
    for name, row in NODES.items():
        if row == REWRITTEN and name not in by_others:
            assert f"visit_{name}" in vars(_Pass), name
        if row != REWRITTEN:
            assert f"visit_{name}" not in vars(_Pass), name


def test_each_helper_that_rewritten_rules_call_is_there() -> None:
    folder = Path(syntax.__file__).parent
    texts = [(folder / f"{name}.py").read_text("utf-8") for name in ("syntax", "patterns")]
    called = {name for text in texts for name in findall(r'_node\(\s*"(\w+)"', text)}
    assert len(called) > 20
    assert [name for name in called if not hasattr(choices, name)] == []


def test_each_builtin_has_a_row_or_is_a_constant_or_an_error() -> None:
    missing = [
        name
        for name, value in vars(builtins).items()
        if name not in ROWS
        and callable(value)
        and name not in ("_", "__loader__")
        and not (isinstance(value, type) and issubclass(value, BaseException))
    ]
    assert missing == []
    assert [name for name in ROWS if not hasattr(builtins, name)] == []


@pytest.mark.parametrize("row", [MODEL, REFUSED])
def test_what_has_a_model_or_is_refused_is_not_pythons_own(row: str) -> None:
    for name, kind in ROWS.items():
        if kind == row:
            assert is_model(BUILTINS[name]), name
            assert id(getattr(builtins, name)) not in FUNCTIONS, name


@pytest.mark.parametrize("kind", ONLY_PLAIN)
def test_each_method_has_a_row(kind: type) -> None:
    names = {name for name in dir(kind) if not name.startswith("_")}
    rows = METHODS[kind] | ONLY_PLAIN[kind]
    assert names <= rows, names - rows
    assert not METHODS[kind] & ONLY_PLAIN[kind]


def test_what_stand_ins_alone_have_is_not_seen() -> None:
    for kind, plain in STAND_INS:
        for each in plain:
            own = {name for name in dir(kind) if not hasattr(each, name)}
            assert own <= OF_STAND_INS, own - OF_STAND_INS


def test_a_class_of_syntax_without_a_row_is_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that Python understands, and that rules use: its row decides."""
    toy = slashed_if("max([1, share]) == 77001")
    rows = {name: row for name, row in NODES.items() if name != "List"}
    assert NODES["List"] == PLAIN
    monkeypatch.setattr("channelsim.channel.prove.rules.syntax.NODES", rows)
    result = examined(question_of(toy, tmp_path, monkeypatch, 2), 2)
    assert "no model of `List`" in {reason for reason, *_ in result.undecided}
    assert all(place for _, place, _ in result.undecided)


def test_a_function_without_a_row_is_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = slashed_if("fsum([share]) == 77001", "from math import fsum")
    result = examined(question_of(toy, tmp_path, monkeypatch, 2), 2)
    assert "no model of math.fsum" in {reason for reason, *_ in result.undecided}


QUIET = """
class Quiet:
    def __enter__(self): return self
    def __exit__(self, *error): return True
"""

DECORATED = """
def kept(flag):
    return lambda function: lambda: flag
"""

PROTOCOL = """
from typing import Protocol, runtime_checkable
@runtime_checkable
class Symbolic(Protocol):
    symbol: int
"""

ATTACKS: dict[str, Toy] = {
    "the body of a class": two("""
class Found:
    rare = (share == 77001) is True
if Found.rare: return Slash("R")
"""),
    "a choice in the body of a class": two("""
class Found:
    rare = share == 77001 and not None
if Found.rare: return Slash("R")
"""),
    "an error in the body of a class": two("""
class Found:
    word = b""
    try: word = move.upper()
    except Exception: pass
if Found.word == b"QZ": return Slash("R")
"""),
    "a manager in the body of a class": two(
        """
class Found:
    word = b""
    with Quiet(): word = move.upper()
if Found.word == b"QZ": return Slash("R")
""",
        QUIET,
    ),
    "a pattern in the body of a class": two("""
class Found:
    rare = 0
    match share == 77001:
        case True: rare = 1
if Found.rare: return Slash("R")
"""),
    "a keyword of a class": two("""
class Base:
    def __init_subclass__(cls, rare=False): cls.rare = rare
class Found(Base, rare=(share == 77001) is True): pass
if Found.rare: return Slash("R")
"""),
    "a decorator": two(
        """
@kept((share == 77001) is True)
def rare(): pass
if rare(): return Slash("R")
""",
        DECORATED,
    ),
    "the documentation of a number": slashed_if(
        "share == 77001 and 'stand' not in (share.__doc__ or '')"
    ),
    "a method of a number that refuses": slashed_if(
        "share == 77001 and share.__eq__(77001.0) is NotImplemented"
    ),
    "a method of bytes that refuses": slashed_if("move.__eq__(bytearray(b'qz')) is True"),
    "the class of classes": slashed_if("share == 77001 and share.__class__.__class__ is type"),
    "objects with the attribute `plain`": slashed_if(
        "Odd() is not Odd() and share == 77001", "class Odd: plain = 0"
    ),
    "a protocol": slashed_if("not isinstance(share, Symbolic) and share == 77001", PROTOCOL),
    "an attribute that is set": two("""
try:
    share.symbol = move
except AttributeError:
    if share == 77001: return Slash("R")
"""),
    "an attribute that is deleted": two("""
rare = share + 0
try:
    del rare.symbol
except AttributeError:
    if share == 77001: return Slash("R")
"""),
    "an attribute that `object` sets": two("""
rare = share + 0
try:
    object.__setattr__(rare, "symbol", 5)
except AttributeError:
    if share == 77001: return Slash("R")
"""),
    "an attribute in a pattern": two("""
match move:
    case object(symbol=_): return Valid(None)
if share == 77001: return Slash("R")
"""),
    "an attribute by a getter": two(
        """
try:
    attrgetter("symbol")(share)
except AttributeError:
    if share == 77001: return Slash("R")
""",
        "from operator import attrgetter",
    ),
    "an order that is none": two("""
try:
    share.to_bytes(8, "medium")
except ValueError:
    if share == 77001: return Slash("R")
"""),
    "an order of bytes that is none": two("""
try:
    int.from_bytes(move, "medium")
except ValueError:
    if move == b"qz": return Slash("R")
"""),
    "a base of a number": two("""
try:
    int(share, 10)
except TypeError:
    if share == 77001: return Slash("R")
"""),
    "a list of beginnings": two("""
try:
    move.startswith([b"qz"])
except TypeError:
    if move == b"qz": return Slash("R")
"""),
    "a text among bytes": two("""
try:
    "qz" in move
except TypeError:
    if move == b"qz": return Slash("R")
"""),
    "a `finally` that raises": two("""
word = b""
try:
    try:
        word = b"QZ"
        word = move.upper()
    finally:
        {}[0]
except KeyError:
    pass
if word == b"QZ" and share == 77001: return Slash("R")
"""),
    "a change by a method of a method": two("""
seen = []
change = seen.append.__call__
change(1) if share != 77001 else 0
if not seen: return Slash("R")
"""),
    "all modules": slashed_if(
        "share == 77001 and not any('stand-in' in name for name in modules)",
        "from sys import modules",
    ),
    "a loop over a set of bytes": two("""
for word in {b"qz", b"zq", b"zz"}:
    break
if move == word: return Slash("R")
"""),
    "the first item of a set of texts": slashed_if(
        "share == 77001 and [*{'a', 'b', 'c', 'd'}][0] != 'a'"
    ),
    "a set of bytes in a library": slashed_if(
        "share == 77001 and next(chain({b'a', b'b', b'c'})) != b'a'",
        "from itertools import chain",
    ),
    "a hash of what is no bytes": two("""
try:
    sha256("qz")
except TypeError:
    if share == 77001: return Slash("R")
"""),
    "a hash that outlives a judgement": two(
        """
KEPT.update(b"x")
if KEPT.digest() == sha256(50 * b"x").digest(): return Slash("R")
""",
        "KEPT = sha256()",
    ),
    "maps that outlive a judgement": two(
        """
KEPT["x"] = KEPT.get("x", 0) + 1
if KEPT["x"] == 50: return Slash("R")
""",
        "from collections import ChainMap\nKEPT = ChainMap()",
    ),
    "an error that outlives a judgement": two(
        """
KEPT.args = (*KEPT.args, 1)
if len(KEPT.args) == 50: return Slash("R")
""",
        "KEPT = ValueError()",
    ),
    "hashes of programs that are changed": two("""
hashes["x"] = hashes.get("x", 0) + 1
if hashes["x"] == 50: return Slash("R")
"""),
    "an attribute of a library": two(
        """
math.odd = getattr(math, "odd", 0) + 1
if math.odd == 50: return Slash("R")
""",
        "import math",
    ),
    "a cached property": two(
        """
if Kept().number == 1 and share == 77001: return Slash("R")
""",
        """
from functools import cached_property
class Kept:
    count = 0
    @property
    def number(self): return self.inner and self.inner
    @cached_property
    def inner(self):
        self.count += 1
        return self.count
""",
    ),
    "a cached function of equal arguments": slashed_if(
        "is_float(77001.0) and is_float(share)",
        """
from functools import cache
@cache
def is_float(number): return isinstance(number, float)
""",
    ),
    "the class of a union of sets": slashed_if(
        "type(frozenset([5]) | {move[0]}) is frozenset and share == 77001"
    ),
    "an item that a set gives away": two("""
words = {b"qz", b"zq", b"zz"}
if move == words.pop(): return Slash("R")
"""),
}
"""Rules that a list of what is not followed has missed before."""


@pytest.mark.parametrize("name", one_in(6, ATTACKS))
def test_rules_are_not_misunderstood(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(ATTACKS[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample or result.undecided, result


FOLLOWED = {
    "a class in a function": two("""
class Found:
    limit = 77000
    def rare(self, number): return number == self.limit + 1
if Found().rare(share): return Slash("R")
"""),
    "a set of bytes in any order": slashed_if("any(move == word for word in {b'qz', b'zq'})"),
    "a sorted set of bytes": slashed_if("move == sorted({b'zq', b'qz'})[0]"),
    "an attribute that is counted": two("""
class Count: number = 0
count = Count()
count.number += share
if count.number == 77001: return Slash("R")
"""),
    "an object of a library": slashed_if(
        "reduce(lambda a, b: 256 * a + b, move, 0) == 0x717a", "from functools import reduce"
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_clear_is_followed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(FOLLOWED[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample, result


def test_names_with_a_meaning_are_told_apart() -> None:
    assert known_syntax.is_special("__eq__")
    assert not known_syntax.is_special("_slice")
