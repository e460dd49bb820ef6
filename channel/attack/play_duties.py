"""Duties of a side in play: what it does with the potato, and with what its player decided.

They are followed through the messages and commands of a side, over all its connections. Source:
spec/channel.md, "The potato" and "Clean shutdown".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile

from channelsim.channel.attack.early_messages import is_asked_early
from channelsim.channel.attack.play_memory import counts_bytes, counts_ids, keeps, remembers
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Cancelled,
    Close,
    Command,
    Connected,
    Effect,
    Event,
    Ignored,
    Moved,
    NearLimit,
    NotProposed,
    ProposeGames,
    Push,
    Received,
    SawCards,
    Send,
    Tell,
)
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    Funded,
    Message,
    Move,
    Propose,
    Request,
    Resume,
    Settle,
    Shutdown,
    ShutdownDone,
    decode,
)
from channelsim.channel.protocol.state import ChannelState, Side
from channelsim.channel.simulation.promises.fee_offers import awaits_fee_coins
from channelsim.channel.simulation.run import message_in
from channelsim.games.amounts import counted
from channelsim.games.choices import forced_action
from channelsim.games.contract import Position
from channelsim.games.errors import BadAdvisory

IDLE = 30
"""Idle batches in a row: up to so many, a side answers a request without waiting for a block. An
idle batch accepts, moves and settles nothing."""

MOST_IDLE = 40
"""The most idle batches between two blocks."""

LIVE = (Accept, Move, Settle)


@dataclass(slots=True)
class PlayDuties:
    """Follows the play of one side.

    `asked`: it has asked for the potato on this connection. `is_coming`: the other side says that
    it has sent it. `is_asked`: the other side has asked this one, which holds it. `gave_away`: its
    last batch left a move due. `idle` batches of both sides have gone by in a row, `idle_now` since
    the last block. `from_copy`: it goes on from an older copy, whose history has those. `revealed`
    is what its player saw early of the next move in a game, and the position before that.
    """

    side: Side
    fees: Fees | None = None
    asked: bool = False
    is_coming: bool = False
    is_asked: bool = False
    gave_away: bool = False
    idle: int = 0
    idle_now: int = 0
    from_copy: bool = False
    revealed: dict[int, tuple[Position, bytes]] = field(default_factory=dict)

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """Find what is wrong with an event in play; None for the start, or a restart."""
        if event is None or isinstance(event, Connected):
            self.asked = self.is_asked = self.is_coming = False
        if isinstance(event, Block):
            self.idle_now = 0
        yield from self._believed(event, after, effects)
        had, has = before.play, after.play
        if event is None or had is None or has is None:
            return
        yield from _unrepeated(event, before, after, effects)
        if self.from_copy:
            self.idle, self.from_copy = _idle_in(had), False
        if before.phase is not Phase.PLAYING:
            if after.phase is Phase.PLAYING and not has.state.games:
                # Batches that were held until now, and the answers to them.
                self.idle = self.idle_now = has.state.number - 1
            if after.phase is Phase.PLAYING and has.potato and not after.resuming:
                self.is_asked = is_asked_early(before)
                yield from self._waits(event, has, sends=False)
            return
        sent = [decode(effect.message) for effect in effects if isinstance(effect, Send)]
        received = message_in(event)
        is_repeat = isinstance(received, Resume)
        yield from remembers(had, has, sent)
        yield from keeps(event, before, after, effects)
        yield from counts_ids(had, has)
        yield from counts_bytes(had, has, [received, *sent])
        told = [effect.news for effect in effects if isinstance(effect, Tell)]
        is_asked = had.closing or isinstance(event, Close)
        if has.closing and not is_asked and not any(isinstance(news, NearLimit) for news in told):
            yield "closes the channel near a limit, and does not tell its player"
        if is_repeat or not before.resuming:  # others are ignored before the last numbers
            self._hear(received, had, has)
        for message in sent:
            match message:
                case Request():
                    yield from self._asks(has, is_repeat=is_repeat)
                case Batch() if not (is_repeat and had.state.number >= message.number):
                    yield from self._sends(event, message, had, has)
        completes = isinstance(received, Shutdown) and after.phase is Phase.COMPLETED
        if completes and not any(isinstance(message, ShutdownDone) for message in sent):
            yield "completes the shutdown, and does not answer it"
        if after.phase is Phase.COMPLETED:
            yield from self._publishes(after, effects)
        if after.phase is not Phase.PLAYING:
            return
        batches = [message for message in sent if isinstance(message, Batch)]
        yield from self._dropped(event, had, has, batches, effects)
        if not after.resuming:
            yield from self._waits(event, has, sends=bool(batches))
            if isinstance(received, Batch) and has.newest.state.number == received.number:
                yield from self._hidden(had.state, has, sent)
            if is_repeat and before.resuming and has.history.older is not None:
                yield from self._hidden(has.history.older.state, has, sent)
            if isinstance(received, Advisory):
                yield from _shown(received, had, has)

    def _believed(
        self, event: Event | None, after: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """Find a believed early reveal with which the other side's next move does not begin."""
        message = message_in(event) if event is not None else None
        for news in [effect.news for effect in effects if isinstance(effect, Tell)]:
            match news:
                case SawCards(game_id, player) if isinstance(message, Advisory):
                    self.revealed[game_id] = player.position, message.data
                case Moved(game_id, position) if after.play is not None:
                    shown, data = self.revealed.get(game_id, (None, b""))
                    live = after.play.state.game(game_id)
                    if live is None or live.before is None or live.position != position:
                        continue
                    if live.before.position == shown and not position.move.startswith(data):
                        yield f"has shown its player what is not so in game {game_id}"
                case _:
                    pass

    def _hear(self, message: Message | None, before: PlayState, after: PlayState) -> None:
        """Take a message of the other side."""
        match message:
            case Batch(number, actions) if after.newest.state.number == number:
                if before.newest.state.number < number:
                    self.asked = self.is_asked = self.is_coming = False
                    self._count(actions)
            case Request() if before.potato:
                self.is_asked = True
            case Resume(sent=sent) if sent > before.newest.state.number:
                self.is_coming = True
            case _:
                pass

    def _count(self, actions: Sequence[object]) -> None:
        is_idle = not any(isinstance(action, LIVE) for action in actions)
        self.idle = self.idle + 1 if is_idle else 0
        self.idle_now = self.idle_now + 1 if is_idle else 0

    # --- what it sends ---

    def _asks(self, play: PlayState, *, is_repeat: bool) -> Iterator[str]:
        """A request is sent once, and none while the other side owes the move of a last game."""
        if self.asked:
            yield "asks for the potato again, before the answer"
        if play.potato:
            yield "asks for the potato, which it has"
        self.asked = True
        owes = any(game.mover is self.side for game in play.state.games)
        ends = play.closing and not play.state.games
        if not (is_repeat or play.queue or owes or ends):
            yield "asks for the potato, and needs it for nothing"
        if play.closing and self._they_owe(play) and not (is_repeat or self.gave_away):
            yield "asks for the potato while it closes the channel and is owed a move"

    def _sends(
        self, event: Event, batch: Batch, before: PlayState, after: PlayState
    ) -> Iterator[str]:
        """A batch of a side that closes the channel begins no game, and does not delay the end.

        One in which nothing happens waits for the next block, after many of them.
        """
        self.is_asked = False
        for number in _named_twice(batch):
            yield f"names deck {number} for two games of a batch"
        for number in _opened_too_soon(batch, before):
            yield f"opens cards of game {number} in the batch that accepts it (PD-15)"
        is_empty = not (batch.actions or before.queue or before.closing)
        if isinstance(event, Received) and is_empty and self.idle > IDLE + 1:
            yield "answers a request at once, and nothing has happened for long"
        if before.closing:
            if any(isinstance(action, Accept | Propose) for action in batch.actions):
                yield "begins a game while it closes the channel"
            live = before.state.games or any(isinstance(action, LIVE) for action in batch.actions)
            if not live and not after.state.games:
                yield "sends a batch before the shutdown that its player wants"
        self._count(batch.actions)
        if self.idle_now > MOST_IDLE:
            many = counted(self.idle_now, "batch")
            yield f"takes part in {many} without any move since the last block"
        self.gave_away = any(game.mover is self.side for game in after.state.games)

    # --- what it does not send ---

    def _publishes(self, after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
        """The completed shutdown is published at once; a side without money may leave that."""
        if after.shutdown is None or not after.shutdown.state.balances[self.side]:
            return
        if awaits_fee_coins(self.fees, effects):
            return
        coin = after.shutdown.endpoint.channel.coin
        pushed = (effect.bundle for effect in effects if isinstance(effect, Push))
        if not any(spend.coin == coin for bundle in pushed for spend in bundle.spends):
            yield "completes the shutdown, and does not publish it"

    def _dropped(
        self,
        event: Event,
        before: PlayState,
        after: PlayState,
        batches: Sequence[Batch],
        effects: Sequence[Effect],
    ) -> Iterator[str]:
        """Find decisions of a player that are neither sent nor kept, though they are possible."""
        wanted: list[Command] = [*before.queue]
        if isinstance(event, Command) and not isinstance(event, ProposeGames):
            wanted.append(event)
        kept = {*map(id, after.queue)}
        gone = [command for command in wanted if id(command) not in kept]
        gone = [command for command in gone if command not in after.queue]
        actions = [action for batch in batches for action in batch.actions]
        acted = {action.game_id for action in actions if isinstance(action, Move | Settle)}
        open_groups = {group.id for group in after.state.groups}
        for command in gone:
            match command:
                case Act(game_id):
                    game = after.state.game(game_id)
                    if game_id not in acted and game is not None and game.mover is self.side:
                        yield f"drops the decision of its player in game {game_id}"
                case AcceptGames(group_id) | CancelGames(group_id):
                    if group_id in open_groups and not after.closing:
                        yield f"drops the answer of its player to proposal {group_id}"
                case _:
                    pass
        proposals = sum(isinstance(command, ProposeGames) for command in gone)
        proposed = sum(isinstance(action, Propose) for action in actions)
        news = [effect.news for effect in effects if isinstance(effect, Tell)]
        told = sum(isinstance(report, NotProposed | Cancelled) for report in news)
        if proposed + told < proposals:
            yield "drops a proposal of its player"

    def _hidden(
        self, before: ChannelState, after: PlayState, sent: Sequence[Message]
    ) -> Iterator[str]:
        """With the potato, a side shows early what its next move has to show anyway.

        It shows that again on a new connection, since it may have been lost.
        """
        shown = {message.game_id for message in sent if isinstance(message, Advisory)}
        for game in after.state.games if after.potato else ():
            earlier, player = before.game(game.id), after.players.get(game.id)
            is_new = earlier is None or earlier.coin != game.coin
            if not is_new or game.mover is not self.side or player is None or game.id in shown:
                continue
            if player.advisory() is not None:
                yield f"shows nothing early in game {game.id}"

    def _waits(self, event: Event, play: PlayState, *, sends: bool) -> Iterator[str]:
        """Its holder answers a request, sends what is decided, and ends what is to be closed.

        A potato that it gave away is asked for with the block after that in which it `sends` it.
        """
        if not play.potato:
            ends = play.closing and not play.state.games
            needs = ends or (bool(play.queue) and not play.closing)
            asked = self.asked or self.is_coming
            if needs and not asked:
                yield "does not ask for the potato, which it needs"
            owes = any(game.mover is self.side for game in play.state.games)
            if isinstance(event, Block) and owes and self.gave_away and not (asked or sends):
                yield "owes a move, and does not ask for the potato that it gave away"
            for game_id in _undecided(self.side, play) if not asked else ():
                yield f"does not ask for the potato, and owes a move of one kind in game {game_id}"
            return
        if play.closing and not play.state.games:
            yield "holds the potato, and does not send the shutdown that its player wants"
        elif play.closing and all(game.mover is not self.side for game in play.state.games):
            yield "keeps the potato while it closes the channel, and the other side owes a move"
        elif self.is_asked and self.idle < IDLE:
            yield "keeps the potato from the other side, which has asked for it"
        elif self._is_decided(event, play):
            yield "keeps what its player has decided"

    def _is_decided(self, event: Event, play: PlayState) -> bool:
        """True if all that its player has to decide now is decided, and something is wanted."""
        queue = [command for command in play.queue if not isinstance(command, CancelGames)]
        acts = {command.game_id for command in queue if isinstance(command, Act)}
        ours = {game.id for game in play.state.games if game.mover is self.side}
        answered = {
            command.group_id
            for command in play.queue
            if isinstance(command, AcceptGames | CancelGames)
        }
        asked = {group.id for group in play.state.groups if group.proposer is not self.side}
        if asked - answered and not (acts and isinstance(event, Block)):
            return False
        return bool(queue) and ours <= acts

    def _they_owe(self, play: PlayState) -> bool:
        return any(game.mover is not self.side for game in play.state.games)


def _undecided(side: Side, play: PlayState) -> Iterator[int]:
    """The games in which a side owes a move that needs no decision, as when it opens cards."""
    for game in play.state.games:
        player = play.players.get(game.id)
        choices = player.choices() if game.mover is side and player is not None else ()
        if forced_action(choices) is not None:
            yield game.id


def _idle_in(play: PlayState) -> int:
    """The newest states of a history after which no game began, moved or ended."""
    games = (link.state.games for link in play.history)
    return sum(1 for _ in takewhile(lambda earlier: earlier == play.state.games, games)) - 1


def _opened_too_soon(batch: Batch, before: PlayState) -> Iterator[int]:
    """The games with a deck that a batch both accepts and moves in."""
    accepted = [
        before.state.group(action.group_id)
        for action in batch.actions
        if isinstance(action, Accept)
    ]
    moved = {action.game_id for action in batch.actions if isinstance(action, Move)}
    for group in accepted:
        for offer in group.offers if group is not None else ():
            if offer.deck is not None and offer.game_id in moved:
                yield offer.game_id


def _named_twice(batch: Batch) -> list[int]:
    """The decks that several proposals of a batch name."""
    proposals = [action for action in batch.actions if isinstance(action, Propose)]
    offers = [offer for proposal in proposals for offer in proposal.offers]
    named = Counter(offer.deck.number for offer in offers if offer.deck is not None)
    return [number for number, times in named.items() if times > 1]


def _unrepeated(
    event: Event, before: PeerState, after: PeerState, effects: Sequence[Effect]
) -> Iterator[str]:
    """A side repeats on a new connection what the other one lacks, by the numbers of that."""
    numbers, play = message_in(event), before.play
    goes_on = after.dispute is None and after.phase is not Phase.OUTDATED
    is_taken = before.resuming and not after.resuming
    if not isinstance(numbers, Resume) or play is None or not (is_taken and goes_on):
        return
    number = play.state.number
    messages = [decode(effect.message) for effect in effects if isinstance(effect, Send)]
    if before.phase is Phase.CLOSING:
        if not any(isinstance(message, Shutdown) for message in messages):
            yield "does not repeat its half of the shutdown"
    elif not play.potato and numbers.received < number:
        if not any(isinstance(one, Batch) and one.number == number for one in messages):
            yield f"does not repeat batch {number}, which the other side lacks"
    elif play.potato and number == 1 and not any(isinstance(one, Funded) for one in messages):
        yield "does not repeat the completed funding"


def _shown(message: Advisory, before: PlayState, after: PlayState) -> Iterator[str]:
    """A player sees what the other side shows early, if that fits, and nothing else."""
    player = before.players.get(message.game_id)
    if player is None:
        return
    with suppress(BadAdvisory):
        player = player.advised(message.data)
    if after.players.get(message.game_id) != player:
        yield f"shows its player something else than the early reveal in game {message.game_id}"


REVEAL, KNOWN = "an early reveal in game", "is known already"
"""The beginning of the reason why an early reveal is ignored, and the end of one for a repeat."""


def unfit_reveals(effects: Sequence[Effect]) -> Iterator[str]:
    """Find early reveals that a side ignores, and that are no repeats: no honest side makes such
    ones."""
    for effect in effects:
        news = effect.news if isinstance(effect, Tell) else None
        reason = news.reason if isinstance(news, Ignored) else ""
        if reason.startswith(REVEAL) and not reason.endswith(KNOWN):
            yield reason
