"""Rules in pieces: a file `rules.py` beside a target, with a judge for some of its validators.

    from channelsim.games.contract import Next, RawState, Slash, Valid

    RULES = {"GUESS-1": "A guess is one byte."}      # optional: a sentence for each rule

    def guess(state, move, share, amount, evidence, hashes):
        if len(move) != 1:
            return Slash("GUESS-1")
        return Valid(Next("reveal", RawState((state, (move, b""))), 16))

A function with the name of a validator is its `Judge` (`channelsim.games.verdicts`). A state is a
CLVM value, unless `READ = {"guess": Guessing.read}` has a reader for it, which
takes the value and the hashes of the programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.system import user_code
from channelsim.clsp.values import Value, is_value
from channelsim.games.answers import verdict_problem
from channelsim.games.case_text import judged
from channelsim.games.contract import Hashes, Judge, Next, RawState, Valid, Verdict
from channelsim.games.errors import BadState
from channelsim.plugins import kind

RULES, READ = "RULES", "READ"
"""The optional tables of such a file."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The judges of a file, by validator, and a sentence for each rule that it explains.

    `functions` are the judges as the author wrote them, and `readers` those of states.
    """

    judges: Mapping[str, Judge]
    sentences: Mapping[str, str]
    functions: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    readers: Mapping[str, Callable[[Value, Hashes], object]] = field(default_factory=dict)


def load(path: Path, validators: tuple[str, ...]) -> OwnRules:
    """The rules in a file, for a target with these validators. Raises `UsageError`.

    The file is run again only after it has changed.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    return _load(path, validators, changed)


@cache
def _load(path: Path, validators: tuple[str, ...], changed: int) -> OwnRules:
    module = user_code.load(path)
    functions = {
        name: function for name in validators if callable(function := getattr(module, name, None))
    }
    if not functions:
        raise UsageError(
            f"{path}: defines no judge; a function with the name of a validator is one"
            f" ({', '.join(validators)})"
        )
    sentences, readers = (_table(module, path, name) for name in (RULES, READ))
    for name in readers:
        if name not in functions:
            raise UsageError(f"{path}: {READ}: {name!r}: no function here is called so")
    judges = {
        name: _judge(path, name, function, readers, validators)
        for name, function in functions.items()
    }
    texts = {str(rule): str(text) for rule, text in sentences.items()}
    return OwnRules(judges, texts, functions, readers)


def _unread(
    verdict: object, readers: Mapping[str, Callable[[Value, Hashes], object]], hashes: Hashes
) -> str:
    """The problem of the state that a move leads to; empty where its reader takes it."""
    step = verdict.next if isinstance(verdict, Valid) else None
    read = readers.get(step.validator) if step is not None else None
    if step is None or read is None:
        return ""
    try:
        read(step.state.value(), hashes)
    except BadState as error:
        return f"the state of its Next is refused by the reader of {step.validator}: {error}"
    return ""


def _table(module: object, path: Path, name: str) -> Mapping[str, Any]:
    table = getattr(module, name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: {name} is {kind(table)}, not a dictionary")
    return table


def _judge(
    path: Path,
    name: str,
    function: Callable[..., object],
    readers: Mapping[str, Callable[[Value, Hashes], object]],
    validators: tuple[str, ...],
) -> Judge:
    """A function of the file as a judge of states of which only the value is known."""
    read = readers.get(name)

    def judge(
        state: Any, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes, /
    ) -> Verdict:
        """Ask the function of the file. Raises `UsageError` for what is no verdict."""
        value = state.value()
        try:
            typed = value if read is None else read(value, hashes)
            verdict = function(typed, move, share, amount, evidence, hashes)
        except user_code.NOT_THEIRS as error:
            error.add_note(judged(name, state, move, share, amount, evidence))
            raise
        except BaseException as error:
            case = judged(name, state, move, share, amount, evidence)
            raise UsageError(f"{user_code.failure(path, error)} ({case})") from None
        if isinstance(verdict, Valid) and isinstance(verdict.next, Next):
            written: Any = verdict.next.state
            if not callable(getattr(written, "value", None)):
                if not is_value(written):
                    raise UsageError(
                        f"{path}: {name}: the state of its Next is not a CLVM value: bytes, or a"
                        " tuple of two values; `to_list` and `int_to_atom` of channelsim.clsp"
                        " make them"
                    )
                following = msgspec.structs.replace(verdict.next, state=RawState(written))
                verdict = msgspec.structs.replace(verdict, next=following)
        problem = verdict_problem(verdict, dict.fromkeys(validators), None)
        if problem := problem or _unread(verdict, readers, hashes):
            case = judged(name, state, move, share, amount, evidence)
            raise UsageError(f"{path}: {name}: returned {kind(verdict)}: {problem} ({case})")
        return cast(Verdict, verdict)

    return judge
