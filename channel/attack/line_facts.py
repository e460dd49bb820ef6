"""Facts that a line of news has to name: who did what, amounts with their owners, states.

The sides are named here anew, so that a line that takes one for the other is found.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    IllegalOnChain,
    LeftForChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnilateralClose,
    UnknownGame,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    Acted,
    BrokenOff,
    Cancelled,
    ChannelOpen,
    DeckBurnt,
    DeckReady,
    FeeTooLow,
    FundingSent,
    GameSettled,
    GameStarted,
    Moved,
    NearLimit,
    News,
    NotProposed,
    OldCopy,
    OpeningFailed,
    OwnFault,
    ShutdownStarted,
    SpendDropped,
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
        case NearLimit(limit):
            yield limit
        case NotProposed(_, reason):
            yield reason
        case GameStarted(game):
            yield from (f"game {game.id} ", game.terms.game, f"{game.terms.amount:,} mojo")
        case Acted(game_id, action):
            amount = f" {action.amount:,}" if action.amount else ""
            yield f"game {game_id}: we {action.verb}{amount}"
        case Moved(game_id):
            yield f"game {game_id}: {them} moves"
        case DeckReady(number):
            yield f"deck {number} "
        case DeckBurnt(number, _, _, reason):
            yield from (f"deck {number} ", reason)
        case ShutdownStarted(by_us, balances):
            yield "we ask" if by_us else f"{them} asks"
            yield from _owned(0, *balances)
        case GameSettled(game_id, _, ours, theirs) | GameEnded(game_id, ours, theirs):
            yield f"game {game_id} "
            yield from _owned(us, ours, theirs)
        case ChannelSettled(number, ours, theirs):
            yield f"state {number}"
            yield from _owned(us, ours, theirs)
        case UnrollSeen(number, coin):
            yield from (f"state {number} ", _id(coin))
        case UnknownSpend(coin) | UnknownGame(coin):
            yield _id(coin)
        case StateCounts(number, preempted, stale, rewards, games):
            how = "preempts" if preempted else "is timed out"
            yield f"state {number} {how}{', stale' if stale else ''}:"
            yield from _owned(0, *map(_amount, rewards))
            yield from (f"game {game_id} {_id(coin)}" for game_id, coin in games)
        case MovedOnChain(game_id, by_us, coin):
            yield from (f"game {game_id}: {SIDES[us] if by_us else them} moves", _id(coin))
        case IllegalOnChain(game_id, rule):
            yield from (f"game {game_id}", rule)
        case RevealAtRisk(game_id, _, depth):
            yield from (f"game {game_id} ", f"{depth} block")
        case Forfeited(game_id):
            yield f"game {game_id}"
        case ChannelClosed():
            yield "shutdown"
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
        case SpendDropped(name):
            yield name
        case Undone(fact):
            yield "undone: "
            yield from _phrases(fact, us)
        case _:
            pass


def _owned(first: int, *amounts: int) -> Iterator[str]:
    """Amounts with their owners; the first is that of this side."""
    for owner, amount in zip((first, 1 - first), amounts, strict=True):
        yield f"{SIDES[owner]} {amount:,}"


def _id(coin: Coin) -> str:
    """The first digits of a coin's id."""
    return coin.id.hex()[:8]


def _amount(coin: Coin | None) -> int:
    return coin.amount if coin is not None else 0


def _published(number: int | None) -> Iterator[str]:
    if number is not None:
        yield f"publishes state {number}"
