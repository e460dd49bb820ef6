"""Breadth-first search of a world: every choice in every state, each state once, by its digest.

The first path to a broken promise is a shortest one. A path is the texts of its choices, and can be
walked again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from channelsim.channel.errors import UsageError

S = TypeVar("S")
C = TypeVar("C", bound="Step")

MOST_BROKEN = 8
"""Different mistakes of one world after which it is not searched any more."""

LOOK = 64
"""States between two questions whether to stop."""


class Step(Protocol):
    """A choice."""

    @property
    def text(self) -> str:
        """The choice as people read it; no two of one state share a text."""


class World(Protocol[S, C]):
    """States, the choices in each, and what must hold."""

    def first(self) -> S:
        """The state in which all paths begin."""

    def fingerprint(self, state: S) -> bytes:
        """The digest of a state: equal digests mean equal futures."""

    def choices(self, state: S) -> Iterator[C]:
        """Every choice in a state, the plainest first."""

    def step(self, state: S, choice: C) -> S:
        """The state after a choice."""

    def is_end(self, state: S) -> bool:
        """True if a path ends here."""

    def broken_by_step(self, state: S) -> Iterator[str]:
        """Find promises that the newest step broke."""

    def broken_at_end(self, state: S) -> Iterator[str]:
        """Find promises that a whole path to its end broke."""

    def broken_by_waiting(self, state: S, choice: C) -> Iterator[str]:
        """Find promises that break if this choice changes nothing, however often it is taken."""


@dataclass(frozen=True, slots=True)
class BrokenPath:
    """A shortest path to a broken promise, and how it is broken."""

    path: tuple[str, ...]
    how: str


@dataclass(slots=True)
class Visited:
    """The result of a search. `frontier` are states whose choices were not tried: none if it is
    whole. `steps` counts choices, `merged` those that led to a known state, `longest` the choices
    of the longest path."""

    states: int = 0
    steps: int = 0
    merged: int = 0
    ends: int = 0
    longest: int = 0
    frontier: int = 0
    broken: list[BrokenPath] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True, eq=False)
class _Node(Generic[S]):
    """A state to visit and its digest, with the choice that led to it and the node before."""

    state: S | None
    mark: bytes
    text: str
    length: int
    before: _Node[S] | None

    def path(self) -> tuple[str, ...]:
        """The choices from the first state on."""
        texts: list[str] = []
        node: _Node[S] | None = self
        while node is not None and node.before is not None:
            texts.append(node.text)
            node = node.before
        return tuple(reversed(texts))


def search(
    world: World[S, C],
    most_states: int | None = None,
    stops: Callable[[Visited], bool] = lambda visited: False,
) -> Visited:
    """Visit every state of a world, or the first `most_states` of them; `stops` ends it early."""
    visited = Visited()
    first = world.first()
    mark = world.fingerprint(first)
    known = {mark}
    frontier: deque[_Node[S]] = deque([_Node(first, mark, "", 0, None)])
    while frontier and len(visited.broken) < MOST_BROKEN:
        if most_states is not None and visited.states >= most_states:
            break
        if visited.states % LOOK == 0 and stops(visited):
            break
        node = frontier.popleft()
        visited.states += 1
        visited.longest = max(visited.longest, node.length)
        state, node.state = node.state, None
        assert state is not None
        if node.length and not _judged(world, visited, state, node):
            continue
        for choice in world.choices(state):
            visited.steps += 1
            visited.counts[kind_of(choice.text)] += 1
            following = _Node[S](None, b"", choice.text, node.length + 1, node)
            try:
                following.state = world.step(state, choice)
                following.mark = mark = world.fingerprint(following.state)
            except Exception as error:
                # Any exception of a peer is a result of this path; the others go on.
                _note(visited, following, f"exception: {type(error).__name__}: {error}"[:300])
                continue
            if mark == node.mark:
                for how in world.broken_by_waiting(state, choice):
                    _note(visited, following, how)
            if mark in known:
                visited.merged += 1
                continue
            known.add(mark)
            frontier.append(following)
    visited.frontier = len(frontier)
    return visited


def _judged(world: World[S, C], visited: Visited, state: S, node: _Node[S]) -> bool:
    """Check a state; true if its path goes on."""
    broken = list(world.broken_by_step(state))
    end = world.is_end(state)
    if end and not broken:
        visited.ends += 1
        broken = list(world.broken_at_end(state))
    for how in broken:
        _note(visited, node, how)
    return not (end or broken)


def _note(visited: Visited, node: _Node[S], how: str) -> None:
    if all(mistake_of(how) != mistake_of(one.how) for one in visited.broken):
        visited.broken.append(BrokenPath(node.path(), how))


def walked(world: World[S, C], path: Sequence[str]) -> list[str]:
    """The promises that a path breaks now, a line each. Raises `UsageError` for a wrong choice."""
    state = world.first()
    broken: list[str] = []
    for text in path:
        choice = next((one for one in world.choices(state) if one.text == text), None)
        if choice is None:
            raise UsageError(f"there is no choice {text!r} there")
        before = state
        try:
            state = world.step(before, choice)
        except Exception as error:
            return [f"exception: {type(error).__name__}: {error}"[:300]]
        if world.fingerprint(before) == world.fingerprint(state):
            broken += world.broken_by_waiting(before, choice)
        broken += world.broken_by_step(state)
        if world.is_end(state):
            broken += world.broken_at_end(state)
            break
    return list(dict.fromkeys(broken))


def kind_of(text: str) -> str:
    """A choice without its numbers, to count choices by kind."""
    return " ".join(word for word in text.split() if not word.strip(":,").isdigit())


def mistake_of(how: str) -> str:
    """A broken promise without its numbers: two that differ in them alone are one mistake."""
    return "".join(sign for sign in how if not sign.isdigit())
