"""The search visits each state once, and finds shortest paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.explore import search as searching
from channelsim.channel.explore.search import Search, kind_of, mistake_of, search, walked
from channelsim.channel.explore.search_tree import Tree


@dataclass(frozen=True)
class Add:
    by: int

    @property
    def text(self) -> str:
        return f"adds {self.by}"


class Sums:
    """Sums up to ten: it ends at ten, seven is broken, three cannot be left by nothing."""

    def first(self) -> int:
        return 0

    def fingerprint(self, state: int) -> bytes:
        return bytes([state]) * 16

    def choices(self, state: int) -> Iterator[Add]:
        return (Add(by) for by in (0, 1, 2))

    def step(self, state: int, choice: Add) -> int:
        if state == 9 and choice.by == 2:
            raise ValueError("too much")
        return min(state + choice.by, 10)

    def is_end(self, state: int) -> bool:
        return state == 10

    def broken_by_step(self, state: int) -> Iterator[str]:
        return iter(())

    def broken_at_end(self, state: int) -> Iterator[str]:
        yield "money: ten"

    def broken_by_waiting(self, state: int, choice: Add) -> Iterator[str]:
        if state == 3:
            yield "liveness: three"


def test_every_state_is_visited_once_and_mistakes_have_shortest_paths() -> None:
    visited = search(Sums())
    assert (visited.states, visited.ends, visited.frontier) == (11, 1, 0)
    assert visited.steps == 30
    assert visited.merged + 10 + 1 == visited.steps
    assert {one.how: one.path for one in visited.broken} == {
        "liveness: three": ("adds 1", "adds 2", "adds 0"),
        "exception: ValueError: too much": (*("adds 1", *4 * ("adds 2",)), "adds 2"),
        "money: ten": 5 * ("adds 2",),
    }
    for broken in visited.broken:
        assert broken.how in walked(Sums(), broken.path)
    assert walked(Sums(), ("adds 1", "adds 0")) == []
    with pytest.raises(UsageError, match="adds 3"):
        walked(Sums(), ("adds 3",))


class Unclear(Sums):
    """Two choices of each state have one text: no path says which of them it takes."""

    def choices(self, state: int) -> Iterator[Add]:
        return (Add(by) for by in (1, 1))


def test_choices_of_one_text_are_refused() -> None:
    with pytest.raises(InvariantError, match="two choices of one state are 'adds 1'"):
        search(Unclear())


def test_a_part_has_a_frontier() -> None:
    visited = search(Sums(), most_states=4)
    assert (visited.states, visited.ends) == (4, 0)
    assert visited.frontier == 2
    assert search(Sums(), stops=lambda seen: True).states == 0


def test_kinds_and_mistakes_have_no_numbers() -> None:
    assert kind_of("preempts state 3 by 5") == "preempts state N by N"
    assert mistake_of("duty: 12 blocks") == mistake_of("duty: 7 blocks")


@pytest.mark.parametrize("held", [0, 1, 100])
@pytest.mark.parametrize("visited", [1, 4, 10])
def test_a_search_goes_on_from_what_another_one_left(
    visited: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MOST_HELD", held)
    monkeypatch.setattr(searching, "MOST_AGAIN", 2)
    begun = Search(Sums())
    begun.run(visited)
    left = Tree.decode(begun.tree.encode("sums", begun.visited), "sums")
    assert left[1].states == visited
    assert Search(Sums(), left).run() == search(Sums())


def test_a_stored_search_that_does_not_fit_is_refused() -> None:
    begun = Search(Sums())
    begun.run(4)
    data = begun.tree.encode("sums", begun.visited)
    for wrong, root in ((data, "another"), (data[:-1], "sums"), (b"", "sums"), (b"\x80", "sums")):
        with pytest.raises(UsageError):
            Tree.decode(wrong, root)
    begun.visited.states = 99
    with pytest.raises(UsageError, match="do not fit"):
        Tree.decode(begun.tree.encode("sums", begun.visited), "sums")


def test_each_state_of_a_stored_search_has_one_before_it() -> None:
    tree = Tree()
    tree.add(bytes(16), 0, "")
    tree.add(bytes(15) + b"1", 0, "adds 1")
    data = tree.encode("sums", Search(Sums()).visited)
    place = data.index(b"\xc4\x08" + bytes(8)) + 6
    assert Tree.decode(data, "sums")[0].path(1) == ("adds 1",)
    with pytest.raises(UsageError, match="no place"):
        Tree.decode(data[:place] + b"\x07" + data[place + 1 :], "sums")
