"""The fields of news: each is compared with the event, the state after it, and the chain's coins.

That a player hears of something is checked in `news_due`; this is about what it hears.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
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
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Acted,
    BrokenOff,
    Cancelled,
    ChannelOpen,
    Effect,
    Event,
    FundingSent,
    GameSettled,
    GameStarted,
    Moved,
    News,
    OldCopy,
    OpeningFailed,
    OwnFault,
    Send,
    ShutdownStarted,
    Tell,
)
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.protocol.messages import (
    Batch,
    Cancel,
    Message,
    Move,
    Settle,
    Shutdown,
    decode,
)
from channelsim.channel.protocol.state import ChannelState, Side
from channelsim.channel.simulation.run import message_in


def false_news(
    config: Config,
    event: Event | None,
    before: PeerState,
    after: PeerState,
    effects: Sequence[Effect],
) -> Iterator[str]:
    """Find fields of news after an event that are not as they should be."""
    told = [effect.news for effect in effects if isinstance(effect, Tell)]
    if not told or event is None:
        return
    sent = [decode(effect.message) for effect in effects if isinstance(effect, Send)]
    coins = {seen.coin: seen for seen in after.block.coins}
    for news in told:
        expected: Iterator[tuple[str, object, object]]
        match news:
            case BrokenOff() | OwnFault() | LeftForChain() | UnilateralClose() | OldCopy():
                expected = _of_leaving(config, after, coins, news)
            case GameStarted() | Acted() | Moved() | GameSettled() | Cancelled():
                expected = _of_play(config.side, message_in(event), before, after, sent, news)
            case _ if after.dispute is not None:
                expected = _on_chain(config.side, before, after, after.dispute, coins, news)
            case _:
                expected = _of_channel(before, after, coins, sent, news)
        for what, says, right in expected:
            if says != right:
                yield f"its player hears of {type(news).__name__} {what} {says}, and not {right}"


Fields = Iterator[tuple[str, object, object]]
"""The name of a field, its value in the news, and the right one."""


def _of_channel(
    before: PeerState,
    after: PeerState,
    coins: dict[Coin, CoinSeen],
    sent: Sequence[Message],
    news: News,
) -> Fields:
    """The opening and the shutdown."""
    opened = after.opening.opened
    match news:
        case FundingSent(coin, deadline) if opened is not None:
            yield "with the coin", coin, opened.channel.coin
            yield "with the deadline", deadline, opened.deadline
        case ChannelOpen(coin, height) if opened is not None:
            yield "with the coin", coin, opened.channel.coin
            yield "at height", height, after.block.peak
        case OpeningFailed(deadline) if opened is not None:
            yield "with the deadline", deadline, opened.deadline
        case ShutdownStarted(by_us, balances) if after.play is not None:
            yield "by us:", by_us, any(isinstance(message, Shutdown) for message in sent)
            yield "at", balances, after.play.state.balances
        case ChannelClosed(rewards, height) if opened is not None:
            spent = coins.get(opened.channel.coin)
            yield "at height", height, spent.spent if spent is not None else None
            yield "with rewards that are there:", all(coin in coins for coin in rewards), True
        case Undone(fact):
            yield "that was told:", fact == before.closed, True
        case _:
            pass


def _of_leaving(
    config: Config, after: PeerState, coins: dict[Coin, CoinSeen], news: News
) -> Fields:
    """The end of play off chain: who is to blame, and what is published."""
    play, opened = after.play, after.opening.opened
    newest = play.newest.state.number if play is not None and opened is not None else None
    match news:
        case BrokenOff(blame, published, slashable):
            yield "by", blame.party, config.peer
            yield "with state", published, newest
            slashes = after.dispute.slashable if after.dispute is not None else ()
            yield "with slashes", sorted(slashable), sorted(slashes)
        case OwnFault(_, published) | LeftForChain(_, published):
            yield "with state", published, newest
        case UnilateralClose(height) if opened is not None:
            channel = coins.get(opened.channel.coin)
            yield "at height", height, channel.spent if channel is not None else None
        case OldCopy(signed, known) if play is not None:
            yield "with the signed state", signed, after.shown
            yield "with the known state", known, play.state.number
        case _:
            pass


# --- play ----------------------------------------------------------------------------------------


def _of_play(
    side: Side,
    received: Message | None,
    before: PeerState,
    after: PeerState,
    sent: Sequence[Message],
    news: News,
) -> Fields:
    """Games and proposals off chain, by the batches of an event."""
    ours = [action for batch in sent if isinstance(batch, Batch) for action in batch.actions]
    theirs = [*received.actions] if isinstance(received, Batch) else []
    had, has = before.play, after.play
    if had is None or has is None or (after.dispute is not None and not ours):
        return
    match news:
        case Cancelled(group, mine, reason):
            yield f"{group.id}, ours:", mine, group.proposer is side
            for action in (*ours, *theirs):
                if isinstance(action, Cancel) and action.group_id == group.id:
                    yield f"{group.id}", reason, action.reason
        case GameStarted(game, player):
            yield f"{game.id} as", player.seat, game.seat(side)
            offers = [offer for group in had.state.groups for offer in group.offers]
            named = [offer for offer in offers if offer.game_id == game.id]
            if named:
                offered = named[0].game, named[0].timeout
                yield f"{game.id}", (game.terms.game, game.coin.timeout), offered
        case Acted(game_id, _, _, position, player):
            live = has.state.game(game_id)
            if live is not None and any(_is_move(action, game_id) for action in ours):
                yield f"in game {game_id} to", position, live.position
                yield f"in game {game_id} with its seat:", player == has.players.get(game_id), True
        case Moved(game_id, position, player):
            live = has.state.game(game_id)
            if live is not None and not any(_is_move(action, game_id) for action in ours):
                yield f"in game {game_id} to", position, live.position
                yield f"in game {game_id} with its seat:", player == has.players.get(game_id), True
        case GameSettled(game_id, by_us, to_us, to_them):
            settles = any(isinstance(one, Settle) and one.game_id == game_id for one in ours)
            yield f"{game_id} by us:", by_us, settles
            live = had.state.game(game_id)
            if live is not None and not any(_is_move(action, game_id) for action in theirs):
                shares = live.shares()
                yield f"{game_id} with", (to_us, to_them), (shares[side], shares[side.other])
        case _:
            pass


def _is_move(action: object, game_id: int) -> bool:
    return isinstance(action, Move) and action.game_id == game_id


# --- on chain ------------------------------------------------------------------------------------


def _on_chain(
    side: Side,
    before: PeerState,
    after: PeerState,
    dispute: Dispute,
    coins: dict[Coin, CoinSeen],
    news: News,
) -> Fields:
    """Facts of the chain: heights, coins and amounts are those of the coins that it has."""
    by_id = {coin.id: seen for coin, seen in coins.items()}
    channel = dispute.endpoint.channel
    match news:
        case UnrollSeen(number, coin):
            state = _numbered(after, number)
            yield f"of state {number} in", coin, unroll_coin(channel, state) if state else None
            parent = coins.get(channel.coin)
            yield "at height", news.height, parent.spent if parent is not None else None
        case StateCounts(number, preempted, stale, rewards, games, height):
            for one in coins.values():
                is_unroll = one.coin.parent == channel.coin.id and one.spent == height
                if is_unroll and height - one.born < channel.unroll_timeout:
                    yield "before the timeout, preempted:", preempted, True
            published = [fact for fact in dispute.reported if isinstance(fact, UnrollSeen)]
            state = _numbered(after, number)
            if not published or state is None:
                return
            unroll = coins.get(published[0].coin)
            yield "at height", height, unroll.spent if unroll is not None else None
            yield "preempted:", preempted, number != published[0].number
            yield "stale:", stale, number < dispute.newest.state.number
            paid = tuple(coin.amount if coin is not None else 0 for coin in rewards)
            yield "with", paid, state.balances
            named = [(game_id, coin.amount) for game_id, coin in games]
            yield "with games", named, [(game.id, game.coin.amount) for game in state.games]
        case UnknownSpend(coin, height):
            seen = coins.get(coin)
            yield "at height", height, seen.spent if seen is not None else None
        case UnknownGame(coin):
            yield "at a reward address:", coin.puzzle_hash in channel.rewards, False
            at = coin.puzzle_hash, coin.amount
            history = after.play.history if after.play is not None else ()
            live = (game.coin for link in history for game in link.state.games)
            known = any((game.puzzle_hash(), game.amount) == at for game in live)
            yield "that it knows:", known, False
        case MovedOnChain(game_id, by_us, coin, height):
            spent = by_id.get(coin.parent)
            tracked = dispute.tracked.get(spent.coin) if spent is not None else None
            yield "at height", height, spent.spent if spent is not None else None
            if tracked is not None:
                yield "in game", game_id, tracked.game.id
                yield f"in game {game_id} by us:", by_us, tracked.game.mover is side
        case RevealAtRisk(_, coin, depth):
            seen = coins.get(coin)
            yield "after", depth, after.block.peak - seen.born if seen is not None else None
        case GamePaid(game_id, slashed, ours, theirs, height):
            for coin in filter(None, (ours, theirs)):
                spent = by_id.get(coin.parent)
                yield "at height", height, spent.spent if spent is not None else None
            yield f"{game_id} in no coin:", ours is theirs is None, False
            one_alone = (ours is None) != (theirs is None)
            if slashed:
                winner = "us" if theirs is None else "them"
                yield f"{game_id}, slashed by", slashed, winner if one_alone else "nobody"
        case Forfeited(_, coin, theirs):
            yield "with", theirs, coin.amount
        case GameVoid(game_id, number):
            counts = [fact for fact in dispute.reported if isinstance(fact, StateCounts)]
            yield f"{game_id} in state", number, counts[0].number if counts else None
        case GameEnded(game_id, to_us, to_them):
            for fact in dispute.reported:
                if isinstance(fact, GamePaid) and fact.game_id == game_id:
                    paid = tuple(coin.amount if coin else 0 for coin in (fact.ours, fact.theirs))
                    yield f"{game_id} with", (to_us, to_them), paid
        case ChannelSettled(number, to_us, to_them) if _numbered(after, number) is not None:
            yield "with, in all,", to_us + to_them, channel.coin.amount
        case Undone(fact):
            was_told = before.dispute is not None and fact in before.dispute.reported
            yield "that was told:", was_told or fact == before.closed, True
            yield "that holds:", fact in dispute.reported, False
        case _:
            pass


def _numbered(state: PeerState, number: int) -> ChannelState | None:
    """The state of this number that a side knows."""
    return state.play.history.numbered(number) if state.play is not None else None
