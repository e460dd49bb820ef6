"""A listener that collects what the page of a session or dispute shows."""

from __future__ import annotations

import re
from base64 import b64encode

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import MovedOnChain, StateCounts, UnrollSeen
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
from channelsim.channel.protocol.messages import Introduction
from channelsim.channel.report.html.coin_graph import CoinLabel
from channelsim.channel.report.html.deadline_log import DeadlineLog
from channelsim.channel.report.html.judged_moves import MoveJudge
from channelsim.channel.report.html.money_log import MoneyLog
from channelsim.channel.report.html.session_data import CHAIN, PageEvent, PageHand
from channelsim.channel.report.lanes import chain_text, decoded, message_text
from channelsim.channel.report.narrator import titled
from channelsim.channel.report.peer_lines import news_text
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
from channelsim.games.contract import Line

MOST_EVENTS = 100_000
"""Rows of a page; later events of a longer session are only counted."""

LONGEST_MESSAGE = 2048
"""Bytes of a message that is shown as a whole; batches are shorter, steps of decks are longer."""

CUT = 512
"""Bytes that are shown of a longer message."""

MOST_BYTES = 16 * 1024 * 1024
"""Bytes of all messages of a page; of later ones the page has only what they are."""

MOST_HANDS = 2_000
"""Hands in the table."""

_LONG_ID = re.compile(r"[0-9a-f]{64}")

SHOWN_ANYWAY = Acted | Moved | GameStarted | Proposed | YourTurn
"""News that messages, decisions and hands show."""


class SessionLog:
    """Collects the rows of a page from the events of a session or dispute.

    `sides` are the peers whose news are shown; those of the first one say what happens on chain and
    with the money. `contributions` are in mojos, `unroll_timeout` in blocks. A `viewer` sees no
    cards that the other side hides.
    """

    def __init__(
        self,
        sides: tuple[int, ...],
        contributions: tuple[int, int],
        unroll_timeout: int,
        viewer: str | None = None,
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
        self._decided: PageEvent | None = None
        self._begun: dict[int, int] = {}
        self._timeouts: dict[int, int] = {}

    def __call__(self, event: SessionEvent) -> None:
        """Collect one event."""
        match event:
            case BlockMade(height):
                if not self.height:
                    self._begin_at(height - 1)
                self.height = height
                self._add(CHAIN, "block", f"block {height}")
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
                self._news(NAMES.index(player), news)
            case Decided(player, game_id, action):
                amount = f" {action.amount}" if action.amount else ""
                text = f"decides in game {game_id}: {action.verb}{amount}"
                self._decided = self._add(NAMES.index(player), "decision", text)
            case Answered(player, number, accepts):
                text = f"{'accepts' if accepts else 'declines'} hand {number + 1}"
                self._add(NAMES.index(player), "decision", text)
            case Chosen(player, number, game, limit):
                named = "no more hands" if game is None else f"{game} {limit or ''}".rstrip()
                text = f"names the game of hand {number + 1}: {named}"
                self._add(NAMES.index(player), "decision", text)
            case HandStarted(number, game, _, proposer, _):
                self._begun[number] = len(self.events)
                text = f"proposes hand {number + 1}: {game}"
                self._add(NAMES.index(proposer), "hand", text)
            case StepMade(game, hand):
                seat = viewer_seat(hand, self._viewer)
                self._step(registry.get(game).story.step(titled(hand), seat))
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

    def _begin_at(self, height: int) -> None:
        """Set the height of the events before the first block."""
        for row in self.events:
            row.height = height

    def _add(
        self, lane: int, kind: str, text: str, message: str = "", lines: tuple[str, ...] = ()
    ) -> PageEvent:
        row = PageEvent(self.height, lane, kind, text, message, (), lines)
        if len(self.events) < MOST_EVENTS:
            self.events.append(row)
        else:
            self.left_out += 1
        return row

    def _sent(self, sender: int, message: bytes) -> None:
        read = decoded(message)
        if isinstance(read, Introduction) and not self.rewards[sender]:
            self.rewards[sender] = read.reward_address
        text = message_text(read)
        shown = message if len(message) <= LONGEST_MESSAGE else message[:CUT]
        self._bytes += len(shown)
        if self._bytes > MOST_BYTES:
            shown = b""
        row = self._add(sender, "message", text, b64encode(shown).decode())
        row.size = 0 if shown == message else len(message)
        self._on_their_way[sender, message] = row
        self.deadlines.sent(sender, read)

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
        on_chain = chain_text(news, side)
        followed = side == self._sides[0]
        if followed:
            self._learn_coins(news)
            self.deadlines.follow(news)
            verdicts = self._judge.on_chain(news)
            if on_chain:
                self._add(CHAIN, "chain", on_chain).verdicts = verdicts
        if side in self._sides and not on_chain and not isinstance(news, SHOWN_ANYWAY):
            text = _LONG_ID.sub(lambda digits: f"{digits[0][:8]}…", news_text(news, side))
            if text:
                self._add(side, "news", text)
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
        self.labels[coin.id] = CoinLabel("game", f"game {game_id}", lock)

    # --- hands ---

    def _step(self, lines: list[Line]) -> None:
        """Say in the game's own words what the newest decision was."""
        words = _plain(lines)
        if self._decided is None or not words:
            return
        self._decided.text, self._decided.lines = words[0], words[1:]
        self._decided = None

    def _hand_ended(self, event: HandEnded) -> None:
        seat = viewer_seat(event.hand, self._viewer)
        lines = _plain(registry.get(event.game).story.result(titled(event.hand), seat))
        begun = self._begun.get(event.number, len(self.events))
        self._add(CHAIN, "hand", f"hand {event.number + 1} is over", lines=lines)
        if len(self.hands) == MOST_HANDS:
            return
        hand = event.hand
        payouts = tuple(zip(hand.names, hand.payouts or (), strict=False))
        self.hands.append(PageHand(event.number + 1, event.game, begun, payouts, event.balances))


def _pays_after(timeout: int) -> str:
    return f"pays out after {counted(timeout, 'block')}"


def _plain(lines: list[Line]) -> tuple[str, ...]:
    """A game's lines without their styles."""
    texts = ("".join(text for text, _ in line).rstrip() for line in lines)
    return tuple(filter(None, texts))
