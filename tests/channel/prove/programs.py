"""Small programs as text, for proofs: planted differences, equivalent programs, wrong models.

An expression is a list of an operator's name and its operands. Names of a validator's arguments are
paths, numbers and hex are quoted, `(if C A B)` evaluates one side only, and `()` is empty.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from channelsim.clsp.operators import APPLY, CODES, IF, QUOTE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.forms import Atom, Form, Integer, ListOf, Record
from channelsim.games.vectors import read_value

COIN = (
    *("MOVER_KEY", "WAITER_KEY", "TIMEOUT", "AMOUNT", "MOD_HASH", "NONCE"),
    *("MOVE", "MAX_SIZE", "INFOHASH_B", "SHARE", "INFOHASH_A"),
)

FORMS: Mapping[str, Form] = {
    "nothing": Record(object, ()),
    "number": Integer(0, MAX_AMOUNT),
    "signed": Integer(-(1 << 15), (1 << 15) - 1),
    "hash": Atom(32),
    "list": ListOf(Integer(0, 255), 3),
}
"""The forms of the states of planted programs."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


def _paths() -> dict[str, int]:
    """The environment path of each argument."""

    def path(*steps: int) -> int:
        number = 1
        for step in reversed(steps):
            number = number << 1 | step
        return number

    paths = {"PROGRAM_HASH": path(0)}
    for number, name in enumerate(("STATE", "PROGRAM", "EVIDENCE")):
        paths[name] = path(*[1] * (number + 2), 0)
    for number, name in enumerate(COIN):
        paths[name] = path(1, 0, *[1] * number, 0)
    return paths


PATHS = _paths()


def assemble(text: str) -> Program:
    """The program of an expression."""
    tokens = _TOKEN.findall(text)
    value = _expression(tokens)
    assert not tokens, text
    return Program(serialize(value))


def _expression(tokens: list[str]) -> Value:
    token = tokens.pop(0)
    if token == "(":
        items: list[Value] = []
        name = tokens.pop(0)
        if name == ")":
            return (QUOTE, NIL)
        while tokens[0] != ")":
            items.append(_expression(tokens))
        tokens.pop(0)
        if name == "if":
            test, then, otherwise = items
            choice = to_list([IF, test, (QUOTE, then), (QUOTE, otherwise)])
            return to_list([APPLY, choice, b"\x01"])
        return to_list([CODES[name], *items])
    if token in PATHS:
        return int_to_atom(PATHS[token])
    if token.startswith("0x"):
        return (QUOTE, bytes.fromhex(token[2:]))
    return (QUOTE, int_to_atom(int(token)))


@dataclass(frozen=True)
class Pair:
    """Two programs, the form of their state and the longest move; a different pair's witness.

    `sizes` are the sizes of the move that quick tests try, all by default.
    """

    name: str
    left: str
    right: str
    state: str = "nothing"
    longest: int = 4
    sizes: tuple[int, ...] = ()
    witness: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WrongModel:
    """A mistake in a model of an operator, and a program that shows it."""

    model: str
    program: str
    longest: int = 4
    sizes: tuple[int, ...] = ()


_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("planted.toml").read_text("utf-8"))

DIFFERENT = [Pair(**table) for table in _FILE["different"]]
EQUIVALENT = [Pair(**table) for table in _FILE["equivalent"]]
WRONG = [WrongModel(**table) for table in _FILE["wrong"]]


def environment(witness: Mapping[str, Any]) -> Value:
    """The arguments of a validator, as a witness names them; the others are plain ones."""
    move = bytes.fromhex(witness.get("move", ""))
    state = read_value(witness.get("state", "0x"), "state", lambda name: NIL)
    if witness.get("commit"):
        state = sha256(move).digest()
    move += bytes.fromhex(witness.get("move_more", ""))
    coin = to_list(
        [
            *(b"\xaa" * 48, b"\xbb" * 48),
            *map(int_to_atom, (witness.get("timeout", 15), witness.get("amount", 1000))),
            *(bytes(32), b"\x04", move, b"\x20", bytes.fromhex(witness.get("next", "0x")[2:])),
            int_to_atom(witness.get("share", 0)),
            b"x",
        ]
    )
    evidence = read_value(witness.get("evidence", "0x"), "evidence", lambda name: NIL)
    return to_list([b"\x01" * 32, coin, state, NIL, evidence, NIL])
