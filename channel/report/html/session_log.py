"""A listener that collects what the page of a session or dispute shows."""

from __future__ import annotations

import re
from base64 import b64encode

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import (
    MovedOnChain,
    StateCounts,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    Acted,
    ChannelOpen,
    FundingSent,
    GameStarted,
    Moved,
    News,
    Proposed,
    Received,
    YourTurn,
)
from channelsim.channel.peer_text.news_text import ON_CHAIN, news_kind, news_text
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Introduction,
    Message,
    Move,
    Propose,
    Settle,
)
from channelsim.channel.protocol.state import Side
from channelsim.channel.report.html.coin_graph import CoinLabel
from channelsim.channel.report.html.deadline_log import DeadlineLog
from channelsim.channel.report.html.hand_view import action_words, hand_view, plain, title_of
from channelsim.channel.report.html.judged_moves import MoveJudge
from channelsim.channel.report.html.money_log import MoneyLog
from channelsim.channel.report.html.page import grouped
from channelsim.channel.report.html.session_data import CHAIN, PageEvent, PageHand
from channelsim.channel.report.lanes import decoded, message_text
from channelsim.channel.report.narrator import titled
from channelsim.channel.session.hands import HandTracker
from channelsim.channel.session.session_events import (
    Answered,
    BlockMade,
    Chosen,
    Closed,
    Decided,
    HandEnded,
    Handled,
    HandStarted,
    NewsFor,
    NoMoreHands,
    Pushed,
    Sent,
    SessionEvent,
    StepMade,
    viewer_seat,
)
from channelsim.channel.session.setup import NAMES
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.contract import Hand

MOST_EVENTS = 100_000
"""Rows of a page; later events of a longer session are only counted."""

LONGEST_MESSAGE = 2048
"""Bytes of a message that is shown as a whole; batches are shorter, steps of decks are longer."""

CUT = 512
"""Bytes that are shown of a longer message."""

MOST_BYTES = 16 * 1024 * 1024
"""Bytes of all messages of a page; of later ones the page has only what they are."""

FAULT = "fault"
"""The kind of rows on what goes wrong around the peers."""

MOST_HANDS = 2_000
"""Hands in the table."""

_LONG_ID = re.compile(r"[0-9a-f]{64}")

SHOWN_ANYWAY = Acted | Moved | GameStarted | Proposed | YourTurn
"""News that messages, decisions and hands show."""

_GAME = re.compile(r"\bgame ([0-9]+)")

_COIN = re.compile(r" (\([0-9a-f]{8}…\)|[0-9a-f]{8}…)")
"""The beginning of a coin's id behind what the coin is."""


class SessionLog:
    """Collects the rows of a page from the events of a session or dispute.

    `sides` are the peers whose news are shown; those of the first one say what happens on chain and
    with the money. `contributions` are in mojos, `unroll_timeout` in blocks. A `viewer` sees no
    cards that the other side hides. With `follow_hands` the log finds the hands in the news of both
    peers, as nobody else does in a dispute.
    """

    def __init__(
        self,
        sides: tuple[int, ...],
        contributions: tuple[int, int],
        unroll_timeout: int,
        viewer: str | None = None,
        *,
        follow_hands: bool = False,
    ) -> None:
        self.events: list[PageEvent] = []
        self.left_out = 0
        self.hands: list[PageHand] = []
        self.channel: Coin | None = None
        self.rewards: list[bytes] = [b"", b""]
        self.labels: dict[bytes, CoinLabel] = {}
        self.height = 0
        self._bytes = 0
        self._sides = sides
        self._viewer = viewer
        self._unroll_timeout = unroll_timeout
        self._judge = MoveJudge()
        self.money = MoneyLog(sides[0], contributions)
        self.deadlines = DeadlineLog(unroll_timeout, self._judge.games)
        self._on_their_way: dict[tuple[int, bytes], PageEvent] = {}
        self._first_bundles: list[tuple[Coin, ...]] = []
        self._decided: list[PageEvent | None] = [None, None]
        self._moves: list[PageEvent | None] = [None, None]
        self._moved_on_chain: list[PageEvent | None] = [None, None]
        self._words: dict[int, str] = {}
        self._begun: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._timeouts: dict[int, int] = {}
        self._follower = HandTracker(self, self._divided) if follow_hands else None

    def __call__(self, event: SessionEvent) -> None:
        """Collect one event."""
        match event:
            case BlockMade(height):
                if not self.height:
                    self._begin_at(height - 1)
                self.height = height
                self._block(height)
                self.deadlines.block(height)
            case Sent(sender, message):
                self._sent(NAMES.index(sender), message)
            case Handled(peer, Received(message), effects):
                sent = self._on_their_way.pop((1 - NAMES.index(peer), message), None)
                verdicts = self._judge.received(peer, message, effects)
                if sent is not None and verdicts:
                    sent.verdicts = verdicts
            case Handled(peer, Block(_, coins)) if NAMES.index(peer) == self._sides[0]:
                self._judge.block(coins)
            case Pushed():
                self._pushed(event)
            case NewsFor(player, news):
                side = Side(NAMES.index(player))
                self._news(side, news)
                if self._follower is not None:
                    self._follower.follow(side, news)
            case Decided(player, game_id, action):
                amount = f" {action.amount:,}" if action.amount else ""
                text = f"decides in game {game_id}: {action.verb}{amount}"
                lane = NAMES.index(player)
                self._decided[lane] = self._add(lane, "decision", text)
            case Answered(player, number, accepts):
                text = f"{'accepts' if accepts else 'declines'} hand {number + 1}"
                self._add(NAMES.index(player), "decision", text)
            case Chosen(player, number, game, limit):
                title = "" if game is None else title_of(registry.get(game))
                named = "no more hands" if game is None else f"{title} {limit or ''}".rstrip()
                text = f"names the game of hand {number + 1}: {named}"
                self._add(NAMES.index(player), "decision", text)
            case HandStarted(number, game, game_id, proposer, _):
                self._begun[number] = len(self.events)
                self._numbers[game_id] = number + 1
                text = f"begins hand {number + 1}: {title_of(registry.get(game))}"
                self._add(NAMES.index(proposer), "hand", text)
            case StepMade(_, hand):
                self._step(hand)
            case HandEnded():
                self._hand_ended(event)
            case NoMoreHands(reason):
                self._add(CHAIN, "hand", f"no more hands: {reason}")
            case Closed(_, height):
                self._add(CHAIN, "chain", f"the shutdown is on chain at height {height}")

    @property
    def funding(self) -> tuple[Coin, ...]:
        """The coins that the funding of the channel spends; none before it is pushed."""
        launcher = self.channel.parent if self.channel else b""
        funding = (
            coins for coins in self._first_bundles if launcher in [coin.id for coin in coins]
        )
        return next(funding, ())

    # --- rows ---

    def fault(self, lane: int, text: str) -> None:
        """Add a row for what goes wrong around a peer, or with the chain."""
        self._add(lane, FAULT, text)

    def _begin_at(self, height: int) -> None:
        """Set the height of the events before the first block."""
        for row in self.events:
            row.height = height

    def _add(
        self, lane: int, kind: str, text: str, message: str = "", lines: tuple[str, ...] = ()
    ) -> PageEvent:
        lines = tuple(map(self.named, lines))
        row = PageEvent(self.height, lane, kind, self.named(text), message, (), lines)
        if len(self.events) < MOST_EVENTS:
            self.events.append(row)
        else:
            self.left_out += 1
        return row

    def named(self, text: str) -> str:
        """A text with hands for the numbers of games, numbers in groups, and no ids of coins.

        The table of coins has their ids.
        """

        def hand(match: re.Match[str]) -> str:
            number = self._numbers.get(int(match[1]))
            return match[0] if number is None else f"hand {number}"

        return grouped(_GAME.sub(hand, _COIN.sub("", text)))

    def _block(self, height: int) -> None:
        """A row for a block, or for all in a row in which nothing happens."""
        last = self.events[-1] if self.events else None
        if last is None or last.kind != "block" or height <= last.height or self.left_out:
            self._add(CHAIN, "block", f"block {height}")
            return
        first = last.text.split()[1]
        last.height, last.text = height, f"blocks {first} to {height}"

    def _sent(self, sender: int, message: bytes) -> None:
        read = decoded(message)
        if isinstance(read, Introduction) and not self.rewards[sender]:
            self.rewards[sender] = read.reward_address
        text = _batch_text(read) if isinstance(read, Batch) else message_text(read)
        shown = message if len(message) <= LONGEST_MESSAGE else message[:CUT]
        self._bytes += len(shown)
        if self._bytes > MOST_BYTES:
            shown = b""
        row = self._message_row(sender, read, text)
        row.message = b64encode(shown).decode()
        row.size = 0 if shown == message else len(message)
        self._on_their_way[sender, message] = row
        self.deadlines.sent(sender, read)

    def _message_row(self, sender: int, read: Message | None, text: str) -> PageEvent:
        """A row for a message: that of the decision that it sends, if that was the last thing."""
        moves = isinstance(read, Batch) and any(isinstance(act, Move) for act in read.actions)
        decided = self._decided[sender]
        if moves and decided is not None and self.events and self.events[-1] is decided:
            decided.kind, decided.text = "message", self.named(text)
            row = decided
        else:
            row = self._add(sender, "message", text)
        if moves:
            self._moves[sender], self._decided[sender] = row, None
        return row

    def _pushed(self, event: Pushed) -> None:
        lane = NAMES.index(event.by)
        coins = [spend.coin for spend in event.bundle.spends]
        if self.channel is None or not self.funding:
            self._first_bundles.append(tuple(coins))
        refused = event.result.answer
        answer = "" if refused is Answer.ACCEPTED else f": {refused.value}"
        text = f"pushes {event.name}{answer}"
        recent = [row for row in self.events[-12:] if row.lane == lane and row.kind == "spend"]
        if any(row.text == text for row in recent[-3:]):
            return  # the same spend is offered with every block until it is in
        lines = tuple(f"spends {coin.id.hex()}, {counted(coin.amount, 'mojo')}" for coin in coins)
        self._add(lane, "spend", text, lines=lines)

    def _news(self, side: int, news: News) -> None:
        self._judge.follow(NAMES[side], news)
        row = len(self.events)
        followed = side == self._sides[0]
        if followed:
            self._learn_coins(news)
            self.deadlines.follow(news)
            verdicts = self._judge.on_chain(news)
            if isinstance(news, ON_CHAIN):
                kind = news_kind(news)
                told = self._add(CHAIN, "chain" if kind == "news" else kind, news_text(news, side))
                told.verdicts = verdicts
                if isinstance(news, MovedOnChain):
                    self._moved_on_chain[side if news.by_us else 1 - side] = told
        if side in self._sides and not isinstance(news, ON_CHAIN | SHOWN_ANYWAY):
            text = _LONG_ID.sub(lambda digits: f"{digits[0][:8]}…", news_text(news, side))
            if text:
                self._add(side, news_kind(news), text)
        if followed:
            self.money.follow(min(row, len(self.events) - 1), news)

    def _learn_coins(self, news: News) -> None:
        match news:
            case FundingSent(coin) | ChannelOpen(coin):
                self.channel = coin
            case GameStarted(game):
                self._timeouts[game.id] = game.coin.timeout
            case UnrollSeen(number, coin):
                lock = _pays_after(self._unroll_timeout)
                self.labels[coin.id] = CoinLabel("unroll", f"unroll, state {number}", lock)
            case StateCounts(games=games):
                for game_id, coin in games:
                    self._label_game(game_id, coin)
            case MovedOnChain(game_id, _, coin):
                self._label_game(game_id, coin)
            case _:
                pass

    def _label_game(self, game_id: int, coin: Coin) -> None:
        timeout = self._timeouts.get(game_id)
        lock = "" if timeout is None else _pays_after(timeout)
        self.labels[coin.id] = CoinLabel("game", self.named(f"game {game_id}"), lock)

    # --- hands ---

    def finish(self) -> None:
        """End the hands of a dispute that nobody was paid for."""
        if self._follower is not None:
            self._follower.finish()

    def _step(self, hand: Hand) -> None:
        """Say in the game's own words what the newest decision was."""
        shown, seat = titled(hand), viewer_seat(hand, self._viewer)
        lines = plain(registry.get(hand.terms.game).story.step(shown, seat))
        words = action_words(shown, lines)
        self._words[id(hand.steps[-1])] = grouped(words)
        lane = NAMES.index(hand.names[hand.steps[-1].seat])
        more = tuple(map(self.named, (line for line in lines if line != words)))
        for rows, kind in ((self._moves, "step"), (self._decided, "decision")):
            row, rows[lane] = rows[lane], None
            if row is not None and words:
                row.kind, row.text, row.lines = kind, grouped(words), (*more, *row.lines)
        row, self._moved_on_chain[lane] = self._moved_on_chain[lane], None
        if row is not None and words:
            row.lines, row.text = (row.text,), f"{grouped(words)}, on chain"

    def _hand_ended(self, event: HandEnded) -> None:
        hand, seat = titled(event.hand), viewer_seat(event.hand, self._viewer)
        words = [self._words.pop(id(step), "") for step in event.hand.steps]
        view = hand_view(hand, words, seat)
        begun = self._begun.get(event.number, len(self.events))
        over = "is over" if event.hand.payouts is not None else "was not finished"
        self._add(CHAIN, "hand", f"hand {event.number + 1} {over}", lines=view.result)
        if len(self.hands) == MOST_HANDS:
            return
        payouts = tuple(zip(hand.names, hand.payouts or (), strict=False))
        self.hands.append(PageHand(event.number + 1, begun, payouts, event.balances, view))

    def _divided(self) -> tuple[int, int]:
        """The balances of both peers after the last event."""
        last = self.money.balances[-1] if self.money.balances else None
        return (0, 0) if last is None else (last.initiator, last.receiver)


def _batch_text(batch: Batch) -> str:
    """What a batch does, in words."""
    words = [_action_text(action) for action in batch.actions]
    return f"{', '.join(dict.fromkeys(words)) or 'passes the potato'} (batch {batch.number})"


def _action_text(action: BatchAction) -> str:
    match action:
        case Move(game_id):
            return f"moves in game {game_id}"
        case Settle(game_id):
            return f"settles game {game_id}"
        case Propose(offers=offers):
            return f"proposes {counted(len(offers), 'hand')}"
        case Accept():
            return "accepts the proposal"
        case Cancel():
            return "declines the proposal"


def _pays_after(timeout: int) -> str:
    return f"pays out after {counted(timeout, 'block')}"
