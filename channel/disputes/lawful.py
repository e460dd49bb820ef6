"""Whether a batch kept to the rules of the potato, worked out from what was said before it.

An adversary may well say something that its peer would not have said and that breaks no rule:
the honest side then has to take it. Written apart from the engine, like the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from channel.disputes.ends import Heard
from channel.disputes.ledger import Account
from channel.errors import Violation
from channel.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Message,
    Move,
    Propose,
    Request,
    Settle,
    decode,
)

ORDER = (Settle, Cancel, Accept, Move, Propose)


def lawful(heard: Iterable[Heard], known: Mapping[int, Account], number: int, sender: int) -> bool:
    """Whether this side's batch of this number, as it was delivered first, broke no rule.

    Its signatures are not looked at: a state that is on chain has them.
    """
    asked = False
    for one in heard:
        message = _read(one)
        if isinstance(message, Request) and one.sender != sender:
            asked = True
        if not isinstance(message, Batch) or one.sender != sender or not one.counted:
            continue
        if message.number == number:
            before, after = known.get(number - 1), known.get(number)
            if before is None or after is None or number % 2 == sender:
                return False
            return _keeps(before, after, message, sender, asked=asked)
        asked = False
    return False


def _read(heard: Heard) -> Message | None:
    try:
        return decode(heard.message)
    except Violation:
        return None


def _keeps(before: Account, after: Account, batch: Batch, sender: int, *, asked: bool) -> bool:
    kinds = [ORDER.index(type(action)) for action in batch.actions]
    moved = [action.game_id for action in batch.actions if isinstance(action, Move)]
    owed = [game_id for game_id, game in before.games.items() if game.mover == sender]
    stalled = any(after.games.get(game_id) == before.games[game_id] for game_id in owed)
    return (
        kinds == sorted(kinds)
        and len(set(moved)) == len(moved)
        and {*moved} <= {*after.games}
        and (asked or not stalled)
        and min(after.balances) >= 0
        and after.total() == before.total()
        and not any(game.illegal and game.mover != sender for game in after.games.values())
        and all(_may(before, action, sender) for action in batch.actions)
    )


def _may(before: Account, action: BatchAction, sender: int) -> bool:
    match action:
        case Settle(game_id):
            return game_id in before.games and before.games[game_id].mover == sender
        case Cancel(group_id):
            return group_id in before.open
        case Accept(group_id):
            return group_id in before.open and before.open[group_id][0] != sender
        case Move(game_id):
            # A game that this very batch accepts is moved at once by who is its Alice.
            game = before.games.get(game_id)
            return game is None or (game.mover == sender and not game.over)
        case Propose(offers):
            return all(offer.game_id % 2 == sender for offer in offers)
