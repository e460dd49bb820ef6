"""Sizes of a validator's moves, as play has them."""

from __future__ import annotations

from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target

HANDS = 40
"""The hands that are played to learn how long moves may be."""

Sizes = tuple[frozenset[int], frozenset[int]]


def sizes_in_play(target: Target, validator: str) -> Sizes:
    """The size limits of a validator's moves in play, and the sizes of these moves, in bytes."""
    if not _last or _last[0][0] is not target:
        _last[:] = [(target, _played(target))]
    return _last[0][1].get(validator, (frozenset(), frozenset()))


_last: list[tuple[Target, dict[str, Sizes]]] = []
"""The last target's, since playing hands takes a while."""


def _played(target: Target) -> dict[str, Sizes]:
    moves: list[tuple[str, int, int]] = []
    if target.rules is None:
        moves = [
            (case.validator, case.max_move_size, len(case.move) // 2) for case in target.honest
        ]
    else:
        for _, hand in zip(range(HANDS), hands(target, b"prove"), strict=False):
            for turn in hand:
                before = turn.before
                moves.append((before.validator or "", before.max_move_size, len(turn.play.move)))
    return {
        name: (
            frozenset(limit for each, limit, _ in moves if each == name),
            frozenset(size for each, _, size in moves if each == name),
        )
        for name in {name for name, _, _ in moves}
    }
