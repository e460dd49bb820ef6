"""A run of one scenario: both parties, and the log of all that they did."""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Effect, Event, News, Received, Store
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.deck_records import HIGHEST, decode_deck, is_free
from channelsim.channel.protocol.messages import Batch, Move, decode
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.session_events import Handled, NewsFor, Pushed, Sent, SessionEvent
from channelsim.channel.simulation.deadlines import Deadline
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games.chance import Chance
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import real_group


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A message or bundle that a party let others see, at this height.

    `answer` is the node's to a bundle.
    """

    height: int
    name: str
    content: bytes | Bundle
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A party's reaction to one event (None: its start), at this height."""

    height: int
    event: Event | None
    effects: tuple[Effect, ...]

    def finished_decks(self) -> list[FinishedDeck]:
        """The decks that the party has from now on: prepared, or from a simulated dealer."""
        records = [
            one.data
            for one in self.effects
            if isinstance(one, Store) and one.name.startswith("deck/") and one.name != HIGHEST
        ]
        return [decode_deck(real_group(), data) for data in records if data and is_free(data)]


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message as it arrived; `honest`: the sender's own peer made it."""

    sender: int
    message: bytes
    honest: bool


@dataclass(slots=True)
class Party:
    """One side of a scenario: its peer, the actor in the peer's place, and what it did.

    The actor is the peer itself, an adversary around it, or a peer with a planted fault.
    """

    name: str
    peer: Peer
    actor: Actor
    chance: Chance
    news: list[News] = field(default_factory=list)
    disclosures: list[Disclosure] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)

    @property
    def sent(self) -> list[bytes]:
        """The messages that it sent."""
        return [one.content for one in self.disclosures if isinstance(one.content, bytes)]

    @property
    def pushed(self) -> list[tuple[str, Bundle, Answer]]:
        """The bundles that it offered to the node, by name, with the node's answers."""
        return [
            (one.name, one.content, one.answer)
            for one in self.disclosures
            if isinstance(one.content, Bundle) and one.answer is not None
        ]

    def game(self, game_id: int) -> str:
        """Find the name of the game with this id. Raises `UsageError` if there never was one."""
        for link in self.peer.play.history:
            game = link.state.game(game_id)
            if game is not None:
                return game.terms.game
        raise UsageError(f"no game {game_id}")


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, with all that promises are checked by.

    `finished` has the height at which each side was done; None for never. `struck` are the
    deadlines whose blocks the weather replaced.
    """

    scenario: Scenario
    chain: FarmableChain
    parties: tuple[Party, Party]
    delivered: tuple[Delivered, ...]
    blocks: int
    reorgs: int
    finished: tuple[int | None, int | None]
    struck: frozenset[Deadline] = frozenset()

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
        return sum(one is not None and one.spent is not None for one in seen)


def step_in_play(run: Run) -> int | None:
    """A step at which the adversary of this run makes a move, drawn by the seed; None for no moves.

    Of a run in which the adversary did nothing else than an honest peer.
    """
    sent = run.parties[run.scenario.side].sent
    moves = [step for step, blob in enumerate(sent) if _moves(blob)]
    chance = Chance(derive(run.scenario.seed.encode(), "step"))
    return chance.pick(moves) if moves else None


def _moves(blob: bytes) -> bool:
    """True if a message is a batch with a move."""
    message = decode(blob)
    return isinstance(message, Batch) and any(isinstance(one, Move) for one in message.actions)


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
                entry = JournalEntry(self._chain.peak(), cause, effects)
                self._parties[name].journal.append(entry)
            case Sent(name, message):
                self._disclose(name, "message", message)
            case Pushed(name, what, bundle, result):
                self._disclose(name, what, bundle, result.answer)
            case NewsFor(name, news):
                self._parties[name].news.append(news)
            case _:
                pass

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
