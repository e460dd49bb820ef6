"""Conformance vectors: calls of validators with their expected results, one a line.

Each line is a JSON object with the keys of `Case`. Source: spec/vectors.md. A check
runs the game's Python rules and its program on a case, and compares everything that the case
states: the verdict, and after a legal move the next validator, its state, its size limit and the
extra conditions, which the case's signature must meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from channelsim.clsp.programs import Program
from channelsim.clsp.run import CostExceeded, Outcome, ProgramSlash, Raised, run_serialized
from channelsim.clsp.values import NIL, NotAList, Value, from_list, int_to_atom, to_list, tree_hash
from channelsim.games import registry
from channelsim.games.contract import Game, Hashes, Raise, Slash, Valid, Validator, Verdict
from channelsim.games.decoding import line_error
from channelsim.games.errors import BadState, UnknownGame
from channelsim.games.evidence import MOST_CONDITIONS, SIGNATURE_SIZE, met
from channelsim.games.judge import NO_ADDRESS, hashes_of, result_value
from channelsim.games.referee import FIRST, GameCoin, infohash, validator_arguments
from channelsim.plugins import WrongAnswer

_HEX = re.compile("(?:[0-9a-fA-F]{2})*")
_FIELDS = ("next validator", "next state", "next max_move_size")


class BadCase(ValueError):
    """A malformed conformance case; the message names the line and the key."""


Expect: TypeAlias = Literal["valid", "slash", "raise"]
"""The expected end of a run: the move is legal, illegal, or the evidence does not fit."""


class NextRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The expected record after a legal move; `state` as in `Case`."""

    validator: str
    state: Any
    max_move_size: int


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A case as written in a file.

    `move` is hex. `state` and `evidence` are values: an integer, a string `0x…`, an array,
    `{"pair": [left, right]}`, or `{"program": name}`, the tree hash of a validator of the same
    game. `mover_share` is the
    challenger's share. `next` is given for a legal move that does not end the game. `conditions`
    is a list of values; `signature` (hex) goes with the evidence.
    """

    id: str
    tag: str
    game: str
    validator: str
    amount: int
    mover_share: int
    max_move_size: int
    move: str
    state: Any
    evidence: Any
    expect: Expect
    next: NextRecord | None = None
    conditions: list[Any] = []
    signature: str = ""


def read(lines: Iterable[str | bytes]) -> Iterator[Case]:
    """Read cases from lines, skipping blank ones.

    Raises `BadCase` at the first bad line.

    >>> next(read(['{"id": "x"}']))
    Traceback (most recent call last):
    channelsim.games.vectors.BadCase: line 1: the key `tag` is missing
    """
    decoder = msgspec.json.Decoder(Case)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = decoder.decode(line)
            check_values(case)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise BadCase(line_error(error, number, line, Case)) from None
        yield case


def check(case: Case, game: Game | None = None) -> list[str]:
    """Compare a case with the rules and the program: a line for each difference.

    Where the game has no program, the rules are compared alone. `game` replaces the registered
    game of that name.
    """
    try:
        game = game or registry.get(case.game)
    except UnknownGame as error:
        return [str(error)]
    if case.validator not in game.validators:
        return [f"{game.name} has no validator {case.validator!r}"]
    hashes = hashes_of(game)
    try:
        resolved = resolve_case(case, game.name, hashes)
    except BadCase as error:
        return [str(error)]
    differences = _differences(
        "python", resolved, _ask_rules(resolved, game.validators[case.validator], hashes)
    )
    if case.validator not in game.missing:
        answer = _ask_program(resolved, game.programs[case.validator])
        differences = [*differences, *_differences("program", resolved, answer)]
    return [*differences, *_unmet(resolved)]


def lacks_program(case: Case) -> bool:
    """True if `check` compares a case with the rules alone: its game has no program for it."""
    try:
        return case.validator in registry.get(case.game).missing
    except UnknownGame:
        return False


Runner: TypeAlias = Callable[[bytes, bytes], Outcome]
"""Runs a serialized program on a serialized environment."""


def check_program(
    case: Case, name: str, programs: Mapping[str, Program], run: Runner = run_serialized
) -> list[str]:
    """Compare a case with the programs of any author, called `name`: a line for each difference.

    The case's own game does not matter. `run` may give a program less than the cost of a block.
    """
    if case.validator not in programs:
        return [f"{name} has no validator {case.validator!r}"]
    try:
        resolved = resolve_case(case, name, _hashes(programs))
    except BadCase as error:
        return [str(error)]
    answer = _ask_program(resolved, programs[case.validator], run)
    return [*_differences("program", resolved, answer), *_unmet(resolved)]


def check_rules(case: Case, name: str, validator: Validator, hashes: Hashes) -> list[str]:
    """Compare a case with the rules of its validator, of any author, alone.

    A state that the rules cannot read means nothing to them: no difference. `hashes` are those of
    the programs of `name`.
    """
    try:
        resolved = resolve_case(case, name, hashes)
        validator.read_state(resolved.state, hashes)
    except BadCase as error:
        return [str(error)]
    except BadState:
        return []
    return _differences("python", resolved, _ask_rules(resolved, validator, hashes))


def arguments(case: Case, name: str, programs: Mapping[str, Program]) -> bytes:
    """The serialized environment in which a case calls its validator, one of `programs`.

    Raises `BadCase`.
    """
    return _arguments(resolve_case(case, name, _hashes(programs)), programs[case.validator])


def _hashes(programs: Mapping[str, Program]) -> Hashes:
    return {validator: program.hash for validator, program in programs.items()}


def verdict(case: Case, game: Game, hashes: Hashes) -> Verdict | None:
    """The verdict of a game's rules on a case, with the rule that decides it.

    None if the case's state is not one of its validator. `hashes` are those of the programs.

    Raises `BadCase`.
    """
    validator = game.validators.get(case.validator)
    if validator is None:
        return None
    resolved = resolve_case(case, game.name, hashes)
    try:
        return _judged(resolved, validator, hashes)
    except BadState:
        return None


# --- the two answers --------------------------------------------------------------------------

_Answer = tuple[str, Value]
"""The verdict (valid, slash, raise) or an error; and, of a legal move, the program's result."""


class ResolvedCase(msgspec.Struct, frozen=True):
    """A case with its values as CLVM.

    `result` is what a program returns for a legal move: a list of the next program's hash, the next
    state, the size limit and the extra conditions.
    """

    case: Case
    move: bytes
    state: Value
    evidence: Value
    result: Value
    conditions: tuple[Value, ...]
    signature: bytes


def _ask_rules(resolved: ResolvedCase, validator: Validator, hashes: Hashes) -> _Answer:
    try:
        verdict = _judged(resolved, validator, hashes)
    except BadState as error:
        return f"bad state ({error})", NIL
    except (Exception, WrongAnswer) as failure:  # of another author's rules: a difference
        cause = failure.__cause__ if isinstance(failure, WrongAnswer) else failure
        if not isinstance(cause, Exception):
            raise
        return f"{type(cause).__name__} ({cause})", NIL
    match verdict:
        case Valid(step, conditions):
            return "valid", result_value(step, hashes, conditions)
        case Slash():
            return "slash", NIL
        case Raise():
            return "raise", NIL


def _judged(resolved: ResolvedCase, validator: Validator, hashes: Hashes) -> Verdict:
    """Judge a case by the rules. Raises `BadState`."""
    return validator.judge(
        validator.read_state(resolved.state, hashes),
        resolved.move,
        resolved.case.mover_share,
        resolved.case.amount,
        resolved.evidence,
        hashes,
    )


def _ask_program(resolved: ResolvedCase, program: Program, run: Runner = run_serialized) -> _Answer:
    outcome = run(program.serialized, _arguments(resolved, program))
    match outcome:
        case ProgramSlash():
            return "slash", NIL
        case Raised():
            return "raise", NIL
        case CostExceeded():
            return "cost exceeded", NIL
        case _:
            return "valid", outcome.value


def _arguments(resolved: ResolvedCase, program: Program) -> bytes:
    return validator_arguments(
        _coin(resolved), resolved.state, program, resolved.evidence, NO_ADDRESS
    )


def _coin(resolved: ResolvedCase) -> GameCoin:
    """A game coin with the values of the case; the others only have the right shape.

    INFOHASH_B commits to the record after a legal move, and is `()` otherwise.
    """
    commitment = NIL
    match resolved.result:
        case (bytes(program_hash), (state, _)) if program_hash:
            commitment = infohash(program_hash, tree_hash(state))
    return GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=resolved.case.amount,
        mod_hash=bytes(32),
        nonce=0,
        move=resolved.move,
        max_move_size=resolved.case.max_move_size,
        infohash_b=commitment,
        mover_share=resolved.case.mover_share,
        infohash_a=FIRST,
    )


def _differences(who: str, resolved: ResolvedCase, answer: _Answer) -> list[str]:
    said, result = answer
    if said != resolved.case.expect:
        return [f"{who}: expected {resolved.case.expect}, got {said}"]
    if said != "valid":
        return []
    expected, got = _record(resolved.result), _record(result)
    record = len(_FIELDS)
    if len(got) < record or (len(got) > record and not resolved.conditions):
        return [f"{who}: the result has {len(got)} elements"]
    pairs = zip(_FIELDS, expected[:record], got[:record], strict=True)
    differing = [field for field, want, have in pairs if tree_hash(want) != tree_hash(have)]
    if tree_hash(to_list(got[record:])) != tree_hash(to_list(expected[record:])):
        differing.append("the list of conditions")
    return [f"{who}: {field} differs" for field in differing]


def _unmet(resolved: ResolvedCase) -> list[str]:
    """True if the signature of a case with conditions meets them, a line if it does not."""
    if not resolved.conditions or not resolved.signature:
        return []
    if met(resolved.conditions, resolved.signature):
        return []
    return ["the signature does not meet the conditions"]


def _record(result: Value) -> list[Value]:
    """The elements of a program's result; absent ones at the end count as `()`."""
    try:
        elements = from_list(result)
    except NotAList:
        return []
    return elements + [NIL] * (len(_FIELDS) - len(elements))


# --- values -----------------------------------------------------------------------------------


def resolve_case(case: Case, game: str, hashes: Hashes) -> ResolvedCase:
    """Resolve the values of a case. Raises `BadCase` for an unknown validator."""

    def hash_of(name: str) -> bytes:
        if name not in hashes:
            raise BadCase(f"{game} has no validator {name!r}")
        return hashes[name]

    record: tuple[Value, ...] = (NIL, NIL, NIL)
    if case.next is not None:
        record = (
            hash_of(case.next.validator),
            read_value(case.next.state, "next.state", hash_of),
            int_to_atom(case.next.max_move_size),
        )
    conditions = tuple(
        read_value(condition, "conditions", hash_of) for condition in case.conditions
    )
    return ResolvedCase(
        case,
        bytes.fromhex(case.move),
        read_value(case.state, "state", hash_of),
        read_value(case.evidence, "evidence", hash_of),
        to_list((*record, *conditions)),
        conditions,
        bytes.fromhex(case.signature),
    )


def check_values(case: Case) -> None:
    """Check the values that the types leave open. Raises `BadCase`, naming the key."""
    if not _HEX.fullmatch(case.move):
        raise BadCase("key `move`: not hex without a prefix")
    if case.next is not None and case.expect != "valid":
        raise BadCase(f"key `next`: not with a move that is to {case.expect}")
    if case.conditions and case.expect != "valid":
        raise BadCase(f"key `conditions`: not with a move that is to {case.expect}")
    if len(case.conditions) > MOST_CONDITIONS:
        raise BadCase(f"key `conditions`: {len(case.conditions)}, at most {MOST_CONDITIONS}")
    if not _HEX.fullmatch(case.signature) or len(case.signature) not in (0, 2 * SIGNATURE_SIZE):
        raise BadCase(f"key `signature`: not {SIGNATURE_SIZE} bytes in hex without a prefix")
    values = {"state": case.state, "evidence": case.evidence, "conditions": case.conditions}
    if case.next is not None:
        values["next.state"] = case.next.state
    for key, described in values.items():
        read_value(described, key, lambda name: NIL)


def read_value(
    described: Any,
    key: str,
    hash_of: Callable[[str], bytes],
    source_of: Callable[[str], Value] | None = None,
) -> Value:
    """Read a value of the format, written at `key`. Raises `BadCase`.

    >>> read_value({"pair": ["0x00", [2]]}, "state", lambda name: b"")
    (b'\\x00', (b'\\x02', b''))

    `hash_of` returns the hash of a program, and `source_of`, if `{"source": name}` is allowed,
    its code.
    """
    match described:
        case bool():
            pass
        case int():
            return int_to_atom(described)
        case str() if described.startswith("0x") and _HEX.fullmatch(described, 2):
            return bytes.fromhex(described[2:])
        case list():
            return to_list([read_value(item, key, hash_of, source_of) for item in described])
        case {"pair": [left, right]} if len(described) == 1:
            return (
                read_value(left, key, hash_of, source_of),
                read_value(right, key, hash_of, source_of),
            )
        case {"program": str(name)} if len(described) == 1:
            return hash_of(name)
        case {"source": str(name)} if len(described) == 1 and source_of is not None:
            return source_of(name)
        case _:
            pass
    raise BadCase(f"key `{key}`: {str(described)[:60]!r} is not a value")
