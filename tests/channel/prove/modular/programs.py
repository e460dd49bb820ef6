"""Programs with functions as text, and a place in each that is changed.

An expression is a list of an operator's name and its operands; `$0` is the first argument of a
function, `$MOVE` one of the validator's. `(call NAME A B)` calls a function, `(if C A B)` evaluates
one side only. `{A|B}` is the place: A in the original, B in the mutant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from channelsim.clsp.operators import APPLY, CODES, CONS, IF, QUOTE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from tests.channel.prove.programs import COIN

_TOKEN = re.compile(r"[()]|[^\s()]+")
_PLACE = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")

TREE: Value = b"\x02"


def both(main: str, functions: Mapping[str, str]) -> tuple[Program, Program]:
    """The original and the mutant."""
    first, second = (partial(_PLACE.sub, rf"\{side}") for side in (1, 2))
    return tuple(  # type: ignore[return-value]
        program(chosen(main), {name: chosen(text) for name, text in functions.items()})
        for chosen in (first, second)
    )


def program(main: str, functions: Mapping[str, str]) -> Program:
    """A program that runs `main` beside the tree of its functions."""
    paths = {name: _path(0, *[1] * at, 0) for at, name in enumerate(functions)}
    bodies = [_expression(_TOKEN.findall(text), paths) for text in functions.values()]
    tree = (QUOTE, to_list(bodies))
    code = (QUOTE, _expression(_TOKEN.findall(main), paths))
    environment = to_list([CONS, tree, b"\x01"])
    return Program(serialize(to_list([APPLY, code, environment])))


def _path(*steps: int) -> bytes:
    number = 1
    for step in reversed(steps):
        number = number << 1 | step
    return int_to_atom(number)


def _argument(name: str) -> bytes:
    if name.isdigit():
        return _path(1, *[1] * int(name), 0)
    if name in COIN:
        return _path(1, 1, 0, *[1] * COIN.index(name), 0)
    outer = ("PROGRAM_HASH", "", "STATE", "PROGRAM", "EVIDENCE")
    return _path(1, *[1] * outer.index(name), 0)


def _expression(tokens: list[str], paths: Mapping[str, bytes]) -> Value:
    token = tokens.pop(0)
    if token.startswith("$"):
        return _argument(token[1:])
    if token.startswith("0x"):
        return (QUOTE, bytes.fromhex(token[2:]))
    if token == "tree":
        return TREE
    if token != "(":
        return (QUOTE, int_to_atom(int(token)))
    name = tokens.pop(0)
    if name == ")":
        return NIL
    called = tokens.pop(0) if name == "call" else ""
    items = []
    while tokens[0] != ")":
        items.append(_expression(tokens, paths))
    tokens.pop(0)
    if name == "call":
        return to_list([APPLY, paths[called], to_list([CONS, TREE, _list(items)])])
    if name == "if":
        test, then, otherwise = items
        choice = to_list([IF, test, (QUOTE, then), (QUOTE, otherwise)])
        return to_list([APPLY, choice, b"\x01"])
    if name == "list":
        return _list(items)
    return to_list([CODES[name], *items])


def _list(items: list[Value]) -> Value:
    whole: Value = NIL
    for item in reversed(items):
        whole = to_list([CONS, item, whole])
    return whole
