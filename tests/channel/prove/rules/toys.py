"""Games of one move as text, for proofs: rules in Python, and a program in the notation of
`tests.channel.prove.programs`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from importlib import import_module, invalidate_caches
from itertools import count
from pathlib import Path
from textwrap import indent
from time import thread_time

import pytest

from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.channel.prove.proof import PartResult, Question, examine
from channelsim.channel.prove.rules.claim import ObeysRules
from channelsim.clsp.programs import Program
from channelsim.games import registry
from tests.channel.prove.programs import assemble

HEAD = """
from __future__ import annotations
from functools import lru_cache
from hashlib import sha256
from typing import Annotated
from channelsim.clsp.values import atom_to_int, int_to_atom, is_minimal
from channelsim.clsp.programs import Program
from channelsim.games.contract import (
    ByteIn, Game, Integer, ListOf, Next, Parameters, PlainPlayer, PlainState, Bytes32, Mojos,
    Raise, Slash, Valid, Validator, by_name, even_terms, Initial,
)
from channelsim.games.errors import BadState

class State(PlainState, frozen=True):
{state}

class Other(PlainState, frozen=True):
    number: Annotated[int, Integer(-1000, 1000)]

{helpers}

def judge(state, move, share, amount, evidence, hashes):
{rules}

VALIDATORS = by_name(Validator("move", judge, State.form), Validator("other", judge, Other.form))
GAME = Game(
    name="toy", validators=VALIDATORS, rules={{"R": "A rule."}},
    programs={{name: Program(b"\\x80" + name.encode()) for name in VALIDATORS}},
    terms=lambda parameters: even_terms("toy", parameters, "R"),
    initial=lambda terms: Initial("move", None, 4, 0),
    player=lambda *given: None,
)
"""

END = "(c () (c () (c () ())))"
"""The result of a move that ends the game."""

OTHER = Program(bytes.fromhex("ff0101"))
"""The program of the validator `other`."""

TO_OTHER = f"(c 0x{OTHER.hash.hex()} (c {{}} (c 5 ())))"
"""The result of a move that leads to `other` in a state."""

_numbers = count()


@dataclass(frozen=True)
class Toy:
    """Rules (the lines of a judge), a program, the fields of the state, and functions besides."""

    rules: str
    program: str
    state: str = "number: Annotated[int, Integer(0, 1000)]"
    helpers: str = ""


def question_of(
    toy: Toy, folder: Path, monkeypatch: pytest.MonkeyPatch, longest: int = 4
) -> Question:
    """The question whether a program obeys its rules, which are written to a folder."""
    name = f"toy_rules_{next(_numbers)}"
    text = HEAD.format(
        state=indent(toy.state, "    "), helpers=toy.helpers, rules=indent(toy.rules, "    ")
    )
    (folder / f"{name}.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(folder)
    invalidate_caches()
    game = import_module(name).GAME
    monkeypatch.setattr(registry, "get", lambda _: game)
    programs = {"move": assemble(toy.program), "other": OTHER}
    target: Target = replace(of_game(game), programs=programs)
    monkeypatch.setitem(sys.modules, name, sys.modules[name])
    return Question(
        ObeysRules(target, "move", longest), (target,), "move", longest, pairs=3, atom=2
    )


def examined(question: Question, size: int, seconds: float = 30.0) -> PartResult:
    """The result for one size of the move."""
    return examine(question, size, thread_time() + seconds)
