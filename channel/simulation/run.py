"""A run of one scenario: both parties, the log of all that they did, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.coins import Bundle, Spend
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import Violation
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    GamePaid,
    MovedOnChain,
    StateCounts,
    Undone,
)
from channelsim.channel.peer.interface import (
    DeckComputed,
    DeckReady,
    DecksChanged,
    Effect,
    Event,
    News,
    Push,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.deck_records import decode_deck
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    BatchAction,
    Cancel,
    DeckAbort,
    DeckStep,
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
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.session_events import Handled, NewsFor, Pushed, Sent, SessionEvent
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import real_group


def read_message(blob: bytes) -> Message | None:
    """The message in these bytes; None for bytes that are no message."""
    try:
        return decode(blob)
    except Violation:
        return None


def message_in(event: Event | None) -> Message | None:
    """The message of an event; None for another event, and for bytes that are no message."""
    return read_message(event.message) if isinstance(event, Received) else None


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A message or bundle that a party let others see, at this height.

    `answer` is the node's to a bundle. It is None where the party heard none: the node may have
    the bundle all the same, unless the party stopped before it offered it.
    """

    height: int
    name: str
    content: bytes | Bundle
    answer: Answer | None = None

    @property
    def message(self) -> Message | None:
        """The message; None for a bundle."""
        return decode(self.content) if isinstance(self.content, bytes) else None

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The spends of a bundle; none for a message."""
        return () if isinstance(self.content, bytes) else self.content.spends

    @property
    def blobs(self) -> list[bytes]:
        """The message, or the puzzles and solutions of the spends."""
        if isinstance(self.content, bytes):
            return [self.content]
        return [blob for spend in self.spends for blob in (spend.puzzle, spend.solution)]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A party's reaction to one event (None: its start), at this height.

    Afterwards its newest state has the number `newest_state` (0 before play), and `highest_deck`
    is the highest number of a deck that is used up.
    """

    height: int
    event: Event | None
    effects: tuple[Effect, ...]
    newest_state: int = 0
    highest_deck: int = 0

    @property
    def message(self) -> Message | None:
        """The message that came in; None for another event, and for bytes that are no message."""
        return read_message(self.event.message) if isinstance(self.event, Received) else None

    @property
    def sent(self) -> list[Message]:
        """The messages that went out."""
        return [decode(effect.message) for effect in self.effects if isinstance(effect, Send)]

    @property
    def news(self) -> list[News]:
        """The news for the player."""
        return [effect.news for effect in self.effects if isinstance(effect, Tell)]

    def finished_decks(self) -> list[FinishedDeck]:
        """The decks that the party has from now on: prepared, or from a simulated dealer."""
        ready = {news.number for news in self.news if isinstance(news, DeckReady)}
        match self.event:
            case DeckComputed(result) if result.after is not None and result.after.finished:
                decks = [result.after.finished]
            case DecksChanged(added=records):
                decks = [decode_deck(real_group(), data) for data in records]
            case _:
                decks = []
        return [deck for deck in decks if deck.terms.number in ready]


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message as it arrived; `honest`: the sender's own peer made it."""

    sender: int
    message: bytes
    honest: bool

    @property
    def actions(self) -> tuple[BatchAction, ...]:
        """The actions of a batch; none for any other message."""
        message = read_message(self.message)
        return message.actions if isinstance(message, Batch) else ()


@dataclass(slots=True)
class Party:
    """One side of a scenario: its peer, the actor in the peer's place, and what it did.

    The actor is the peer itself, an adversary around it, or a peer with a planted fault.
    """

    name: str
    peer: Peer
    actor: Actor
    news: list[News] = field(default_factory=list)
    disclosures: list[Disclosure] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)

    @property
    def sent(self) -> list[bytes]:
        """The messages that it sent."""
        contents = [disclosure.content for disclosure in self.disclosures]
        return [content for content in contents if isinstance(content, bytes)]

    @property
    def pushed(self) -> list[tuple[str, Bundle, Answer]]:
        """The bundles that it offered to the node, by name, with the node's answers."""
        return [
            (disclosure.name, disclosure.content, disclosure.answer)
            for disclosure in self.disclosures
            if isinstance(disclosure.content, Bundle) and disclosure.answer is not None
        ]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, with all that promises are checked by.

    `finished` has the height at which each side was done; None for never. `reorgs` counts the
    reorganisations, the deepest of which replaced `deepest_reorg` blocks. `restores` says how often
    the honest side went on from an old copy of its store.
    """

    scenario: Scenario
    chain: FarmableChain
    parties: tuple[Party, Party]
    delivered: tuple[Delivered, ...]
    blocks: int
    reorgs: int
    finished: tuple[int | None, int | None]
    deepest_reorg: int = 0
    restores: int = 0

    @property
    def party(self) -> Party:
        """The honest side."""
        return self.parties[self.scenario.honest]

    def paid(self, side: int) -> int:
        """The mojos at a side's reward address."""
        address = self.parties[side].peer.config.reward_address
        return sum(seen.coin.amount for seen in self.chain.coins_at(address))

    @property
    def deviated(self) -> bool:
        """True if the adversary broke a rule at all."""
        actor = self.parties[self.scenario.side].actor
        return isinstance(actor, Adversary) and actor.done

    @property
    def spends(self) -> int:
        """The number of coins that were spent, of those that a pushed bundle spends."""
        coins = {
            spend.coin.id
            for party in self.parties
            for _, bundle, _ in party.pushed
            for spend in bundle.spends
        }
        seen = [self.chain.coin(coin_id) for coin_id in coins]
        return sum(coin is not None and coin.spent is not None for coin in seen)


def step_in_play(run: Run) -> int | None:
    """A step at which the adversary of this run makes a move, drawn by the seed; None for no moves.

    Of a run in which the adversary did nothing else than an honest peer.
    """
    sent = run.parties[run.scenario.side].sent
    batches = [(step, decode(blob)) for step, blob in enumerate(sent)]
    moves = [
        step
        for step, batch in batches
        if isinstance(batch, Batch) and any(isinstance(action, Move) for action in batch.actions)
    ]
    chance = Chance(derive(run.scenario.seed.encode(), "step"))
    return chance.pick(moves) if moves else None


class RunLog:
    """A listener that logs what both parties do."""

    def __init__(self, chain: FarmableChain, parties: tuple[Party, Party]) -> None:
        self.delivered: list[Delivered] = []
        self._chain = chain
        self._parties = {party.name: party for party in parties}
        self._names = tuple(self._parties)

    def __call__(self, event: SessionEvent) -> None:
        """Log one event."""
        match event:
            case Handled(name, cause, effects):
                if isinstance(cause, Received):
                    self._log_delivery(name, cause.message)
                self._log_reaction(self._parties[name], cause, effects)
                for effect in effects:
                    if isinstance(effect, Push):
                        self._disclose(name, effect.name, effect.bundle)
            case Sent(name, message):
                self._disclose(name, "message", message)
            case Pushed(name, what, bundle, result):
                self._log_answer(name, what, bundle, result.answer)
            case NewsFor(name, news):
                self._parties[name].news.append(news)
            case _:
                pass

    def _log_reaction(self, party: Party, event: Event | None, effects: tuple[Effect, ...]) -> None:
        play, state, deck = party.peer.state.play, 0, 0
        if play is not None:
            state, deck = play.history.state.number, play.decks.highest
        party.journal.append(JournalEntry(self._chain.peak(), event, effects, state, deck))

    def _log_delivery(self, receiver: str, message: bytes) -> None:
        sender = 1 - self._names.index(receiver)
        actor = self._parties[self._names[sender]].actor
        honest = not isinstance(actor, Adversary) or actor.is_intended(message)
        self.delivered.append(Delivered(sender, message, honest))

    def _disclose(
        self, name: str, what: str, content: bytes | Bundle, answer: Answer | None = None
    ) -> None:
        disclosure = Disclosure(self._chain.peak(), what, content, answer)
        self._parties[name].disclosures.append(disclosure)

    def _log_answer(self, name: str, what: str, bundle: Bundle, answer: Answer) -> None:
        """Log the answer to a bundle that waits for one, or that is offered again."""
        disclosures = self._parties[name].disclosures
        for at in reversed(range(len(disclosures))):
            if disclosures[at].answer is None and disclosures[at].content == bundle:
                disclosures[at] = replace(disclosures[at], answer=answer)
                return
        self._disclose(name, what, bundle, answer)


HANDSHAKE, PROPOSAL, SETTLEMENT, POTATO, SHUTDOWN = (
    "handshake",
    "proposal",
    "settlement",
    "potato",
    "shutdown",
)


def valid_news(news: Iterable[News]) -> list[News]:
    """The news that was not undone, in order."""
    valid: list[News] = []
    for report in news:
        if isinstance(report, Undone):
            valid.remove(report.fact)
        else:
            valid.append(report)
    return valid


class RunResult(Enum):
    """The result of a run for the honest side; the first of these that fits."""

    NO_CHANNEL = "no channel"
    CLOSED = "closed"
    SLASHED = "slashed"
    PREEMPTED = "preempted"
    PLAYED = "played on chain"
    PAID = "paid out"


def columns(games: Iterable[str]) -> tuple[str, ...]:
    """All parts of a session with these games, in the order of play."""
    parts = dict.fromkeys(part for game in games for part in registry.get(game).parts)
    return (HANDSHAKE, PROPOSAL, *parts, SETTLEMENT, POTATO, SHUTDOWN)


def part_of(run: Run) -> str:
    """The part of the session in which the adversary deviated, by its last message."""
    actor = run.parties[run.scenario.side].actor
    if not isinstance(actor, Adversary) or not actor.deviated_at:
        return HANDSHAKE
    return part_of_message(actor.intended[actor.deviated_at - 1], actor.peer)


def part_of_message(message: bytes, peer: Peer) -> str:
    """The part of the session that a message belongs to; the peer knows the states."""
    match decode(message):
        case Batch() as batch:
            return _main(batch, peer.play.history.numbered(batch.number - 1))
        case Shutdown() | ShutdownDone():
            return SHUTDOWN
        case Request() | Resume() | Advisory() | DeckStep() | DeckAbort():
            return POTATO
        case _:
            return HANDSHAKE


def _main(batch: Batch, before: ChannelState | None) -> str:
    """The part of the session that a batch belongs to: that of a move, if it has one."""
    kinds = {type(action) for action in batch.actions}
    for action in batch.actions:
        game = before.game(action.game_id) if isinstance(action, Move) and before else None
        if game is not None:
            return registry.get(game.terms.game).part(game.position)
    if Settle in kinds:
        return SETTLEMENT
    return PROPOSAL if kinds & {Propose, Accept, Cancel} else POTATO


def result_of(run: Run) -> RunResult:
    """Classify a run by the honest side's news."""
    valid = valid_news(run.party.news)
    if any(isinstance(news, ChannelClosed) for news in valid):
        return RunResult.CLOSED
    state = next((news for news in valid if isinstance(news, StateCounts)), None)
    if state is None:
        return RunResult.NO_CHANNEL
    if any(isinstance(news, GamePaid) and news.slashed == "us" for news in valid):
        return RunResult.SLASHED
    if state.preempted:
        return RunResult.PREEMPTED
    moved = any(isinstance(news, MovedOnChain) for news in valid)
    return RunResult.PLAYED if moved else RunResult.PAID
