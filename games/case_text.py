"""The case in which an author's function was called, in a few words: state, move and share.

An error of the function is shown with it, so that its author can ask for the same again.
"""

from __future__ import annotations

from typing import Any

from channelsim.clsp.analysis.text import atom_text, value_text
from channelsim.games.players import Position
from channelsim.plugins import cut

ROOM = 60
"""A state or evidence is shown in about this many characters."""


def judged(
    validator: str, state: Any, move: Any, share: Any, amount: Any, evidence: Any, *_: Any
) -> str:
    """The call of a judge.

    >>> judged("end", None, b"\\x07", 3, 10, b"")
    'the judge of end: state None, move 7, share 3 of 10, evidence ()'
    """
    shown = f"state {_state(state)}, move {_bytes(move)}, share {share} of {amount}"
    return f"the judge of {validator}: {shown}, evidence {_value(evidence)}"


def at(position: Any) -> str:
    """A position of a player: what its turn is about; empty for something else."""
    if not isinstance(position, Position):
        return ""
    if position.validator is None:
        return f": the game is over, share {position.mover_share}"
    last = f"the last move {_bytes(position.move)}, share {position.mover_share}"
    return f" at {position.validator}: state {_state(position.state)}, {last}"


def asked(whose: str, player: Any, name: str, arguments: tuple[Any, ...]) -> str:
    """A call of a player's method: its place, and the moves and actions that it was given."""
    position: Any = getattr(player, "position", None)
    if name == "evidence" and arguments:
        position = arguments[0]
    given = [_bytes(part) for part in arguments if isinstance(part, bytes)]
    given += [str(part.verb) for part in arguments if hasattr(part, "verb")]
    return f"{whose}, {name}{at(position)}{'; given ' if given else ''}{', '.join(given)}"


def _state(state: Any) -> str:
    try:
        return _value(state.value())
    except Exception:  # an author's state may be anything
        return cut(state)


def _value(value: Any) -> str:
    try:
        return value_text(value, ROOM)
    except Exception:
        return cut(value)


def _bytes(move: Any) -> str:
    return atom_text(move) if isinstance(move, bytes) else cut(move)
