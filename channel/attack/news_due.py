"""The effects that an event of a peer must have, as far as the change of its state says.

All of it follows from the states before and after the event: what a player has to hear of, the
coins that have to be watched, and the secrets that have to be erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from channelsim.channel.attack.times_due import funding_coins
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import (
    Fact,
    Forfeited,
    LeftForChain,
    MovedOnChain,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    Acted,
    BrokenOff,
    CancelGames,
    Cancelled,
    ChannelOpen,
    DeckReady,
    Effect,
    Erase,
    FundingSent,
    GameSettled,
    GameStarted,
    Moved,
    News,
    NotProposed,
    OldCopy,
    OpeningFailed,
    OwnFault,
    Proposed,
    ProposeGames,
    SawCards,
    ShutdownStarted,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.proposals import reason_to_refuse
from channelsim.channel.protocol.state import Group, LiveGame, Side
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.choices import forced_action
from channelsim.games.contract import Player
from channelsim.games.players import player_after
from channelsim.games.referee import GameCoin

Kinds: TypeAlias = type | tuple[type, ...]

ANSWERED = 5
"""Blocks with transactions in which a spend is answered, beyond those until what it answers is
deep."""

WEEK = 7 * 4608
"""The blocks of a week, the longest timeout of a game."""

LEFT = (BrokenOff, OwnFault, LeftForChain, UnilateralClose)
"""News that off-chain play is over."""


def missing(before: PeerState, after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find what the effects of an event lack, or tell again."""
    if before is after:
        return
    news = [effect.news for effect in effects if isinstance(effect, Tell)]
    yield from _of_channel(before, after, news)
    yield from _of_dispute(before.dispute, after.dispute, news)
    if before.play is not None and after.play is not None and after.endpoint is not None:
        broken = any(isinstance(report, BrokenOff) for report in news)
        # The moves of a batch with illegal ones are told as those.
        if not broken:
            yield from _of_play(after.endpoint.side, before.play, after.play, news)
        if after.dispute is None:
            yield from _needless(after.play, news)
        yield from _unplayable(before.endpoint or after.endpoint, news)
        over = after.phase is Phase.FAILED or after.dispute is not None
        if over and not after.proposals_ended:
            yield "its player does not hear that no proposal is open any more"
        if after.proposals_ended and not before.proposals_ended:
            # The batch that ends them may have accepted one.
            begun = {report.game.id for report in news if isinstance(report, GameStarted)}
            groups = [group for group in before.play.state.groups if group.id not in begun]
            yield from _ended(groups, news)
            unsent = sum(isinstance(command, ProposeGames) for command in after.play.queue)
            if sum(isinstance(report, NotProposed) for report in news) < unsent:
                yield "its player does not hear that its proposal comes to nothing"
    if after.dispute is not None and after.dispute is not before.dispute:
        yield from _of_forfeits(after.dispute, after.block)
        known = before.dispute.tracked if before.dispute is not None else {}
        yield from _of_seats(after.play, after.dispute, known)
    watched = {effect.coin for effect in effects if isinstance(effect, Watch)}
    for coin in _to_watch(before, after) - watched:
        yield f"it does not watch the coin {coin.id.hex()[:8]}"
    erased = {effect.number for effect in effects if isinstance(effect, Erase)}
    for number in sorted(_decks(before) - _decks(after) - erased):
        yield f"it does not erase the secrets of deck {number}"


# --- the channel ---------------------------------------------------------------------------------


def _of_channel(before: PeerState, after: PeerState, news: Sequence[News]) -> Iterator[str]:
    def due(kinds: Kinds, happens: bool, what: str) -> Iterator[str]:
        if happens and not any(isinstance(report, kinds) for report in news):
            yield f"its player does not hear {what}"

    opened, opened_before = after.opening.opened, before.opening.opened
    funded = opened is not None and opened.bundle is not None
    known = opened_before is not None and opened_before.bundle is not None
    yield from due(FundingSent, funded and not known, "that the funding is sent")
    yield from due(ChannelOpen, after.was_deep and not before.was_deep, "that play begins")
    failed = after.phase is Phase.FAILED and before.phase is not Phase.FAILED
    opening = failed and after.dispute is None
    yield from due((OpeningFailed, BrokenOff, OwnFault), opening, "that the opening failed")
    began = after.dispute is not None and before.dispute is None
    yield from due(LEFT, began, "that the channel is on chain")
    shuts = after.shutdown is not None and before.shutdown is None
    yield from due((ShutdownStarted, OldCopy), shuts, "of the shutdown")
    yield from due(
        OldCopy, after.shown is not None and before.shown is None, "that its store is an old copy"
    )
    if after.closed != before.closed:
        if after.closed is not None and after.closed not in news:
            yield "its player does not hear that the channel is closed"
        if before.closed is not None and Undone(before.closed) not in news:
            yield "its player does not hear that a close is undone"


def _of_dispute(
    before: Dispute | None, after: Dispute | None, news: Sequence[News]
) -> Iterator[str]:
    """Report facts of a scan of a block that are not told once, or not undone once."""
    if after is None:
        return
    known = before.reported if before is not None else ()
    facts = [report for report in news if isinstance(report, Fact)]
    for fact in after.reported:
        if fact not in known and fact not in facts:
            yield f"its player does not hear of {type(fact).__name__}"
    for fact in facts:
        if before is not None and fact in known and fact in after.reported:
            yield f"its player hears of {type(fact).__name__} again"
    undone = [report.fact for report in news if isinstance(report, Undone)]
    for fact in known:
        if fact not in after.reported and fact not in undone:
            yield f"its player does not hear that {type(fact).__name__} is undone"
    if before is not None and undone and not _is_taken_back(before, after):
        yield f"its player hears that {type(undone[0]).__name__} is undone, which holds"
    yield from _of_lineage(after)
    yield from _of_moves(before, after, news)
    for coin, decision in before.decided.items() if before is not None else ():
        if coin not in after.decided or after.decided[coin] != decision:
            yield f"its player's decision in game {coin.nonce} on chain is forgotten"
    forgotten = before.tracked.keys() - after.tracked.keys() if before is not None else ()
    for judged in forgotten:
        yield f"a game coin that it has judged is forgotten: {judged.id.hex()[:8]}"
    asked = {report.game_id for report in news if isinstance(report, YourTurn)}
    for game_id, tracked in after.undecided.items():
        if tracked.player is not None and forced_action(tracked.player.choices()) is not None:
            yield f"its player is asked in game {game_id}, where it has no choice"
        earlier = before.undecided.get(game_id) if before is not None else None
        if (earlier is None or earlier.game.coin != tracked.game.coin) and game_id not in asked:
            yield f"its player is not asked in game {game_id}"
    acted = {report.game_id for report in news if isinstance(report, Acted)}
    for game_id, tracked in before.undecided.items() if before is not None else ():
        if game_id in acted and tracked.game.coin not in after.decided:
            yield f"its player's decision in game {game_id} on chain is not kept"
    if before is not None and len(after.decided) > len(before.decided) and not acted:
        yield "its player does not hear of a decision on chain"


def _is_taken_back(before: Dispute, after: Dispute) -> bool:
    """True if the chain lacks something that it had: a height, a coin, or a spend as it was.

    A node that hides solutions names the coins that a spend made, which are not watched. What was
    told before it hid them is kept meanwhile, and may have been taken back in that time.
    """
    hidden = any(seen.spent is not None and seen.solution is None for seen in before.block.coins)
    if hidden or after.block.peak < before.block.peak:
        return True
    now = {seen.coin: seen for seen in after.block.coins}
    for seen in before.block.coins:
        later = now.get(seen.coin)
        if later is None:
            if seen.coin in before.watched:
                return True
            continue
        if later.born != seen.born or (seen.spent is not None and later.spent != seen.spent):
            return True
        if None not in (seen.solution, later.solution) and seen.solution != later.solution:
            return True
    return False


def _of_lineage(dispute: Dispute) -> Iterator[str]:
    """Report what coins on chain say, and the player has not heard."""
    lineage, reported = dispute.lineage, dispute.reported
    if lineage is None or lineage.published is None:
        return
    counts, unroll = lineage.counts, lineage.unroll
    if counts is None and unroll is not None:
        if not any(isinstance(fact, UnrollSeen) and fact.coin == unroll.coin for fact in reported):
            yield f"its player does not hear that state {lineage.published.number} is published"
    elif counts is not None:
        numbers = [fact.number for fact in reported if isinstance(fact, StateCounts)]
        if counts.number not in numbers:
            yield f"its player does not hear that state {counts.number} counts"
    moves = {fact.coin for fact in reported if isinstance(fact, MovedOnChain)}
    for track in lineage.tracks:
        for tracked in track.coins[1:]:
            if tracked.coin not in moves:
                yield f"its player does not hear of a move in game {tracked.game.id} on chain"


def _of_seats(
    play: PlayState | None, dispute: Dispute, known: Mapping[Coin, TrackedCoin]
) -> Iterator[str]:
    """Report a new seat on chain that does not know what it has to: what the one in play knew, or
    all moves of the game up to the state that counts."""
    lineage = dispute.lineage
    counts = lineage.counts if lineage is not None else None
    if lineage is None or counts is None or play is None:
        return
    for track in lineage.tracks:
        first, game = track.coins[0], track.coins[0].game
        if first.coin in known:
            continue
        if first.slashable is not None:
            if counts.number != dispute.newest.state.number:
                yield f"it would slash the last move of game {game.id} in state {counts.number}"
            continue
        live = play.players.get(game.id)
        if live is not None and live.position == game.position:
            if first.player != live:
                yield f"its player's seat in game {game.id} on chain is not that of play"
        elif first.player != _seat_in(dispute, play, game, counts.number):
            yield f"its player's seat in game {game.id} is not that of state {counts.number}"


def _seat_in(dispute: Dispute, play: PlayState, game: LiveGame, number: int) -> Player | None:
    """The seat in a game after its moves up to the state of this number; None where the secrets of
    its deck are erased."""
    if not dispute.endpoint.can_play(game):
        return None
    earlier = [link.state for link in play.history if link.state.number <= number]
    player = dispute.endpoint.new_player(game)
    coins: list[GameCoin] = []
    for state in reversed(earlier):
        live = state.game(game.id)
        if live is None or live.coin in coins:
            continue
        coins.append(live.coin)
        if live.before is not None:
            player = player_after(player, live.position, live.memory)
    return player


def _of_forfeits(dispute: Dispute, block: Block) -> Iterator[str]:
    """Report a game coin that pays us nothing, of which a player does not hear, or too early."""
    side, coins = dispute.endpoint.side, {seen.coin: seen for seen in block.coins}
    told = {fact.coin for fact in dispute.reported if isinstance(fact, Forfeited)}
    for track in dispute.lineage.tracks if dispute.lineage is not None else ():
        tip, seen = track.coins[-1], coins.get(track.coins[-1].coin)
        if seen is None or seen.spent is not None or tip.slashable is not None:
            continue
        is_over = block.peak - seen.born >= tip.game.coin.timeout
        is_lost = not tip.game.shares()[side]
        if is_lost and is_over and tip.coin not in told:
            yield f"its player does not hear that game {tip.game.id} is forfeited"
        if tip.coin in told and not (is_lost and (is_over or tip.game.mover is side)):
            yield f"its player hears that game {tip.game.id} is forfeited, and it is not"


def _of_moves(before: Dispute | None, after: Dispute, news: Sequence[News]) -> Iterator[str]:
    """Report legal moves of the other side on chain that are not told, or others that are."""
    known = before.tracked if before is not None else {}
    tracks = after.lineage.tracks if after.lineage is not None else ()
    due = {
        (tracked.game.id, tracked.game.position)
        for track in tracks
        for earlier, tracked in pairwise(track.coins)
        if tracked.coin not in known
        and earlier.game.mover is not after.endpoint.side
        and tracked.player is not None
    }
    told = {(report.game_id, report.after) for report in news if isinstance(report, Moved)}
    if before is None:
        due |= told  # those of the batch that ended play
    for game_id, _ in due - told:
        yield f"its player does not hear of the other side's move in game {game_id} on chain"
    for game_id, _ in told - due:
        yield f"its player hears of a move in game {game_id} that is not on chain"


# --- play ----------------------------------------------------------------------------------------


def _of_play(
    side: Side, before: PlayState, after: PlayState, news: Sequence[News]
) -> Iterator[str]:
    for number in sorted(after.decks.ready.keys() - before.decks.ready.keys()):
        if DeckReady(number) not in news:
            yield f"its player does not hear that deck {number} is ready"
    if after.closing and not before.closing:
        waiting = sum(isinstance(command, ProposeGames) for command in before.queue)
        if sum(isinstance(report, NotProposed) for report in news) < waiting:
            yield "its player does not hear that its proposal comes to nothing"
    if after.state is before.state:
        seen = any(isinstance(report, SawCards) for report in news)
        if (
            any(after.players[game] is not seat for game, seat in before.players.items())
            and not seen
        ):
            yield "its player does not hear of an early reveal"
        return
    yield from _of_games(side, before, after, news)
    started = {game.id for game in after.state.games}
    staying = {group.id for group in after.state.groups}
    gone = [group for group in before.state.groups if group.id not in staying]
    yield from _ended([group for group in gone if group.id not in started], news)
    refused = {one.group_id for one in after.queue if isinstance(one, CancelGames)}
    known = {group.id for group in before.state.groups}
    heard = {report.group.id for report in news if isinstance(report, Proposed)}
    for group in after.state.groups:
        if group.proposer is not side and group.id not in known | refused | heard:
            yield f"its player does not hear of proposal {group.id}"


def _needless(play: PlayState, news: Sequence[News]) -> Iterator[str]:
    """Report a question to a player in play that has one answer."""
    for game_id in [report.game_id for report in news if isinstance(report, YourTurn)]:
        player = play.players.get(game_id)
        if player is not None and forced_action(player.choices()) is not None:
            yield f"its player is asked in game {game_id}, where it has no choice"


def _unplayable(endpoint: Endpoint, news: Sequence[News]) -> Iterator[str]:
    """Report a question about a proposal that a side has to cancel by itself, and does not."""
    cancelled = {report.group.id for report in news if isinstance(report, Cancelled)}
    for group in [report.group for report in news if isinstance(report, Proposed)]:
        if group.id in cancelled:
            continue
        why = reason_to_refuse(endpoint.channel, group, endpoint.confirmations, endpoint.spacing)
        if why is not None:
            yield f"its player is asked about proposal {group.id}: {why}"
        for offer in group.offers:
            waits = 2 if registry.get(offer.game).reveals else 1
            least = endpoint.spacing * (waits * endpoint.confirmations + ANSWERED)
            if offer.timeout < least:
                blocks = counted(offer.timeout, "block")
                yield f"its player is asked about a timeout of {blocks}, at least {least}"
            if offer.timeout > WEEK:
                blocks = counted(offer.timeout, "block")
                yield f"its player is asked about a timeout of {blocks}, at most {WEEK:,}"


def _of_games(
    side: Side, before: PlayState, after: PlayState, news: Sequence[News]
) -> Iterator[str]:
    begun = {report.game.id for report in news if isinstance(report, GameStarted)}
    ended = {report.game_id: report for report in news if isinstance(report, GameSettled)}
    acted = {report.game_id for report in news if isinstance(report, Acted)}
    moved = {report.game_id for report in news if isinstance(report, Moved)}
    games = {game.id: game for game in before.state.games}
    for game in after.state.games:
        earlier = games.pop(game.id, None)
        if earlier is None:
            if game.id not in begun:
                yield f"its player does not hear that game {game.id} begins"
        elif earlier.coin != game.coin and game.id not in (
            acted if earlier.mover is side else moved
        ):
            yield f"its player does not hear of a move in game {game.id}"
    for game_id in games:
        if game_id not in ended:
            yield f"its player does not hear that game {game_id} ends"
        elif ended[game_id].by_us and game_id not in acted:
            yield f"its player does not hear of its own settlement of game {game_id}"


def _ended(groups: Sequence[Group], news: Sequence[News]) -> Iterator[str]:
    cancelled = {report.group.id for report in news if isinstance(report, Cancelled)}
    for group in groups:
        if group.id not in cancelled:
            yield f"its player does not hear that proposal {group.id} ends"


# --- coins and secrets ---------------------------------------------------------------------------


def _to_watch(before: PeerState, after: PeerState) -> set[Coin]:
    """The coins that have to be watched from now on."""
    coins: set[Coin] = set()
    if after.play is not None and before.play is None and after.endpoint is not None:
        coins.add(after.endpoint.channel.coin)
    if after.shutdown is not None and before.shutdown is None:
        coins |= {*after.shutdown.rewards()}
    if after.dispute is not None and before.dispute is not None:
        coins |= after.dispute.watched - before.dispute.watched
    opened = after.opening.opened
    if opened is not None and (
        (after.phase is Phase.FAILED and before.phase is Phase.FUNDING)
        or (_leaves(before, after) and not _has(after.block, opened.channel.coin))
    ):
        coins |= funding_coins(opened)
    return coins | ({*after.fees.watched} - {*before.fees.watched})


def _leaves(before: PeerState, after: PeerState) -> bool:
    return before.dispute is None and after.dispute is not None


def _has(block: Block, coin: Coin) -> bool:
    return any(seen.coin == coin for seen in block.coins)


def _decks(state: PeerState) -> set[int]:
    return {*state.endpoint.decks} if state.endpoint is not None else set()
