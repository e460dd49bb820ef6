"""The rules of a game's moves: those that a judge names, and those that some case breaks.

A rule that no case breaks may be missing in the program, and nobody would notice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dis import get_instructions
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from channelsim.channel.lab.cases.corpus import StoredCase, rules_of_case
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.targets.target import Target
from channelsim.games.contract import Game
from channelsim.games.errors import BadState, BadTerms
from channelsim.games.vectors import resolve_case

_WORDS = re.compile(r"[\w-]+")

UNIT, STACK = 10, 1000
"""The stakes of the terms that are made wrong."""


def named_rules(target: Target) -> dict[str, str]:
    """The rules that the judges of a target name in their code, each with its validator."""
    rules = _sentences(target)
    return {
        rule: name
        for name in target.programs
        if (judge := target.judge(name)) is not None
        for rule in sorted(named_in(judge, rules))
    }


def unread_rules(target: Target, broken: Collection[str]) -> list[str]:
    """The rules that no judge, and no check of terms, is seen to name, and that no case broke.

    Their ids are put together as the code runs, or nothing checks them.
    """
    rules = _sentences(target)
    named = set(named_rules(target)) | set(broken)
    if target.rules is not None:
        named |= named_in((target.game.terms, target.game.initial), rules, in_texts=True)
    return [rule for rule in rules if rule not in named]


def broken_rules(
    target: Target, tallies: Iterable[LabTally], stored: Iterable[StoredCase]
) -> set[str]:
    """The rules that decided some case: of a search, or stored ones; and those about terms."""
    broken = {
        rule for tally in tallies for prints in tally.prints.values() for rule, _cost in prints
    }
    broken |= {rule for case in stored for rule in _deciding(target, case)}
    if target.rules is not None:
        broken |= set(_of_terms(target.game))
    return broken & set(_sentences(target))


def unbroken_rules(target: Target, broken: Collection[str]) -> list[str]:
    """The rules of a target's game that are not among these."""
    return [rule for rule in _sentences(target) if rule not in broken]


def _sentences(target: Target) -> dict[str, str]:
    known = target.own_rules.sentences if target.rules is None else target.game.rules
    return dict(known)


def _deciding(target: Target, stored: StoredCase) -> Iterator[str]:
    """The rule that decides a stored case, if there are rules for it."""
    case = stored.case
    validator = rules_of_case(target, case) if case is not None else None
    if case is None or validator is None or stored.differs is not None:
        return
    hashes = target.family_hashes
    resolved = resolve_case(case, target.name, hashes)
    try:
        state = validator.read_state(resolved.state, hashes)
    except BadState:
        return
    called = (state, resolved.move, case.mover_share, case.amount, resolved.evidence, hashes)
    yield validator.judge(*called).rule


def _of_terms(game: Game) -> Iterator[str]:
    """The rules by which the game refuses wrong terms of a proposal."""
    right = game.default_parameters(UNIT, STACK)
    wrong: list[dict[str, Any]] = [{}, {**right, "unknown": 1}]
    for name, number in right.items():
        wrong += ({**right, name: other} for other in (-1, 0, 1, number + 1, 1 << 64))
        wrong.append({other: right[other] for other in right if other != name})
    for parameters in wrong:
        try:
            game.terms(parameters)
        except BadTerms as error:
            yield from _WORDS.findall(str(error))


def named_in(judge: object, rules: Collection[str], in_texts: bool = False) -> set[str]:
    """The rules whose ids are constants of a function, or of functions that it uses; with
    `in_texts`, also those that are words of a constant."""
    named: set[str] = set()
    seen: set[int] = set()
    waiting: list[object] = [judge]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case str():
                words = _WORDS.findall(part) if in_texts else (part,)
                named |= set(words) & set(rules)
            case FunctionType():
                waiting += _parts(part)
            case CodeType():
                waiting += part.co_consts
            case MethodType():
                waiting += (part.__func__, part.__self__)
            case partial():
                waiting += (part.func, *part.args, *part.keywords.values())
            case tuple() | list() | frozenset():
                waiting += part
            case Mapping():  # not its keys: `RULES` itself has every rule
                waiting += part.values()
            case staticmethod() | classmethod():
                waiting.append(part.__func__)
            case _ if callable(part) and not isinstance(part, type):
                waiting += (
                    vars(type(part)).get("__call__"),
                    *getattr(part, "__dict__", {}).values(),
                )
    return named


def _parts(function: FunctionType) -> Iterator[object]:
    """The code of a function, with the values that it closes over, the globals that it names, and
    the texts that it puts together from constants."""
    yield function.__code__
    yield from _composed(function.__code__, function.__globals__)
    yield from function.__defaults__ or ()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is not filled yet
            continue
    names = list(_names(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType | type):
            yield from (vars(value).get(attribute) for attribute in names)
        else:
            yield value


def _names(code: CodeType) -> Iterator[str]:
    """The names that code uses, and the code inside of it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _composed(code: CodeType, known: Mapping[str, object]) -> Iterator[str]:
    """The texts that code puts together from constants and constants of its module: f-strings and
    sums. Nothing of those with a part that is known only as the code runs."""
    pushed: list[object] = []
    for step in get_instructions(code):
        match step.opname:
            case "LOAD_CONST":
                pushed.append(step.argval)
            case "LOAD_GLOBAL" | "LOAD_NAME":
                pushed.append(known.get(step.argval))
            case "FORMAT_VALUE" | "FORMAT_SIMPLE":
                pushed.append(_text(pushed.pop() if pushed else None))
            case "BUILD_STRING":
                parts = pushed[-step.arg :] if step.arg else []
                del pushed[len(pushed) - len(parts) :]
                pushed.append(_joined(parts, step.arg or 0))
                yield from filter(None, (pushed[-1],))
            case "BINARY_OP" if step.argrepr == "+":
                parts = pushed[-2:]
                del pushed[len(pushed) - len(parts) :]
                pushed.append(_joined(parts, 2))
                yield from filter(None, (pushed[-1],))
            case "RESUME" | "PRECALL" | "CACHE" | "PUSH_NULL" | "COPY_FREE_VARS" | "NOP":
                pass
            case _:
                pushed.append(None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _composed(inner, known)


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) else None


def _joined(parts: list[object], count: int) -> str | None:
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == count else None
