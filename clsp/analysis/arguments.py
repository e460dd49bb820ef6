"""Parse the argument lists that the compiler's symbols record for functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from channelsim.clsp.analysis.code import LET, Function
from channelsim.clsp.values import Value


@dataclass(frozen=True, slots=True)
class Named:
    """`(@ NAME (…))`: a name for the whole, and a pattern for its parts."""

    name: str
    parts: Pattern


Pattern: TypeAlias = str | Named | tuple["Pattern", "Pattern"]
"""The arguments of a function: a name, or a pair of patterns; "" stands for ()."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


def pattern(text: str) -> Pattern:
    """Parse an argument list of the compiler's symbols; "" for text that is not one.

    >>> pattern("(a (b c) . rest)")
    ('a', (('b', ('c', '')), 'rest'))
    """
    tokens = _TOKEN.findall(text)
    try:
        return _pattern(tokens)
    except (IndexError, ValueError):
        return ""


def _pattern(tokens: list[str]) -> Pattern:
    token = tokens.pop(0)
    if token != "(":
        return token
    if tokens[0] == "@" and tokens[2] == "(":
        name = tokens[1]
        del tokens[:2]
        parts = _pattern(tokens)
        tokens.pop(0)
        return Named(name, parts)
    items: list[Pattern] = []
    last: Pattern = ""
    while tokens[0] != ")":
        if tokens[0] == ".":
            tokens.pop(0)
            last = _pattern(tokens)
        else:
            items.append(_pattern(tokens))
    tokens.pop(0)
    for item in reversed(items):
        last = (item, last)
    return last


def arguments_of(function: Function) -> Pattern:
    """The parameters of a function; for the body of a `let`, only the names that it binds."""
    whole = pattern(function.arguments)
    if function.name == LET and isinstance(whole, tuple):
        return whole[1]
    return whole


def bound(shape: Pattern, value: Value) -> Iterator[tuple[str, Value]]:
    """The arguments by name; an argument that the value is too short for is left out.

    >>> list(bound(pattern("(a (b . c))"), (b"1", ((b"2", b"3"), b""))))
    [('a', b'1'), ('b', b'2'), ('c', b'3')]
    """
    if isinstance(shape, Named):
        yield from bound(shape.parts, value)
    elif isinstance(shape, str):
        if shape:
            yield shape, value
    elif isinstance(value, tuple):
        yield from bound(shape[0], value[0])
        yield from bound(shape[1], value[1])


def pattern_text(shape: Pattern) -> str:
    """A pattern in the notation of the source.

    >>> pattern_text(pattern("(a (b . c))"))
    '(a (b . c))'
    """
    if isinstance(shape, Named):
        return f"(@ {shape.name} {pattern_text(shape.parts)})"
    if isinstance(shape, str):
        return shape or "()"
    parts = []
    rest: Pattern = shape
    while isinstance(rest, tuple):
        parts.append(pattern_text(rest[0]))
        rest = rest[1]
    if rest:
        parts += [".", pattern_text(rest)]
    return f"({' '.join(parts)})"


def part(name: str, steps: str) -> str:
    """A part of an argument; the letters `f` and `r` apply from right to left.

    >>> part("items", "fr")
    '(f (r items))'
    """
    for step in reversed(steps):
        name = f"({step} {name})"
    return name


def paths(shape: Pattern, at: int) -> Iterator[tuple[int, str]]:
    """The path of each named argument, where all arguments together are at this path."""
    if isinstance(shape, Named):
        yield at, shape.name
        yield from paths(shape.parts, at)
        return
    if isinstance(shape, str):
        if shape:
            yield at, shape
        return
    top = 1 << at.bit_length() - 1
    # A step more: the leading bit moves up, and its place says left or right.
    yield from paths(shape[0], at + top)
    yield from paths(shape[1], at + 2 * top)
