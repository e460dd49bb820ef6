"""Fixtures and parametrized tests for a suite that names its target.

Registered by `channelsim.channel.lab.testing.plugin`, and only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.laws import Law, laws_for
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.testing import checking
from channelsim.channel.lab.testing.plugin import INI, MARKER
from channelsim.games.contract import Game
from channelsim.games.vectors import Case

P = ParamSpec("P")


class LawBroken(AssertionError):
    """A law that the target breaks, with the case that shows it."""


@dataclass(frozen=True, repr=False)
class Lab:
    """Tries laws and cases on one target; a problem fails the test with a description."""

    target: Target

    def __repr__(self) -> str:
        return f"<the lab of {self.target.name}>"

    def law(self, law: Law | str, cases: int = 2048, seed: str = "law") -> None:
        """Try one law, at every place of this many cases."""
        __tracebackhide__ = True
        _check(checking.law_failures, self.target, law, cases, seed)

    def crosscheck(self, cases: int = 8192, seed: str = "crosscheck", jobs: int = 1) -> None:
        """Try all laws, as `channelsim crosscheck` does."""
        __tracebackhide__ = True
        _check(checking.crosscheck_failures, self.target, cases, seed, jobs)

    def settle(self, positions: int = 600, seed: str = "settle") -> None:
        """Spend this many game coins on an embedded node: moves, timeouts and slashes, right and
        wrong ones. What happens must be what the rules and the model of the referee say."""
        __tracebackhide__ = True
        _check(checking.node_failures, self.target, positions, seed)

    def case(self, case: Case) -> None:
        """Run a stored case on the target's programs."""
        __tracebackhide__ = True
        _check(checking.case_failures, self.target, case)


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> Target:
    """The target of this run, its sources compiled."""
    with _said():
        return load(_target_named(pytestconfig))


@pytest.fixture(scope="session")
def rules(target: Target) -> Game:
    """The installed game whose rules the target should obey."""
    with _said():
        return target.game


@pytest.fixture(scope="session")
def laws(target: Target) -> Mapping[str, Law]:
    """The laws that the target can be held to, by name."""
    return {law.name: law for law in laws_for(target)}


@pytest.fixture(scope="session")
def lab(target: Target) -> Lab:
    """The laboratory of this run's target."""
    return Lab(target)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the marker once for each of its cases."""
    marks = [*metafunc.definition.iter_markers(MARKER)]
    if not marks:
        return
    folder = metafunc.definition.path.parent
    files = [folder / str(name) for mark in marks for name in mark.args]
    try:
        cases = [case for file in files for case in checking.stored_cases(file)]
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def _target_named(config: pytest.Config) -> str:
    """The target's name: a game, or a path as it is to be read from here; empty for none."""
    option: str | None = config.getoption(INI)
    if option:
        return option
    written = str(config.getini(INI) or "")
    if not written.endswith(".toml"):
        return written
    folder = config.inipath.parent if config.inipath else config.rootpath
    return str(folder / written)


@contextmanager
def _said() -> Iterator[None]:
    """Show a usage error as its one line, without a traceback."""
    try:
        yield
    except UsageError as error:
        pytest.fail(str(error), pytrace=False)


def _check(check: Callable[P, str], *arguments: P.args, **named: P.kwargs) -> None:
    """Fail with the text of a check, unless it is empty."""
    __tracebackhide__ = True
    with _said():
        failure = check(*arguments, **named)
    if failure:
        raise LawBroken(failure)
