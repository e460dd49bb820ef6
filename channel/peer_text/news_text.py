"""News of a peer as text: lines for a terminal or page, sentences of a story, and reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

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
    DecksUsedUp,
    FeeTooLow,
    FundingSent,
    GameSettled,
    GameStarted,
    Ignored,
    Moved,
    NearLimit,
    News,
    NotProposed,
    OldCopy,
    OpeningFailed,
    OwnFault,
    Proposed,
    SawCards,
    ShutdownStarted,
    SpendDropped,
    YourTurn,
)
from channelsim.channel.session.defaults import NAMES
from channelsim.games.amounts import counted

ON_CHAIN = (
    UnrollSeen
    | UnknownSpend
    | UnknownGame
    | StateCounts
    | MovedOnChain
    | IllegalOnChain
    | GamePaid
    | Undone
)
"""News of what happened on the chain, whoever sees it."""

IN_PLAY = (
    FundingSent
    | ChannelOpen
    | Cancelled
    | NearLimit
    | NotProposed
    | GameStarted
    | Acted
    | Moved
    | DeckReady
    | DecksUsedUp
    | DeckBurnt
    | ShutdownStarted
)
"""News of undisturbed play, which the messages show as well."""

_PLACE = re.compile("^game [0-9]+, [^ :]+: ")
"""The place of a broken rule, in the details of a blame."""

BLAME, LEAVES, OUTCOME = "blame", "leaves", "outcome"
"""Kinds of news: a broken rule, the end of play off chain, and what became of the money."""


def news_kind(news: News) -> str:
    """The kind of news, as pages mark it."""
    match news:
        case BrokenOff() | OwnFault() | IllegalOnChain():
            return BLAME
        case LeftForChain() | UnilateralClose() | OldCopy() | UnrollSeen():
            return LEAVES
        case Forfeited() | GameEnded() | ChannelSettled() | ChannelClosed() | OpeningFailed():
            return OUTCOME
        case _:
            return "news"


# --- lines -------------------------------------------------------------------------------------


def news_text(news: News, us: int) -> str:
    """News of the peer of this side as a line; empty for what its player answers anyway."""
    them = NAMES[1 - us]
    match news:
        case FundingSent(coin, deadline):
            return f"the funding of channel {coin.id.hex()} is pushed; due before height {deadline}"
        case ChannelOpen(coin, _):
            return f"the channel is open: {coin.id.hex()}"
        case OpeningFailed(deadline):
            return (
                f"the opening failed: no channel coin by height {deadline}; one that a"
                " reorganisation still makes will be closed unilaterally"
            )
        case Cancelled(group, _, reason):
            return f"proposal {group.id} is cancelled: {reason}"
        case NearLimit(limit):
            return f"the channel is near its limit of {limit}: no new games, then the shutdown"
        case NotProposed(_, reason):
            return f"not proposed: {reason}"
        case GameStarted(game, _):
            stake = counted(game.terms.amount, "mojo")
            return f"game {game.id} starts: {game.terms.game} for {stake}"
        case Acted(game_id, action):
            amount = f" {action.amount:,}" if action.amount else ""
            return f"game {game_id}: we {action.verb}{amount}"
        case Moved(game_id, _, _, _, disagreements):
            wrong = "; rules and program disagree" if disagreements else ""
            return f"game {game_id}: {them} moves{wrong}"
        case DeckReady(number):
            return f"deck {number} is ready"
        case DecksUsedUp():
            return "the numbers of decks are used up: no deck is begun any more; close the channel"
        case DeckBurnt(number, _, _, reason):
            return f"deck {number} is given up: {reason}"
        case ShutdownStarted(by_us, balances):
            asks = "we ask" if by_us else f"{them} asks"
            return f"{asks} for the shutdown: {amounts_text(0, *balances)}"
        case UnrollSeen(number, coin, _):
            return f"state {number} is published ({short_id(coin)})"
        case UnknownSpend(coin, _):
            return f"{short_id(coin)} is spent in a way that the store does not know"
        case UnknownGame(coin, _):
            return f"{short_id(coin)} is a game in a position that the old copy lacks"
        case StateCounts(number, preempted, stale, rewards, games, _):
            how = "preempts" if preempted else "is timed out"
            paid = amounts_text(0, *(coin.amount if coin else 0 for coin in rewards))
            rest = "".join(f", game {game_id} {short_id(coin)}" for game_id, coin in games)
            return f"state {number} {how}{', stale' if stale else ''}: {paid}{rest}"
        case MovedOnChain(game_id, by_us, coin, _):
            who = NAMES[us if by_us else 1 - us].capitalize()
            return f"game {game_id}: {who} moves ({short_id(coin)})"
        case IllegalOnChain(game_id, rule, _):
            return f"game {game_id}: the move breaks {rule}"
        case GamePaid(game_id, slashed, ours, theirs, _):
            how = f"slashed by {NAMES[us if slashed == 'us' else 1 - us].capitalize()}"
            paid = amounts_text(us, ours.amount if ours else 0, theirs.amount if theirs else 0)
            return f"game {game_id} {how if slashed else 'timed out'}: {paid}"
        case Undone(fact):
            return f"undone: {news_text(fact, us)}"
        case BrokenOff(blame, published, _):
            state = "" if published is None else f"; publishes state {published}"
            return f"breaks off: {blame.rule}: {blame.detail}{state}"
        case OwnFault(reason, published):
            state = "" if published is None else f"; publishes state {published}"
            return f"breaks off by its own fault: {reason}{state}"
        case OldCopy(signed, known):
            return f"stops: it knows state {known}, and has signed state {signed}: an old copy"
        case LeftForChain(reason, published):
            return f"goes on chain: {reason}; publishes state {published}"
        case UnilateralClose():
            return f"sees that {them.capitalize()} closes the channel unilaterally"
        case Forfeited(game_id, _, _):
            return f"forfeits game {game_id}"
        case GameVoid(game_id, number):
            return f"game {game_id} is not in state {number}"
        case GameEnded(game_id, ours, theirs, _) | GameSettled(game_id, _, ours, theirs):
            return f"game {game_id} ended: {amounts_text(us, ours, theirs)}"
        case ChannelSettled(number, ours, theirs):
            return f"settled, from state {number}: {amounts_text(us, ours, theirs)}"
        case RevealAtRisk(game_id, _, depth):
            return f"must reveal in game {game_id} after {counted(depth, 'block')}"
        case ChannelClosed():
            return "closed by the shutdown"
        case FeeTooLow(name, fee):
            return (
                f"{name} is not confirmed, and its fee of {counted(fee, 'mojo')} rises no more: it"
                " is at the maximum"
            )
        case SpendDropped(name):
            return f"the node has dropped {name}, and takes it with another fee only"
        case Ignored() | YourTurn() | Proposed() | SawCards():
            return ""
        case _:
            assert_never(news)


def funding_text(news: FundingSent, balance: str) -> str:
    """The sentence that begins a session; `balance` is what each side puts in."""
    return (
        f"The initiator and the receiver put {balance} each into a channel (coin"
        f" {short_id(news.coin)}, to be funded before height {news.deadline})."
    )


def amounts_text(first: int, *amounts: int) -> str:
    """Amounts with their owners, the initiator first; the first amount is that of peer `first`."""
    owned = sorted(zip((first, 1 - first), amounts, strict=True))
    return ", ".join(f"{NAMES[side].capitalize()} {amount:,}" for side, amount in owned)


def short_id(coin: Coin) -> str:
    """The first digits of a coin's id."""
    return coin.id.hex()[:8] + "…"


# --- reasons and sentences ---------------------------------------------------------------------


def reason_text(news: News, us: str, them: str) -> str:
    """News as a reason why the money went where it did; empty for most.

    `us` and `them` are the names of the peer that was told and of the other one.
    """
    match news:
        case BrokenOff(blame, _, _):
            return f"{us} broke off ({blame.rule}: {blame.detail})"
        case LeftForChain(reason, _):
            return f"{us} left for the chain: {reason}"
        case OwnFault(reason, _):
            return f"{us} broke off by its own fault: {reason}"
        case OldCopy(signed, known):
            return (
                f"the store of {us} is an old copy: it ends at state {known}, and state"
                f" {signed} is signed"
            )
        case UnilateralClose():
            return f"{them} closed the channel unilaterally"
        case OpeningFailed():
            return "the funding missed its deadline"
        case ChannelClosed():
            return "both agreed to close"
        case StateCounts(number, preempted, stale):
            how = "preempted" if preempted else "was published, and timed out"
            return f"state {number} {how}{', though newer ones were' * stale}"
        case GameVoid(game_id, number):
            return f"game {game_id} does not exist in state {number}"
        case IllegalOnChain(game_id, rule, _):
            return f"a move in game {game_id} broke {rule}"
        case _:
            return ""


def end_of_play(news: Sequence[News], us: str, them: str) -> str:
    """How play off chain ended."""
    for told in news:
        match told:
            case BrokenOff(blame, published):
                then = "" if published is None else f", and published state {published}"
                how = _PLACE.sub("", blame.detail).rstrip(".")
                return f"{us} broke off, because {them} broke {blame.rule} ({how}){then}."
            case OwnFault(reason):
                return f"{us} broke off by its own fault: {reason}."
            case LeftForChain(reason, published):
                return f"{us} went on chain with state {published}: {reason}."
            case OldCopy(signed, known):
                return (
                    f"The store of {us} is an old copy, which ends at state {known} of {signed}:"
                    " it stopped."
                )
            case UnilateralClose(height):
                seen = next((seen.number for seen in news if isinstance(seen, UnrollSeen)), None)
                state = "" if seen is None else f", with state {seen}"
                return f"At height {height} {them} closed the channel alone{state}."
            case OpeningFailed():
                return "The channel was not funded in time."
            case ChannelClosed():
                return "Both agreed to close the channel."
            case _:
                pass
    return "The channel was never closed."


def end_on_chain(news: Sequence[News], us: str, them: str) -> str:
    """What counted on chain, and how the games ended there."""
    parts = []
    counts = next((told for told in news if isinstance(told, StateCounts)), None)
    if counts is not None:
        how = "replaced the published one" if counts.preempted else "counted"
        stale = ", though newer ones were signed" if counts.stale else ""
        parts.append(f"state {counts.number} {how}{stale}")
    moves = sum(isinstance(told, MovedOnChain) for told in news)
    if moves:
        parts.append(f"{counted(moves, 'move')} followed on chain")
    parts += [
        f"a move on chain broke {told.rule}" for told in news if isinstance(told, IllegalOnChain)
    ][:1]
    paid = [told for told in news if isinstance(told, GamePaid)]
    slashed = [told.slashed for told in paid if told.slashed]
    if slashed:
        who, whom = (us, them) if slashed[0] == "us" else (them, us)
        parts.append(f"{who} slashed {whom}'s move and took the whole game")
    elif paid:
        parts.append(f"{counted(len(paid), 'game')} paid out after the time lock")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
