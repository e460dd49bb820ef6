"""The path along which rules run on stand-ins, and choices that need no fork of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from channelsim.channel.errors import InvariantError
from channelsim.channel.prove.path import CannotMerge, Impossible, Path
from channelsim.channel.prove.symbols import Condition, Raises, Undecided

CONTROL = (CannotMerge, Impossible, Undecided, InvariantError)
"""What the prover raises through the rules: no handler of theirs may catch it."""

_paths: list[Path] = []


@contextmanager
def along(path: Path) -> Iterator[None]:
    """Let stand-ins fork this path in a block."""
    _paths.append(path)
    try:
        yield
    finally:
        _paths.pop()


def current() -> Path:
    """The path along which the rules run."""
    if not _paths:
        raise InvariantError("a stand-in is used outside of a run of rules")
    return _paths[-1]


def is_running() -> bool:
    """True within a run of rules."""
    return bool(_paths)


_loading = [0]


@contextmanager
def loading() -> Iterator[None]:
    """Run the source of a module in a block: what it does is no part of a judgement."""
    _loading[0] += 1
    try:
        yield
    finally:
        _loading[0] -= 1


def is_judging() -> bool:
    """True within a run of rules, but not while their modules are loaded."""
    return bool(_paths) and not _loading[0]


def is_speculating() -> bool:
    """True while both sides of a choice are tried."""
    return bool(_paths) and _paths[-1].speculating


@dataclass(frozen=True, slots=True)
class Merged:
    """The value of a choice that needed no fork."""

    value: Any


def chosen(
    condition: Condition,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    merge: Callable[[Condition, Any, Any], Merged | None],
) -> Any:
    """The value of one of two expressions, as one value for both where `merge` has one.

    Only the expression of the side that is taken is evaluated, or both without a fork.
    """
    path = current()
    known = path.known(condition)
    if known is None:

        def attempt() -> Merged | None:
            values = []
            for side, run in ((True, then), (False, otherwise)):

                def box(run: Callable[[], Any] = run) -> Merged:
                    return Merged(_pure(run))

                value = path.speculate(condition, side, box)
                if value is None:
                    return None
                values.append(value.value)
            return merge(condition, *values)

        merged = path.settle(attempt, worth=True)
        if merged is not None:
            return merged.value
        known = path.branch(condition)
    return then() if known else otherwise()


def _pure(run: Callable[[], Any]) -> Any:
    """The value of an expression that may not be evaluated at all. Raises `CannotMerge`."""
    try:
        return run()
    except (*CONTROL, Raises, RecursionError):
        raise
    except Exception:
        raise CannotMerge from None


def before_a_change() -> None:
    """Called where rules change an object: two sides of a choice then need paths of their own."""
    if is_speculating():
        raise CannotMerge
