"""Breadth-first search of a world: every choice in every state, each state once, by its digest.

The first path to a broken promise is a shortest one. A path is the texts of its choices, and can be
walked again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.explore.search_tree import BrokenPath, Tree, Visited

S = TypeVar("S")
C = TypeVar("C", bound="Step")

MOST_BROKEN = 8
"""Different mistakes of one world after which it is not searched any more."""

MOST_HELD = 16_000
"""States on the frontier that are held, of up to 50 kB each."""

MOST_AGAIN = 512
"""States that were worked out again and are held, since others follow from them."""

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


class Search(Generic[S, C]):
    """A search of a world, from its first state or from a tree that another search has left.

    States on the frontier are held, up to a number; others are worked out again, by their paths.
    """

    def __init__(self, world: World[S, C], left: tuple[Tree, Visited] | None = None) -> None:
        self._world = world
        self._held: dict[int, S] = {}
        self._again: OrderedDict[int, S] = OrderedDict()
        if left is None:
            self.tree, self.visited = Tree(), Visited()
            first = world.first()
            self.tree.add(world.fingerprint(first), 0, "")
            self._held[0] = first
        else:
            self.tree, self.visited = left

    def run(
        self,
        most_states: int | None = None,
        stops: Callable[[Visited], bool] = lambda visited: False,
    ) -> Visited:
        """Visit all states, or the first ones; `stops` ends it early."""
        visited = self.visited
        while visited.states < len(self.tree) and len(visited.broken) < MOST_BROKEN:
            if most_states is not None and visited.states >= most_states:
                break
            if visited.states % LOOK == 0 and stops(visited):
                break
            self._visit(visited.states)
        visited.frontier = len(self.tree) - visited.states
        return visited

    def _visit(self, number: int) -> None:
        visited, tree, world = self.visited, self.tree, self._world
        state = self._held.pop(number, None)
        if state is None:
            state = self._worked_out(number)
        visited.states += 1
        visited.longest = max(visited.longest, tree.length(number))
        if number and not self._judged(state, number):
            return
        texts = set[str]()
        for choice in world.choices(state):
            if choice.text in texts:
                raise InvariantError(f"two choices of one state are {choice.text!r}")
            texts.add(choice.text)
            visited.steps += 1
            visited.counts[kind_of(choice.text)] += 1
            try:
                following = world.step(state, choice)
                mark = world.fingerprint(following)
            except Exception as error:
                # Any exception of a peer is a result of this path; the others go on.
                how = f"exception: {type(error).__name__}: {error}"[:300]
                self._note(how, number, choice.text)
                continue
            known = tree.known.get(mark)
            if known == number:
                for how in world.broken_by_waiting(state, choice):
                    self._note(how, number, choice.text)
            if known is not None:
                visited.merged += 1
                for how in self._broken(following):
                    self._note(how, number, choice.text)
                continue
            found = tree.add(mark, number, choice.text)
            if len(self._held) < MOST_HELD:
                self._held[found] = following

    def _worked_out(self, number: int) -> S:
        """A state by its path, from the nearest state before it that is known."""
        missing, at = [], number
        while at and at not in self._again:
            missing.append(at)
            at = self.tree.before(at)
        state = self._again.get(at)
        if state is None:
            state = self._world.first()
        else:
            self._again.move_to_end(at)
        for each in reversed(missing):
            state = self._world.step(state, _chosen(self._world, state, self.tree.text(each)))
            self._again[each] = state
        while len(self._again) > MOST_AGAIN:
            self._again.popitem(last=False)
        return state

    def _judged(self, state: S, number: int) -> bool:
        """Check a state; true if its path goes on."""
        broken, end = self._broken(state), self._world.is_end(state)
        self.visited.ends += end
        for how in broken:
            self._note(how, number)
        return not (end or broken)

    def _broken(self, state: S) -> list[str]:
        """Find promises that the path to a state breaks with its newest step, or as a whole.

        A state that is known may be reached by a step, or a path, that breaks more.
        """
        broken = list(self._world.broken_by_step(state))
        if not broken and self._world.is_end(state):
            broken = list(self._world.broken_at_end(state))
        return broken

    def _note(self, how: str, number: int, *texts: str) -> None:
        """Note a mistake on the path to a state and these choices, unless a plainer one has it."""
        new, broken = BrokenPath((*self.tree.path(number), *texts), how), self.visited.broken
        for place, known in enumerate(broken):
            if mistake_of(known.how) == mistake_of(how):
                broken[place] = min(known, new, key=_plainness)
                return
        broken.append(new)


def _plainness(broken: BrokenPath) -> tuple[int, int]:
    """The number of choices of a path, and the length of their texts: less is plainer."""
    return len(broken.path), sum(map(len, broken.path))


def search(
    world: World[S, C],
    most_states: int | None = None,
    stops: Callable[[Visited], bool] = lambda visited: False,
) -> Visited:
    """Visit every state of a world, or the first `most_states` of them; `stops` ends it early."""
    return Search(world).run(most_states, stops)


def _chosen(world: World[S, C], state: S, text: str) -> C:
    """The choice with this text. Raises `UsageError`."""
    choice = next((one for one in world.choices(state) if one.text == text), None)
    if choice is None:
        raise UsageError(f"there is no choice {text!r} there")
    return choice


def walked(world: World[S, C], path: Sequence[str]) -> list[str]:
    """The promises that a path breaks now, a line each. Raises `UsageError` for a wrong choice."""
    state = world.first()
    broken: list[str] = []
    for text in path:
        choice = _chosen(world, state, text)
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
    """A choice with N for each number, to count choices by kind."""
    return re.sub(r"\b\d+\b", "N", text)


def mistake_of(how: str) -> str:
    """A broken promise without its numbers: two that differ in them alone are one mistake.

    >>> mistake_of("1 block old") == mistake_of("1,200 blocks old")
    True
    """
    return re.sub(r"\d[\d,]*( \w+?s?\b)?", _without_number, how)


def _without_number(found: re.Match[str]) -> str:
    return (found[1] or "").removesuffix("s")
