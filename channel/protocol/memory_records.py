"""Records of what our seats remember of their own moves (`channelsim.games.contract.Play.memory`).

A record is stored with the state that has the move, sealed like all that only we may know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

PREFIX = "memory/"

Memories: TypeAlias = Mapping[tuple[int, int], bytes]
"""The memory that a seat has of a move, by the number of the state with it and the game's id."""


def record_name(number: int, game_id: int) -> str:
    """The name under which the memory of a move is stored.

    >>> record_name(12, 4)
    'memory/12/4'
    """
    return f"{PREFIX}{number}/{game_id}"


def read_memories(records: Mapping[str, bytes]) -> Memories:
    """All memories among the records of a store. Raises ValueError for a name that is none.

    >>> read_memories({"memory/12/4": b"a board", "last-sent": b"a batch"})
    {(12, 4): b'a board'}
    """
    memories = {}
    for name, data in records.items():
        if name.startswith(PREFIX):
            number, game_id = name.removeprefix(PREFIX).split("/")
            memories[int(number), int(game_id)] = data
    return memories
