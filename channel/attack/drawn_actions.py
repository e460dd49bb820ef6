"""Single actions drawn at random: where each takes place, and for how long."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.attack import boundaries
from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.kinds import (
    BLOCK,
    BLOCK_TIME,
    CALL,
    GO_ON_CHAIN,
    KINDS,
    LANDMARKS,
    MOST_PAUSE,
    ON_CHAIN,
    START,
    Kind,
)
from channelsim.games.chance import Chance

FIRST, FIRSTS = 4, 15
"""The numbers that count as the first ones of a counter, and the per cent of the actions that take
place there: a process that begins has code of its own."""


def likely_landmarks(kinds: Sequence[str], *, goes_on_chain: bool) -> tuple[str, ...]:
    """The landmarks that a session with such actions can have."""
    restarts = any(KINDS[name].restarts for name in kinds)
    return (
        *(["restart"] if restarts else []),
        *(["reorganise"] if {"reorganise", "undo-deadline"} & {*kinds} else []),
        *(ON_CHAIN if goes_on_chain else ["link", "signed", "settled", "shutdown"]),
    )


def drawn_action(
    kind: Kind, chance: Chance, left: int, landmarks: Sequence[str] = tuple(LANDMARKS)
) -> Action:
    """Draw an action of a kind that takes at most so many blocks on average."""
    since, at = drawn_place(kind, chance, landmarks)
    pause, blocks = 0, 0
    if kind.is_absence and left > 0 and chance.chance(40):
        blocks = boundaries.blocks(chance, min(left, boundaries.LONGEST))
    elif kind.pauses:
        pause = boundaries.seconds(chance, min(MOST_PAUSE, max(0, left) * BLOCK_TIME))
    return Action(
        kind=kind.name,
        side=chance.below(2),
        at=at,
        amount=chance.below(kind.most + 1),
        pause=pause,
        since=since,
        blocks=blocks,
    )


def drawn_place(kind: Kind, chance: Chance, landmarks: Sequence[str]) -> tuple[str, int]:
    """Draw a landmark and a number: of blocks after one, the next ones or at a boundary."""
    if kind.counts_from_start or kind.name == GO_ON_CHAIN or chance.chance(40):
        if kind.name != GO_ON_CHAIN and chance.chance(FIRSTS):
            return START, chance.below(FIRST)
        return START, chance.below(max(1, kind.span // chance.pick((1, 2, 4))))
    since = chance.pick(landmarks)
    _, span = LANDMARKS[since]
    if kind.counter == BLOCK:
        later = chance.chance(50)
        return since, boundaries.blocks(chance, boundaries.LONGEST) if later else chance.below(3)
    # The node is asked several times for each event.
    span *= 4 if kind.counter == CALL else 1
    return since, chance.below(chance.pick((2, 6, span)))


def deviation(chance: Chance) -> Action:
    """An adversary of some name, that acts at once or later on."""
    kind = KINDS["deviate"]
    at = 0 if chance.chance(60) else chance.below(kind.span // 2)
    return Action(kind.name, 0, at, chance.below(kind.most + 1))


def undoing(chance: Chance) -> Action:
    """A reorganisation that takes back what has just been seen on chain."""
    since, amount = chance.pick(ON_CHAIN), chance.below(KINDS["reorganise"].most + 1)
    return Action("reorganise", 0, chance.below(3), amount, since=since)


def leaving_early(chance: Chance) -> tuple[Action, Action]:
    """A player that goes on chain before its channel coin is deep, and a reorganisation that takes
    the coin back."""
    amount = KINDS["reorganise"].most - chance.below(2)
    return (
        Action(GO_ON_CHAIN, chance.below(2), chance.below(5), since="signed"),
        Action("reorganise", 0, chance.below(2), amount, since="chain"),
    )


def repeated(action: Action, chance: Chance) -> Action:
    """The same again: right after the restart, or a little later if it counts from the start."""
    if KINDS[action.kind].counts_from_start:
        return replace(action, at=action.at + chance.between(1, 4))
    return replace(action, at=chance.below(4), since="restart", pause=0, blocks=0)
