"""Rules by Python's finer points: laziness, patterns, errors, memory, identity. Never "proved"
against a program that allows what they forbid, nor an error of the prover."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.channel.prove.rules.test_attacked import two
from tests.channel.prove.rules.toys import Toy, examined, question_of
from tests.sampling import one_in

LAZY = {
    "any: generator raises after hit": two("""
def gen():
    yield move[0]
    raise ValueError
try:
    any(b == 113 for b in gen())
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "any: generator has side effects": two("""
seen = []
def gen():
    for b in move:
        seen.append(b)
        yield b
any(b == 113 for b in gen())
if len(seen) == 1: return Slash("R")
"""),
    "any: map with effects": two("""
seen = []
def f(b):
    seen.append(b)
    return b == 113
any(map(f, move))
if len(seen) == 1: return Slash("R")
"""),
    "all: iterator rest": two("""
it = iter([share != 77001, True])
all(it)
if [*it]: return Slash("R")
"""),
    "any: lazy over iterator, rest": two("""
it = iter(move)
any(b == 113 for b in it)
if [*it]: return Slash("R")
"""),
    "any: late variable": two("""
total = 0
def gen():
    nonlocal total
    for b in move:
        total += b
        yield b
if any(total == 113 for _ in gen()): return Slash("R")
"""),
    "any: condition raises later": two("""
def check(b):
    if b == 122: raise ValueError
    return True
try:
    any(b == 113 for b in (move[0], 122) if check(b))
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "any: condition with effect": two("""
seen = []
def check(b):
    seen.append(b)
    return True
any(b == 113 for b in move if check(b))
if len(seen) == 1: return Slash("R")
"""),
    "any: inner iterable raises": two("""
def inner(b):
    if b == 122: raise ValueError
    return (b,)
try:
    any(c == 113 for b in (move[0], 122) for c in inner(b))
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "any: zip strict": two("""
try:
    any(a == b for a, b in zip(move, b"q", strict=True))
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "any: unpack fails later": two("""
try:
    any(a == b for a, b in ((move[0], 113), (1, 2, 3)))
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "in list: raising eq": two("""
class Raiser:
    def __eq__(self, other): raise ValueError
try:
    share in [77001, Raiser()]
except ValueError:
    return Valid(None)
return Slash("R")
"""),
    "in list: counting eq": two("""
seen = []
class Counting:
    def __eq__(self, other):
        seen.append(1)
        return False
share in [77001, Counting()]
if not seen: return Slash("R")
"""),
}
"""Python stops at the item that decides."""

PATTERNS = {
    "match: partial capture": two("""
a = 1
match (share, amount):
    case (a, 5): pass
    case _: pass
if a == 1 and share == 77001: return Slash("R")
"""),
    "match: as binding before failure": two("""
x = 0
match (share, 1):
    case (77001 as x, 2): pass
if x == 0 and share == 77001: return Slash("R")
"""),
    "match: singleton vs int": two("""
x = 1 if share == 77001 else 0
match x:
    case True: return Valid(None)
    case 1: return Slash("R")
"""),
    "match: range": two("""
match range(share if share < 5 else 3):
    case [_, _, _]:
        if share == 77001: return Slash("R")
"""),
    "match: deque": two(
        """
match deque(move):
    case [113, 122]: return Slash("R")
""",
        "from collections import deque",
    ),
}
"""Names are bound if the whole pattern fits; every sequence has parts."""

ERRORS = {
    "error text f-string": two("""
try:
    raise ValueError(f"{move!r}")
except ValueError as e:
    if e.args[0] == "b'qz'": return Slash("R")
"""),
    "error text f-string plain": two("""
try:
    n = 5
    raise ValueError(f"n{n}")
except ValueError as e:
    if str(e) == "n5" and share == 77001: return Slash("R")
"""),
    "error of dict key 2": two("""
try:
    {1: 2}[share]
except KeyError as e:
    if e.args[0] != "an input" and share == 77001: return Slash("R")
"""),
    "big shift caught": two("""
try:
    x = share << 70000
except Exception:
    return Valid(None)
if x == 77001 << 70000: return Slash("R")
"""),
    "error from struct": two(
        """
try:
    struct.pack("2s", move)
except struct.error:
    return Valid(None)
if share == 77001: return Slash("R")
""",
        "import struct",
    ),
    "system exit": two("if share == 77001: raise SystemExit"),
    "error class str raises": two(
        "if share == 77001: raise Bad()",
        """
class Bad(Exception):
    def __str__(self): raise KeyError
""",
    ),
}
"""What is raised, and its text."""

CHANGES = {
    "cached property": two(
        """
h = H(share)
x = h.rare if share != 77001 else False
if h.rare: return Slash("R")
""",
        """
from functools import cached_property
class H:
    def __init__(self, share): self.share = share
    @cached_property
    def rare(self): return self.share == 77001
""",
    ),
    "cached property via chance": two(
        """
c = Chance(b"x")
first = c.below(1000) if share != 77001 else 0
if c.below(1000) == Chance(b"x").below(1000): return Slash("R")
""",
        "from channelsim.games.chance import Chance",
    ),
    "chance as argument": two(
        """
c = Chance(b"x")
def f(c): return c.below(1000)
first = f(c) if share != 77001 else 0
if f(c) == f(Chance(b"x")): return Slash("R")
""",
        "from channelsim.games.chance import Chance",
    ),
    "iadd deque": two(
        """
d = deque()
def change(d):
    d += [1]
    return 1
change(d) if share != 77001 else 1
if not d: return Slash("R")
""",
        "from collections import deque",
    ),
    "for unpacks an iterator": two("""
it = iter([1, 2])
def use(it):
    for a, b in [it]: pass
    return 1
use(it) if share != 77001 else 1
if [*it]: return Slash("R")
"""),
    "comprehension unpacks an iterator": two("""
it = iter([1, 2])
len([a for a, b in [it]]) if share != 77001 else 1
if [*it]: return Slash("R")
"""),
}
"""Each side of a choice changes what outlives it."""

MEMORY = {
    "nested list at module": two(
        """
C[0].append(1)
if len(C[0]) == 50: return Slash("R")
""",
        "C = [[]]",
    ),
    "object attribute": two(
        """
C.n += 1
if C.n == 50: return Slash("R")
""",
        """
class A: n = 0
C = A()
""",
    ),
    "count at module": two(
        'if next(C) == 50: return Slash("R")',
        """
import itertools
C = itertools.count()
""",
    ),
    "deque at module": two(
        """
C.append(1)
if len(C) == 50: return Slash("R")
""",
        """
from collections import deque
C = deque()
""",
    ),
    "bytearray at module": two(
        """
C.append(1)
if len(C) == 50: return Slash("R")
""",
        "C = bytearray()",
    ),
    "method default": two(
        'if A().f() == 50: return Slash("R")',
        """
class A:
    def f(self, memo=[]):
        memo.append(1)
        return len(memo)
""",
    ),
    "nested closure": two(
        'if C() == 50: return Slash("R")',
        """
def make():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    def outer():
        return inner()
    return outer
C = make()
""",
    ),
    "partial": two(
        """
C()
if len(C.args[0]) == 50: return Slash("R")
""",
        """
from functools import partial
C = partial(lambda l: l.append(1), [])
""",
    ),
    "class attribute nested": two(
        """
A.memo["x"].append(1)
if len(A.memo["x"]) == 50: return Slash("R")
""",
        """
class A:
    memo = {"x": []}
""",
    ),
    "tuple with a list": two(
        """
C[0].append(1)
if len(C[0]) == 50: return Slash("R")
""",
        "C = ([],)",
    ),
}
"""What outlives a judgement: the claim is about every call."""

WORLD = {
    "random only": two(
        'if R.random() < 0.0000001: return Slash("R")',
        """
from random import Random
R = Random(5)
""",
    ),
    "time": two('if time.time() > 5e9: return Slash("R")', "import time"),
    "datetime": two(
        'if datetime.now().year > 2100: return Slash("R")', "from datetime import datetime"
    ),
    "environment": two('if os.environ.get("ODD"): return Slash("R")', "import os"),
    "hash of bytes": two('if hash(b"x") == 5: return Slash("R")'),
    "context decorator": two(
        """
w = [b""]
@Quiet()
def f():
    w[0] = move.upper()
f()
if w[0] == b"QZ": return Slash("R")
""",
        """
from contextlib import ContextDecorator
class Quiet(ContextDecorator):
    def __enter__(self): return self
    def __exit__(self, *e): return True
""",
    ),
    "executor": two(
        """
def f():
    return move.upper()
x = ThreadPoolExecutor(1).submit(f)
x = b"" if x.exception() else x.result()
if x == b"QZ": return Slash("R")
""",
        "from concurrent.futures import ThreadPoolExecutor",
    ),
    "__del__ swallows": two("""
w = [b""]
class D:
    def __del__(self): w[0] = move.upper()
d = D()
del d
if w[0] == b"QZ": return Slash("R")
"""),
    "sys.exc_info": two(
        """
try:
    raise KeyError(f"{share}")
except KeyError:
    if sys.exc_info()[1].args[0] == "77001": return Slash("R")
""",
        "import sys",
    ),
    "frames": two(
        'if sys._getframe().f_code.co_name != "judge" or share == 77001: return Slash("R")',
        "import sys",
    ),
    "__name__": two("""
if __name__.endswith("stand-ins"): return Valid(None)
if share == 77001: return Slash("R")
"""),
    "function code": two("""
def f(): return 5 and 6
if f.__code__.co_names: return Valid(None)
if share == 77001: return Slash("R")
"""),
    "inspect": two("""
if "__prove__" in globals(): return Valid(None)
if share == 77001: return Slash("R")
"""),
    "module of a class": two("""
if State.__module__.endswith("ins"): return Valid(None)
if share == 77001: return Slash("R")
"""),
    "builtins isinstance": two(
        """
if builtins.bytes is builtins.type(move):
    if share == 77001: return Slash("R")
""",
        "import builtins",
    ),
    "standin attribute": two("""
if share == 77001 and not hasattr(share, 'symbol'):
    return Slash("R")
"""),
    "standin attribute 3": two("""
if share == 77001 and getattr(evidence, 'form', 5) == 5:
    return Slash("R")
"""),
}
"""What is another each time, hides what is raised, or sees the prover."""

CACHED = {
    "a cached function with an effect": two("""
seen = []
@lru_cache
def f(x):
    seen.append(x)
    return x
f(1), f(1)
if len(seen) == 1 and share == 77001: return Slash("R")
"""),
    "the identity of a cached result": two("""
@lru_cache
def f(x): return [x]
if f(1) is f(1) and share == 77001: return Slash("R")
"""),
}
"""A cached function is called once."""

IDENTITY = {
    "identity of tuples": two("""
a = (share, 1)
b = a if share == 77001 else (share, 1)
if b is a: return Slash("R")
"""),
    "identity of big numbers": two("""
a = int("123456")
b = a if share == 77001 else int("123456")
if b is a: return Slash("R")
"""),
    "identity of bytes": two("""
a = bytes([1, 2])
b = a if share == 77001 else bytes([1, 2])
if b is a: return Slash("R")
"""),
    "bool or int merged": two("""
m = True if share == 77001 else 1
if m is True: return Slash("R")
"""),
    "order of a set 2": two(
        'if share == 77001 and list({move[0], move[1]})[0] != move[0]: return Slash("R")'
    ),
    "order of set in loop": two("""
for x in {move[0], move[1]}:
    break
if share == 77001 and x != move[0]: return Slash("R")
"""),
    "frozenset class": two("""
if share == 77001 and isinstance(frozenset(move), frozenset):
    return Slash("R")
"""),
    "frozenset not set": two("""
if share == 77001 and not isinstance(frozenset(move), set):
    return Slash("R")
"""),
    "set identity of copy": two("""
s = set(move)
t = set(s)
if t is not s and share == 77001: return Slash("R")
"""),
}
"""Which object a value is, its class, and the order of a set."""

ALL: dict[str, Toy] = {**LAZY, **PATTERNS, **ERRORS, **CHANGES, **CACHED, **IDENTITY}


@pytest.mark.parametrize("name", one_in(6, ALL))
def test_rules_are_not_misunderstood(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(ALL[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample or result.undecided, result


@pytest.mark.long
@pytest.mark.parametrize("name", [*MEMORY, *WORLD])
def test_what_is_no_function_of_its_arguments_is_not_proved(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = question_of((MEMORY | WORLD)[name], tmp_path, monkeypatch, 2)
    result = examined(question, 2)
    assert result.counterexample or result.undecided, result


FOLLOWED = {
    "one or zero is no truth value": two("""
if type(1 if share == 77001 else 0) is int and share == 77001:
    return Slash("R")
"""),
    "any of some pairs": two("""
if any(a == b for a, b in zip(move, b"qz", strict=True) if a != 113) and share == 77001:
    return Slash("R")
"""),
    "all of all of": two("""
if all(a == b for a in move for b in (113, 113)):
    return Slash("R")
"""),
    "the text of a known error": two("""
try:
    raise ValueError(f"a{5}")
except ValueError as error:
    if str(error) == "a5" and share == 77001:
        return Slash("R")
"""),
    "a sum of a set": two("""
if sum({*move}) == 235 and len({*move}) == 2 and move[0] == 113:
    return Slash("R")
"""),
}
"""Rules of these kinds that are followed to the end."""


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_clear_is_followed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = examined(question_of(FOLLOWED[name], tmp_path, monkeypatch, 2), 2)
    assert result.counterexample, result
