"""Facts that a line of news has to name: who did what, amounts with their owners, states.

The sides are named here anew, so that a line that takes one for the other is found.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    GameEnded,
    GamePaid,
    GameVoid,
    LeftForChain,
    MovedOnChain,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Cancelled,
    ChannelOpen,
    FeeTooLow,
    FundingSent,
    GameSettled,
    Moved,
    News,
    OldCopy,
    OpeningFailed,
    OwnFault,
    ShutdownStarted,
)

SIDES = ("Initiator", "Receiver")
"""The sides by number, as lines name them."""


def left_out(news: News, us: int, text: str) -> Iterator[str]:
    """Find what a line does not say of the news of this side's peer, though it has to."""
    for phrase in _phrases(news, us):
        if phrase.lower() not in text.lower():
            yield phrase


def _phrases(news: News, us: int) -> Iterator[str]:
    them = SIDES[1 - us]
    match news:
        case FundingSent(coin, deadline):
            yield from (coin.id.hex(), f"height {deadline}")
        case ChannelOpen(coin, _):
            yield coin.id.hex()
        case OpeningFailed(deadline):
            yield f"height {deadline}"
        case Cancelled(group, _, reason):
            yield f"proposal {group.id} is cancelled: {reason}"
        case Moved(game_id):
            yield f"game {game_id}: {them} moves"
        case ShutdownStarted(by_us, balances):
            yield "we ask" if by_us else f"{them} asks"
            yield from _owned(0, *balances)
        case GameSettled(game_id, _, ours, theirs) | GameEnded(game_id, ours, theirs):
            yield f"game {game_id} "
            yield from _owned(us, ours, theirs)
        case ChannelSettled(number, ours, theirs):
            yield f"state {number}"
            yield from _owned(us, ours, theirs)
        case UnrollSeen(number):
            yield f"state {number} "
        case StateCounts(number, preempted, _, rewards):
            yield f"state {number} {'preempts' if preempted else 'is timed out'}"
            yield from _owned(0, *map(_amount, rewards))
        case MovedOnChain(game_id, by_us):
            yield f"game {game_id}: {SIDES[us] if by_us else them} moves"
        case GamePaid(game_id, slashed, ours, theirs):
            yield f"game {game_id} "
            if slashed:
                yield f"by {SIDES[us] if slashed == 'us' else them}"
            yield from _owned(us, _amount(ours), _amount(theirs))
        case GameVoid(game_id, number):
            yield f"game {game_id} is not in state {number}"
        case BrokenOff(blame, published):
            yield blame.rule
            yield blame.detail
            yield from _published(published)
        case OwnFault(reason, published) | LeftForChain(reason, published):
            yield reason
            yield from _published(published)
        case UnilateralClose():
            yield f"{them} closes"
        case OldCopy(signed, known):
            yield from (f"knows state {known},", f"signed state {signed}:")
        case FeeTooLow(name, fee):
            yield from (name, f"{fee:,} ")
        case Undone(fact):
            yield "undone: "
            yield from _phrases(fact, us)
        case _:
            pass


def _owned(first: int, *amounts: int) -> Iterator[str]:
    """Amounts with their owners; the first is that of this side."""
    for owner, amount in zip((first, 1 - first), amounts, strict=True):
        yield f"{SIDES[owner]} {amount:,}"


def _amount(coin: Coin | None) -> int:
    return coin.amount if coin is not None else 0


def _published(number: int | None) -> Iterator[str]:
    if number is not None:
        yield f"publishes state {number}"
