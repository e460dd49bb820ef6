"""Duties of a block: each depth and each deadline is met at its height, not before or after.

The heights are counted here anew, from the state before a block, the block, and the agreed times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.chain_news import ChannelSettled, GameEnded
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import BrokenOff, Effect, Event, Push, Tell, Watch
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.onchain.lineage import Track
from channelsim.channel.peer.opening.handshake import Opened
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.promises.fee_offers import awaits_fee_coins
from channelsim.games.amounts import counted

MOVES, ANSWERS = "CH-TIME-2", "CH-TIME-1"
"""The rules by which the other side is late."""


def untimely(
    config: Config, block: Block, before: PeerState, after: PeerState, effects: Sequence[Effect]
) -> Iterator[str]:
    """Find what a peer did too early or too late with a block."""
    coins = {seen.coin: seen for seen in block.coins}
    yield from _funding(config, block.peak, coins, before, after)
    yield from _shutdown(config, block.peak, coins, before, after)
    yield from _answers(config, block.peak, coins, before, after, effects)
    if not _is_taken_back(after, coins):
        yield from _waits(config, before, after)
    if after.dispute is not None:
        yield from _unfunded(after, block.peak, coins)
        yield from _unknown(after, after.dispute, coins)
        yield from _uncounted(after.dispute, coins)
        if not awaits_fee_coins(config.fees, effects):
            yield from _paid_out(after.dispute, block.peak, effects)
        yield from _on_chain(after.dispute, block.peak, coins, effects)
        yield from _settled(config, after.dispute, block.peak, coins, effects)


@dataclass(slots=True)
class OwnMarks:
    """The height since which the other side owes the answer to the same state; 0 if not known.

    A peer counts anew with each state, and in each phase.
    """

    answered: object = None
    since: int = 0

    def follow(
        self,
        config: Config,
        event: Event | None,
        before: PeerState,
        after: PeerState,
        effects: Sequence[Effect],
    ) -> Iterator[str]:
        """Find an accusation of being late that comes too early; None for the start, or a restart.

        A process that was killed may have stored more than is known here.
        """
        if event is None:
            self.answered, self.since = _answered(after), 0
        if not isinstance(event, Block):
            return
        answered = _answered(before)
        known = self.since if answered == self.answered else event.peak
        self.answered, self.since = answered, min(known, event.peak)
        waits, times = event.peak - self.since, config.agreement.times
        for effect in effects:
            if isinstance(effect, Tell) and isinstance(effect.news, BrokenOff):
                rule = effect.news.blame.rule
                limit = times.margin + (times.move if rule == MOVES else times.response)
                if rule in (MOVES, ANSWERS) and waits <= limit:
                    blocks = counted(waits, "block")
                    yield f"it accuses the other side of being late after {blocks} of {limit}"


def _answered(state: PeerState) -> tuple[object, ...]:
    """All that changes with an answer of the other side."""
    number = state.play.state.number if state.play is not None else None
    return state.phase, state.opening.step, number


OPEN = (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)
"""Phases in which there is a channel, or will be one."""


def ended_early(config: Config, state: PeerState) -> Iterator[str]:
    """Find a process that ends while it has a channel, or its failed opening can become one."""
    opened, phase = state.opening.opened is not None, state.phase
    if phase in OPEN or (phase is Phase.OPENING and opened):
        yield f"it ends in the phase {phase.value}"
    if not _is_failed(state):
        return
    if (until := _fundable_until(config, state)) is not None:
        height = state.block.peak
        yield f"it ends at height {height}, though it can be funded up to height {until}"


def ended_late(config: Config, before: PeerState, block: Block) -> Iterator[str]:
    """Find a process that looks at one more block once its failed opening stays failed."""
    is_over = _is_failed(before) and _fundable_until(config, before) is None
    if is_over and block.peak > before.block.peak:
        yield f"it goes on at height {block.peak}, though its opening stays failed"


def _is_failed(state: PeerState) -> bool:
    """True if the opening has failed, and what was signed could still be funded."""
    return state.phase is Phase.FAILED and state.opening.opened is not None


def _fundable_until(config: Config, state: PeerState) -> int | None:
    """The height up to which a failed opening can become a channel; None if it cannot any more."""
    opened = state.opening.opened
    if opened is None:
        return None
    agreement, block = config.agreement, state.block
    until = opened.deadline + agreement.spacing * agreement.confirmations
    wallets = funding_coins(opened)
    spent = [seen.spent for seen in block.coins if seen.coin in wallets and seen.spent is not None]
    is_void = any(block.peak - height >= agreement.confirmations for height in spent)
    return None if block.peak >= until or is_void else until


def funding_coins(opened: Opened) -> set[Coin]:
    """The wallet coins that fund a channel: its opening stays failed once one of them is spent."""
    spends = opened.bundle.spends if opened.bundle is not None else ()
    coins = {opened.channel.launcher_parent, *(spend.coin for spend in spends)}
    return coins - {opened.channel.launcher}


def _compared(what: str, *, is_due: bool, is_done: bool) -> Iterator[str]:
    if is_due != is_done:
        yield f"{what} too {'early' if is_done else 'late'}"


def _funding(
    config: Config,
    peak: int,
    coins: dict[Coin, CoinSeen],
    before: PeerState,
    after: PeerState,
) -> Iterator[str]:
    """Play begins when the channel coin is deep; without one, the opening fails at its deadline."""
    opened = before.opening.opened
    if opened is None or before.phase not in (Phase.OPENING, Phase.FUNDING):
        return
    seen = coins.get(opened.channel.coin)
    if seen is None:
        failed = after.phase is Phase.FAILED
        yield from _compared("its opening fails", is_due=peak >= opened.deadline, is_done=failed)
    elif seen.spent is None:
        deep = peak - seen.born >= config.agreement.confirmations
        yield from _compared("it begins to play", is_due=deep, is_done=after.was_deep)


def _unfunded(after: PeerState, peak: int, coins: dict[Coin, CoinSeen]) -> Iterator[str]:
    """A side that has left waits for the channel coin until the deadline of its funding."""
    opened = after.opening.opened
    if opened is not None and opened.channel.coin not in coins:
        failed = after.phase is Phase.FAILED
        yield from _compared(
            "its opening fails on chain", is_due=peak >= opened.deadline, is_done=failed
        )


def _shutdown(
    config: Config,
    peak: int,
    coins: dict[Coin, CoinSeen],
    before: PeerState,
    after: PeerState,
) -> Iterator[str]:
    """A shutdown is final when its spend is deep."""
    shutdown = before.shutdown
    if shutdown is None or before.closed is not None or before.dispute is not None:
        return
    channel = coins.get(shutdown.endpoint.channel.coin)
    paid = all(coin in coins for coin in shutdown.rewards())
    if channel is not None and channel.spent is not None and paid:
        deep = peak - channel.spent >= config.agreement.confirmations
        yield from _compared(
            "it takes the shutdown for final", is_due=deep, is_done=after.closed is not None
        )


def _answers(
    config: Config,
    peak: int,
    coins: dict[Coin, CoinSeen],
    before: PeerState,
    after: PeerState,
    effects: Sequence[Effect],
) -> Iterator[str]:
    """The other side is accused of being late when it is, and not before.

    Nothing is due any more once the channel coin is spent.
    """
    times = config.agreement.times
    late = [
        awaited.what
        for awaited, since in after.marks.items()
        if peak - since > times.margin + (times.move if awaited.rule == MOVES else times.response)
    ]
    news = [effect.news for effect in effects if isinstance(effect, Tell)]
    accused = any(
        isinstance(report, BrokenOff) and report.blame.rule in (MOVES, ANSWERS) for report in news
    )
    if accused and not late:
        yield "it accuses the other side of being late, too early"
    opened = after.opening.opened
    channel = coins.get(opened.channel.coin) if opened is not None else None
    is_open = channel is not None and channel.spent is None
    waits = (is_open and after.phase in (Phase.PLAYING, Phase.CLOSING)) or (
        after.phase is Phase.OPENING and opened is None
    )
    if not waits or after.phase is not before.phase:
        return
    if late:
        yield f"it waits too long for {late[0]}"
    for awaited, since in after.marks.items():
        began = min(before.marks.get(awaited, peak), peak)
        if since != began:
            yield f"it waits for {awaited.what} since height {since}, and not since {began}"


def _is_taken_back(state: PeerState, coins: Collection[Coin]) -> bool:
    """True if play goes on, and the channel coin is not there: first comes the funding again."""
    opened = state.opening.opened
    is_playing = opened is not None and state.phase in (Phase.PLAYING, Phase.CLOSING)
    return is_playing and opened is not None and opened.channel.coin not in coins


def _waits(config: Config, before: PeerState, after: PeerState) -> Iterator[str]:
    """Find an answer that the other side owes and that is not waited for, or the reverse.

    What is owed follows from the phase, the potato and the games.
    """
    if after.phase is not before.phase or after.opening.opened is not before.opening.opened:
        return
    rules = {awaited.rule for awaited in after.marks}
    if after.phase is Phase.OPENING and after.opening.opened is None:
        begun = config.side is Side.INITIATOR or after.opening.own_introduction is not None
        yield from _owed("an answer", is_owed=begun, is_awaited=ANSWERS in rules)
    play = before.play
    if after.phase is Phase.PLAYING and play is not None:
        theirs = any(game.mover is not config.side for game in play.state.games)
        move = theirs and not play.potato
        yield from _owed("a move", is_owed=move, is_awaited=MOVES in rules)
        if play.potato and not before.resuming:
            asks = theirs and not play.they_asked
            yield from _owed("a request", is_owed=asks, is_awaited=ANSWERS in rules)
        elif not (play.potato or ANSWERS in rules) and _wants_potato(before, play):
            yield "it does not wait for the potato, which it has asked for or has to ask for"


def _wants_potato(state: PeerState, play: PlayState) -> bool:
    """True if it has asked for the potato, or has to and a new connection keeps it from asking."""
    ends = play.closing and not play.state.games
    has_to_ask = state.resuming and (ends or (bool(play.queue) and not play.closing))
    return play.we_asked or play.ask_later or has_to_ask


def _owed(what: str, *, is_owed: bool, is_awaited: bool) -> Iterator[str]:
    if is_owed and not is_awaited:
        yield f"it does not wait for {what}, which the other side owes"
    if is_awaited and not is_owed:
        yield f"it waits for {what}, which the other side does not owe"


def _unknown(state: PeerState, dispute: Dispute, coins: dict[Coin, CoinSeen]) -> Iterator[str]:
    """A published state is known with its unroll coin, whatever else the node hides."""
    channel, lineage = dispute.endpoint.channel, dispute.lineage
    if state.play is None or (lineage is not None and lineage.published is not None):
        return
    made = {coin for coin in coins if coin.parent == channel.coin.id}
    if made and any(unroll_coin(channel, link.state) in made for link in state.play.history):
        yield "it does not know the published state that it sees"


def _uncounted(dispute: Dispute, coins: dict[Coin, CoinSeen]) -> Iterator[str]:
    """A state that its timeout has paid is known by its coins, whatever else the node hides."""
    lineage, channel = dispute.lineage, dispute.endpoint.channel
    if lineage is None or lineage.published is None or lineage.counts is not None:
        return
    unroll = coins.get(unroll_coin(channel, lineage.published))
    if unroll is None or unroll.spent is None:
        return
    paid = [(one.puzzle_hash, one.amount) for one in coins if one.parent == unroll.coin.id]
    is_old = unroll.spent - unroll.born >= channel.unroll_timeout
    if is_old and sorted(paid) == sorted(channel.paid(lineage.published)):
        yield "it does not know that the published state is paid out"


def _pushed(effects: Sequence[Effect]) -> dict[str, Coin]:
    """The coins of the spends that are pushed, by the names of these."""
    return {
        effect.name.partition("+")[0]: effect.bundle.spends[0].coin
        for effect in effects
        if isinstance(effect, Push)
    }


def _paid_out(dispute: Dispute, peak: int, effects: Sequence[Effect]) -> Iterator[str]:
    """A published state is paid out from its timeout on, unless it is preempted."""
    lineage, pushed = dispute.lineage, _pushed(effects)
    unroll = lineage.unroll if lineage is not None and lineage.published is not None else None
    if unroll is not None and unroll.spent is None and "preempt" not in pushed:
        yield from _compared(
            "it pays a published state out",
            is_due=peak >= unroll.born + dispute.endpoint.channel.unroll_timeout,
            is_done="unroll-timeout" in pushed,
        )


def _on_chain(
    dispute: Dispute, peak: int, coins: dict[Coin, CoinSeen], effects: Sequence[Effect]
) -> Iterator[str]:
    """Claims of games are made from the timeout on, and moves before it."""
    for name, coin in _pushed(effects).items():
        tracked, seen = dispute.tracked.get(coin), coins.get(coin)
        if tracked is None or seen is None:
            continue
        age, timeout = peak - seen.born, tracked.game.coin.timeout
        if name == "claim" and age < timeout:
            yield f"it claims a game after {counted(age, 'block')} of {timeout}"
        if name in ("move", "redo") and age >= timeout:
            yield f"it moves in a game after {counted(age, 'block')} of {timeout}"


def _end_of(track: Track, height: int) -> int:
    """The height, this one at the earliest, at which a game ended: its coin was spent, or could be
    by its timeout."""
    seen = track.tip_seen
    if seen is None:
        return height
    timeout = seen.born + track.tip.game.coin.timeout
    return max(height, timeout if seen.spent is None else min(seen.spent, timeout))


def _settled(
    config: Config,
    dispute: Dispute,
    peak: int,
    coins: dict[Coin, CoinSeen],
    effects: Sequence[Effect],
) -> Iterator[str]:
    """A channel is settled with the spends of its unroll coin and of all game coins deep, at the
    latest, and not before that of its unroll coin is."""
    lineage = dispute.lineage
    unroll = lineage.unroll if lineage is not None else None
    if lineage is None or unroll is None or unroll.spent is None:
        return
    spends = [coins[coin].spent if coin in coins else None for coin in dispute.tracked]
    heights = [unroll.spent, *(spent for spent in spends if spent is not None)]
    # Coins that are watched from now on may be there already, and of a spend without its solution
    # nobody knows what it made.
    told_of = [coins[coin] for coin in (*dispute.tracked, unroll.coin) if coin in coins]
    hidden = any(seen.spent is not None and seen.solution is None for seen in told_of)
    watches = any(isinstance(effect, Watch) for effect in effects)
    known = None not in spends and not hidden and not watches
    settled = any(isinstance(fact, ChannelSettled) for fact in dispute.reported)
    told = any(
        isinstance(effect, Tell) and isinstance(effect.news, ChannelSettled) for effect in effects
    )
    deep = peak - max(heights) >= config.agreement.confirmations
    # A game that was given up is no reason to wait.
    if told and peak - unroll.spent < config.agreement.confirmations:
        yield "it takes a spend on chain for final too early"
    ended = [effect.news for effect in effects if isinstance(effect, Tell)]
    games = {news.game_id for news in ended if isinstance(news, GameEnded)}
    for track in lineage.tracks:
        is_told = told or track.tip.game.id in games
        if is_told and peak - _end_of(track, unroll.spent) < config.agreement.confirmations:
            yield f"it takes the end of game {track.tip.game.id} for final too early"
    if not settled and deep and known and not dispute.undecided:
        yield "it takes a spend on chain for final too late"
