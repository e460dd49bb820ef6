"""One peer of a channel: a state machine without I/O. An event goes in, effects come out.

Two peers share nothing; a driver carries the bytes between them, pushes their spends, tells
them of blocks and asks their players. Source: the state channel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from channel import compose, events
from channel.book import Book, Table
from channel.coins import Bundle
from channel.errors import InvariantError, UsageError, Violation
from channel.events import (
    Block,
    BrokenOff,
    ChannelClosed,
    ChannelOpen,
    Effect,
    FundingSent,
    Ignored,
    OpeningFailed,
    Proposed,
    Push,
    Received,
    SawCards,
    Send,
    ShutdownStarted,
    Store,
    Tell,
    Watch,
)
from channel.keys import SecretKeys
from channel.messages import (
    Advisory,
    Batch,
    Funded,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    decode,
    encode,
)
from channel.opening import Agreement, Opened, Opening, Step
from channel.proposal import why_not
from channel.receive import IllegalMoves, early_reveals, receive_batch
from channel.shutdown import Ending
from channel.signed import Signed, publish, unroll_coin
from channel.state import Side
from channel.wallet import Wallet
from games.errors import BadAdvisory

MAX_HELD = 32
"""Messages that may come before our own view of the chain lets us play."""


@dataclass(frozen=True, slots=True)
class Config:
    """Who a peer is. `secret` (32 bytes) is for this channel only; `peer` names the other."""

    name: str
    peer: str
    side: Side
    secret: bytes = field(repr=False)
    reward_address: bytes
    wallet: Wallet = field(repr=False)
    agreement: Agreement
    agg_sig_data: bytes
    entropy: Callable[[int], bytes] = field(repr=False)


class Phase(Enum):
    """Where a peer stands in the life of its channel."""

    OPENING = "the opening"
    FUNDING = "the funding"
    PLAYING = "play"
    CLOSING = "the shutdown that we asked for"
    COMPLETED = "the completed shutdown"
    CLOSED = "the end"
    ON_CHAIN = "the chain"
    FAILED = "a failed opening"


class Peer:
    """One side of one channel. Use `start`, then `handle` each event; carry out the effects."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.phase = Phase.OPENING
        self.table: Table | None = None
        self._secret_keys = SecretKeys.derive(config.secret)
        self._opening = Opening(
            config.side,
            self._secret_keys,
            config.reward_address,
            config.wallet,
            config.agreement,
            config.agg_sig_data,
        )
        self._opened: Opened | None = None
        self._book: Book | None = None
        self._peak = 0
        self._held: tuple[bytes, ...] = ()
        self._ending: Ending | None = None
        self.ignored = 0
        self._unroll: Bundle | None = None

    @property
    def book(self) -> Book:
        """The game of messages as this side sees it, once the channel is open."""
        if self._book is None:
            raise InvariantError("the channel is not open")
        return self._book

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain; the initiator speaks first."""
        self._peak = peak
        if self.config.side is Side.RECEIVER:
            return []
        return self._say(self._opening.hello())

    def handle(self, event: events.Event) -> list[Effect]:
        """What to do about an event, in order.

        Raises `UsageError` for a command that cannot be carried out; nothing has changed.
        """
        match event:
            case Received(message):
                return self._on_message(message)
            case Block():
                return self._on_block(event)
            case _:
                return self._on_command(event)

    def _ignore(self, reason: str) -> list[Effect]:
        """Drop what changes nothing and harms nobody; `ignored` counts how often."""
        self.ignored += 1
        return [Tell(Ignored(reason))]

    # --- commands of the player --------------------------------------------------------------

    def _on_command(self, command: events.Command) -> list[Effect]:
        if self.phase is not Phase.PLAYING or self.table is None:
            raise UsageError(f"{self.config.name} is in {self.phase.value}: not now")
        compose.check_command(self.table, self.book, command)
        if isinstance(command, events.Close):
            self._book = replace(self.book, closing=True)
        else:
            self._book = replace(self.book, queue=(*self.book.queue, command))
        return self._go_on()

    def _go_on(self) -> list[Effect]:
        """Send what can be sent now; ask for the potato, or the player, if that is needed."""
        try:
            return self._send_or_ask()
        except Violation as violation:
            # What the other side has set up makes the state that we would send a trap.
            violation.party, violation.step = self.config.peer, self.phase.value
            return self._break_off(violation)

    def _send_or_ask(self) -> list[Effect]:
        table, book = self._table(), self.book
        waiting = compose.undecided(table, book) or compose.unanswered(table, book)
        anything = compose.has_something_to_send(table, book)
        if book.potato:
            if book.owed or (anything and not waiting):
                self._book, effects = compose.send_batch(table, book)
                return effects + self._ask_back()
            if book.closing and not book.state.games:
                return self._ask_shutdown()
            return []
        wanted = bool(book.queue) or (book.closing and not book.state.games)
        return self._request() if wanted else []

    def _request(self) -> list[Effect]:
        if self.book.requested:
            return []
        self._book = replace(self.book, requested=True)
        return [Send(encode(Request()))]

    def _ask_back(self) -> list[Effect]:
        table, book = self._table(), self.book
        if book.closing and not book.state.games:
            return self._request()
        # We gave the potato away because we were asked to, with a move still owed: ask for it
        # back once the player has decided, or with the next block. (At once, two players who
        # both think would throw it to and fro.)
        owing = any(game.mover is table.side for game in book.state.games)
        self._book = replace(book, ask_later=owing)
        return []

    # --- messages of the other side ----------------------------------------------------------

    def _on_message(self, message: bytes) -> list[Effect]:
        if self.phase in (Phase.CLOSED, Phase.ON_CHAIN, Phase.FAILED):
            # The chain alone counts now, and what it says is in `_on_block`.
            return self._ignore(f"a message after {self.phase.value}")
        step = self.phase.value
        try:
            if self.phase is Phase.OPENING:
                step = f"{step}, waiting for {self._opening.step.value}"
                return self._on_opening(decode(message))
            return self._on_play(message)
        except Violation as violation:
            violation.party, violation.step = self.config.peer, step
            return self._break_off(violation)

    def _on_opening(self, message: Message) -> list[Effect]:
        opening = self._opening
        kept = len(opening.states)
        answers = opening.receive(message, self._peak)
        sends = [effect for answer in answers for effect in self._say(answer)]
        if opening.channel is None:
            return sends
        if self.table is None:
            self.table = Table(
                self.config.side,
                opening.channel,
                self._secret_keys,
                self.config.agreement.confirmations,
                self.config.entropy,
            )
        table = self.table
        stores = [table.keep(state, b"", signed) for state, signed in opening.states[kept:]]
        effects: list[Effect] = [*stores, *sends]
        opened = opening.opened
        if opened is None:
            return effects
        self._opened = opened
        if self._book is None:
            self._book = Book(
                state=opened.sent or opened.newest.state,
                newest=opened.newest,
                potato=self.config.side is Side.RECEIVER,
            )
            effects.append(Watch(opened.channel.coin))
        if opened.bundle is not None:
            self.phase = Phase.FUNDING
            effects.append(Store("opening/bundle", encode(Funded(opened.bundle))))
            effects.append(Push("funding", opened.bundle))
            effects.append(Tell(FundingSent(opened.channel.coin, opened.deadline)))
        return effects

    def _say(self, message: Message) -> list[Effect]:
        """Send a message of the opening, once it is kept."""
        blob = encode(message)
        return [Store(f"opening/{type(message).__name__.lower()}", blob), Send(blob)]

    def _on_play(self, blob: bytes) -> list[Effect]:
        if self.phase is Phase.COMPLETED:
            return self._ignore("a message after the completed shutdown")
        message = decode(blob)
        if self.phase is Phase.FUNDING:
            return self._hold(blob, message)
        repeat = blob == self.book.last_batch
        match message:
            case Batch() if repeat:
                return self._ignore("a repeat of the last batch")
            case Request() | Advisory() if self.phase is Phase.CLOSING:
                return self._ignore("a request or early reveal during the shutdown")
            case ShutdownDone():
                return self._on_shutdown_done(message)
            case _ if self.phase is Phase.CLOSING:
                name = type(message).__name__.lower()
                raise Violation("CH-SHUT-5", f"a {name} in answer to a shutdown")
            case Batch():
                return self._on_batch(message, blob)
            case Request():
                return self._on_request()
            case Advisory():
                return self._on_advisory(message)
            case Shutdown():
                return self._on_shutdown(message)
            case Funded() if self._opening.step is Step.FUNDED:
                return self._ignore("the completed bundle, which is in the chain already")
            case _:
                raise Violation("CH-MSG-3", f"a {type(message).__name__.lower()} during play")

    def _hold(self, blob: bytes, message: Message) -> list[Effect]:
        # The other side saw the channel coin's depth a moment before we did.
        if not isinstance(message, Batch | Request | Advisory | Shutdown):
            raise Violation("CH-MSG-3", f"a {type(message).__name__.lower()} before play")
        if len(self._held) == MAX_HELD:
            raise Violation("CH-MSG-3", f"more than {MAX_HELD} messages before play")
        self._held = (*self._held, blob)
        return []

    def _on_batch(self, batch: Batch, blob: bytes) -> list[Effect]:
        table, before = self._table(), self.book
        self._book, effects = receive_batch(table, before, batch, blob)
        unfit = self._refuse_unfit()
        effects = [effect for effect in effects if effect not in unfit] + self._go_on()
        if self.phase is Phase.PLAYING and self.book.potato:
            effects += early_reveals(table, before.state, self.book)
            effects += compose.your_turns(table, self.book)
        return effects

    def _refuse_unfit(self) -> list[Effect]:
        """Cancel, without asking the player, proposals that cannot be played.

        Returns the news that asked it.
        """
        table, book = self._table(), self.book
        news: list[Effect] = []
        for group_id in compose.unanswered(table, book):
            group = book.state.group(group_id)
            reason = why_not(table.channel, group, table.confirmations) if group else None
            if group is not None and reason is not None:
                book = replace(book, queue=(*book.queue, events.Cancel(group_id, reason)))
                news.append(Tell(Proposed(group)))
        self._book = book
        return news

    def _on_request(self) -> list[Effect]:
        if not self.book.potato:
            return self._ignore("a request that crossed our batch")
        self._book = replace(self.book, owed=True)
        return self._go_on()

    def _on_advisory(self, message: Advisory) -> list[Effect]:
        player = self.book.player(message.game_id)
        if player is None:
            return self._ignore(f"an early reveal in game {message.game_id}, which is not live")
        try:
            player = player.advised(message.data)
        except BadAdvisory as error:
            return self._ignore(f"an early reveal in game {message.game_id}: {error}")
        self._book = self.book.with_player(message.game_id, player)
        return [Tell(SawCards(message.game_id, player))]

    # --- shutdown ------------------------------------------------------------------------------

    def _ask_shutdown(self) -> list[Effect]:
        ending = Ending.of(self._table(), self.book.state)
        self._ending = ending
        self.phase = Phase.CLOSING
        message = encode(Shutdown(ending.half()))
        return [
            Store("shutdown/asked", message),
            Send(message),
            Tell(ShutdownStarted(True, ending.state.balances)),
            # Its completion may be seen on chain before we are told of it.
            *(Watch(coin) for coin in ending.rewards()),
        ]

    def _on_shutdown(self, message: Shutdown) -> list[Effect]:
        book = self.book
        if book.potato:
            raise Violation("CH-SHUT-1", "we hold the potato")
        if book.state.games:
            raise Violation("CH-SHUT-2", f"{len(book.state.games)} live games")
        ending = Ending.of(self._table(), book.state).answered(message.half)
        self._ending = ending
        return [
            *self._complete(ending, tell=True),
            Tell(ShutdownStarted(False, ending.state.balances)),
            *(Watch(coin) for coin in ending.rewards()),
        ]

    def _on_shutdown_done(self, message: ShutdownDone) -> list[Effect]:
        if self.phase is not Phase.CLOSING or self._ending is None:
            raise Violation("CH-SHUT-4", "we asked for no shutdown")
        self._ending = self._ending.completed(message.signature)
        return self._complete(self._ending, tell=False)

    def _complete(self, ending: Ending, *, tell: bool) -> list[Effect]:
        if ending.bundle is None:
            raise InvariantError("a completed shutdown without its spend")
        self.phase = Phase.COMPLETED
        message = encode(ShutdownDone(ending.bundle.signature))
        sends = [Send(message)] if tell else []
        return [Store("shutdown/completed", message), *sends, Push("shutdown", ending.bundle)]

    # --- the chain -----------------------------------------------------------------------------

    def _on_block(self, block: Block) -> list[Effect]:
        self._peak = block.peak
        if self._opened is None or self.phase in (Phase.CLOSED, Phase.FAILED):
            return []
        coin = self._opened.channel.coin
        seen = next((seen for seen in block.coins if seen.coin == coin), None)
        if self.phase is Phase.ON_CHAIN:
            return self._publish_again(block, seen)
        if seen is not None and seen.spent is not None:
            return self._on_spent(block, seen.spent)
        if self.phase in (Phase.OPENING, Phase.FUNDING):
            return self._await_funding(block, seen)
        if self.phase is Phase.COMPLETED and self._ending and self._ending.bundle:
            return [Push("shutdown", self._ending.bundle)]
        if self.phase is Phase.PLAYING and self.book.ask_later:
            return self._request()
        return []

    def _await_funding(self, block: Block, seen: events.CoinSeen | None) -> list[Effect]:
        opened = self._opened
        if opened is None:
            raise InvariantError("no funding to wait for")
        if seen is None:
            if block.peak >= opened.deadline:
                self.phase = Phase.FAILED
                return [Tell(OpeningFailed(opened.deadline))]
            return [Push("funding", opened.bundle)] if opened.bundle else []
        if block.peak - seen.born < self.config.agreement.confirmations:
            return []
        self.phase = Phase.PLAYING
        effects: list[Effect] = [Tell(ChannelOpen(opened.channel.coin, block.peak))]
        held, self._held = self._held, ()
        for message in held:
            effects += self._on_message(message)
        return effects

    def _on_spent(self, block: Block, spent: int) -> list[Effect]:
        """The channel coin is no more: by the shutdown that we completed, or by an unroll."""
        if self._ending is not None:
            rewards = self._ending.rewards()
            born = {seen.coin for seen in block.coins}
            if all(coin in born for coin in rewards):
                if block.peak - spent < self.config.agreement.confirmations:
                    return []
                self.phase = Phase.CLOSED
                return [Tell(ChannelClosed(rewards, spent))]
        violation = Violation("CH-CHAIN-1", "the channel coin was spent by an unroll")
        violation.party, violation.step = self.config.peer, self.phase.value
        self.phase = Phase.ON_CHAIN
        return [Tell(BrokenOff(violation, None))]

    def _break_off(self, violation: Violation) -> list[Effect]:
        """Stop playing by messages: publish the newest state that we can complete."""
        if self._opened is None:
            self.phase = Phase.FAILED
            return [Tell(BrokenOff(violation, None))]
        table, newest = self._table(), self.book.newest
        effects: list[Effect] = []
        slashable: tuple[int, ...] = ()
        if isinstance(violation, IllegalMoves):
            newest = violation.signed
            slashable = tuple(game_id for game_id, _ in violation.evidence)
            self._book = replace(self.book, newest=newest, state=newest.state)
            effects.append(table.keep(newest.state, violation.message, newest, violation.evidence))
        self.phase = Phase.ON_CHAIN
        return [
            *effects,
            *self._publish(newest),
            Tell(BrokenOff(violation, newest.state.number, slashable)),
        ]

    def _publish(self, newest: Signed) -> list[Effect]:
        table = self._table()
        self._unroll = publish(table.channel, self._secret_keys, newest)
        effects: list[Effect] = [Watch(unroll_coin(table.channel, newest.state))]
        if self._opened is not None and self._opened.bundle is not None:
            effects.append(Push("unroll", self._unroll))
        return effects

    def _publish_again(self, block: Block, seen: events.CoinSeen | None) -> list[Effect]:
        """Until the channel coin is spent; it may not have been there when we broke off."""
        opened = self._opened
        if opened is None or self._unroll is None:
            return []
        if seen is None and block.peak >= opened.deadline:
            self.phase = Phase.FAILED
            return [Tell(OpeningFailed(opened.deadline))]
        if seen is None or seen.spent is not None:
            return []
        return [Push("unroll", self._unroll)]

    def _table(self) -> Table:
        if self.table is None:
            raise InvariantError("the channel is not funded")
        return self.table
