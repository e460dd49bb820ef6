"""Two peers, with the test in between: it delivers, alters or repeats each message.

The test also answers for the players and farms blocks. A `Cheat` is one of the two ends with its
own keys and all that its peer knows, signing whatever the test wants. What a peer knows is one
immutable value, so a `fork` of a table is cheap; forks share the node, which is not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial

from chia_rs import PrivateKey
from msgspec.structs import replace

from channelsim.channel.adversaries.base import as_declared
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.hkdf import derive, game_entropy
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.agreement import Agreement, DeckSettings
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    AcceptGames,
    BrokenOff,
    Command,
    Effect,
    Event,
    News,
    Proposed,
    ProposeGames,
    Received,
    YourTurn,
)
from channelsim.channel.peer.machine import Config, Peer, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol import transitions as batches
from channelsim.channel.protocol.half_signed import Halves, sign_halves
from channelsim.channel.protocol.messages import (
    Batch,
    BatchAction,
    Message,
    Move,
    Request,
    decode,
    encode,
)
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Channel, ChannelState, Side
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.channel.session.deck_works import Computing
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import DrivenPeer
from channelsim.channel.session.players import Players
from channelsim.channel.session.questions import Deciding, take_turn
from channelsim.channel.session.session_events import Handled, NewsFor, Pushed, Sent, SessionEvent
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, Player
from channelsim.games.judge import hashes_of

NAMES = ("ann", "ben")
GAME = registry.get("spacepoker")
HASHES = hashes_of(GAME)
UNIT, STACK = 100, 10
STAKE = UNIT * STACK
BALANCE = 5 * STAKE
TIMEOUT = 15
CONFIRMATIONS = 3

ANN, BEN = Side.INITIATOR, Side.RECEIVER

Alter = Callable[[int, bytes], bytes | None]
"""Takes the sender and a message; returns the bytes that arrive (None: none do)."""

Decide = Callable[[Player], Action]


def total(state: ChannelState) -> int:
    """All the money in a channel: balances and games."""
    return sum(state.balances) + sum(game.coin.amount for game in state.games)


@dataclass(frozen=True, slots=True)
class WillingPlayer:
    """A player that accepts all games, and wants nothing of its own accord."""

    peer: Peer
    decide: Deciding

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Accept a proposal, or decide in a game."""
        if isinstance(question, Proposed):
            return AcceptGames(question.group.id)
        return take_turn(self.peer, question.game_id, self.decide)

    def next_command(self) -> Command | None:
        """Want nothing."""
        return None


@dataclass
class End:
    """One peer, and everything that it asked its driver for."""

    driven: DrivenPeer
    news: list[News] = field(default_factory=list)
    pushed: list[tuple[str, Bundle, PushResult]] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    def news_of(self, kind: type[News]) -> list[News]:
        return [news for news in self.news if isinstance(news, kind)]

    @property
    def peer(self) -> Peer:
        actor = self.driven.actor
        if isinstance(actor, WatchedPeer):
            actor = actor.durable
        peer = actor.peer if isinstance(actor, DurablePeer) else actor
        assert isinstance(peer, Peer)
        return peer

    @peer.setter
    def peer(self, peer: Peer) -> None:
        self.driven.actor = peer

    @property
    def watched(self) -> list[Coin]:
        return self.driven.watched

    @property
    def turns(self) -> dict[int, YourTurn]:
        """The turns that its player has not taken yet, by game."""
        return self.driven.questions.turns

    @property
    def offers(self) -> dict[int, Proposed]:
        """The proposals that its player has not answered yet, by their ids."""
        return self.driven.questions.proposals

    @property
    def play(self) -> PlayState:
        return self.peer.play

    @property
    def state(self) -> ChannelState:
        return self.peer.play.state

    @property
    def endpoint(self) -> Endpoint:
        return self.peer.endpoint

    def fork(self) -> End:
        """A copy with a peer of its own."""
        driven = DrivenPeer(
            self.driven.name,
            Peer(self.peer.config, self.peer.state),
            [*self.watched],
            deepcopy(self.driven.questions),
        )
        return End(driven, [*self.news], [*self.pushed], [*self.effects])


class Table:
    """Two ends, one node, and the messages between them; the test decides what is delivered."""

    def __init__(
        self,
        chain: SimulatedChain,
        ends: tuple[End, End],
        mail: Iterable[tuple[int, bytes]] = (),
        sent: Iterable[tuple[int, bytes]] = (),
        computing: Computing | None = None,
    ) -> None:
        self.chain = chain
        self.ends = ends
        self.sent = list(sent)
        self.driver = Driver(
            chain,
            (ends[0].driven, ends[1].driven),
            [self._log],
            compute_deck=computing,
        )
        self.mail = self.driver.messages
        self.mail.extend(mail)

    def _log(self, event: SessionEvent) -> None:
        match event:
            case Handled(name, _, effects):
                self._end(name).effects += effects
            case Sent(name, message):
                self.sent.append((NAMES.index(name), message))
            case Pushed(name, what, bundle, result):
                self._end(name).pushed.append((what, bundle, result))
            case NewsFor(name, news):
                self._end(name).news.append(news)

    def _end(self, name: str) -> End:
        return self.ends[NAMES.index(name)]

    # --- one thing at a time ---

    def handle(self, index: int, event: Event) -> list[Effect]:
        """Let a peer handle an event and carry out its effects, which are returned."""
        return self.driver.handle(index, event)

    def start(self) -> Table:
        self.driver.start()
        return self

    def command(self, index: int, command: Command) -> list[Effect]:
        return self.handle(index, command)

    def receive(self, index: int, message: bytes | Message) -> list[Effect]:
        """Deliver a message to this peer, whoever sent it."""
        blob = message if isinstance(message, bytes) else encode(message)
        return self.handle(index, Received(blob))

    def deliver(self) -> list[Effect]:
        """Deliver the next message of the mail."""
        index, message = self.mail.popleft()
        return self.receive(index, message)

    def take_mail(self) -> bytes:
        """Take the next message out of the mail."""
        return self.mail.popleft()[1]

    def drop_mail_to(self, *receivers: int) -> None:
        """Lose the messages on their way to these sides."""
        left = [mail for mail in self.mail if mail[0] not in receivers]
        self.mail.clear()
        self.mail.extend(left)

    def farm(self, blocks: int = 1) -> Table:
        """Farm blocks, and report each to both peers with the coins that they watch."""
        for _ in range(blocks):
            self.driver.farm()
        return self

    # --- many things ---

    def pump(self, alter: Alter | None = None) -> Table:
        """Deliver all mail, and the answers to it."""
        while self.mail:
            index, message = self.mail.popleft()
            arrives = alter(1 - index, message) if alter else message
            if arrives is not None:
                self.receive(index, arrives)
        return self

    def open(self) -> Table:
        """Open the channel, up to where both peers play."""
        self.start().pump()
        for _ in range(CONFIRMATIONS + 3):
            if all(end.peer.phase is Phase.PLAYING for end in self.ends):
                return self.pump()
            self.farm()
        raise AssertionError("the channel does not open")

    def propose(self, index: int, *wishes: Wish) -> Table:
        self.command(index, ProposeGames(wishes or (wish(),)))
        return self

    def step(self, *decide: Decide) -> bool:
        """Deliver a message, accept a proposal or take a turn; False if there is none."""
        deciding = zip(self.ends, decide or (call, call), strict=True)
        players = [WillingPlayer(end.peer, partial(_decided, by)) for end, by in deciding]
        return self.driver.deliver() or Players(self.driver, players).ask()

    def go_on(self, *decide: Decide) -> Table:
        """Step until nothing is left to do. By default both players check and call."""
        while self.step(*decide):
            pass
        return self

    def ask(self, index: int) -> Table:
        """Let this side request the potato without a need for it, and get it.

        After many idle exchanges that takes a block.
        """
        peer = self.ends[index].peer
        number = peer.play.state.number
        play = replace(peer.play, we_asked=True)
        peer.state = replace(peer.state, play=play)
        self.receive(1 - index, Request())
        self.pump()
        return self if peer.play.state.number != number else self.farm().pump()

    def until(self, ready: Callable[[], bool], *decide: Decide) -> Table:
        """Step until this holds."""
        while not ready():
            assert self.step(*decide), "it never happens"
        return self

    def until_move(self, validator: str, sender: int, *decide: Decide) -> Batch:
        """Step until this side's batch with a move for this validator is in the mail.

        It is taken out, so that something else can be sent in its place.
        """

        def ready() -> bool:
            if not self.mail or self.mail[0][0] == sender:
                return False
            message = decode(self.mail[0][1])
            if not isinstance(message, Batch):
                return False
            state = self.ends[1 - sender].state
            games = [state.game(act.game_id) for act in message.actions if isinstance(act, Move)]
            return any(game and game.position.validator == validator for game in games)

        self.until(ready, *decide)
        message = decode(self.take_mail())
        assert isinstance(message, Batch)
        return message

    # --- what is known of both ---

    @property
    def channel(self) -> Channel:
        return self._endpoint(0).channel

    def _endpoint(self, index: int) -> Endpoint:
        table = self.ends[index].peer.state.endpoint
        assert table is not None
        return table

    def holder(self) -> int:
        """The holder of the potato; there is exactly one, unless it is in the mail."""
        holders = [index for index, end in enumerate(self.ends) if end.play.potato]
        assert len(holders) == 1
        return holders[0]

    def fork(self) -> Table:
        """An independent copy, with the same node."""
        first, second = self.ends
        return Table(self.chain, (first.fork(), second.fork()), self.mail, self.sent)


@cache
def wallet_of(seed: bytes, name: str) -> tuple[bytes, PrivateKey, bytes]:
    """The secret of a side, the key of its wallet, and its reward address."""
    secret = derive(seed, "player", name)
    reward_address = address_of(wallet_key(secret, "reward"))
    return secret, wallet_key(secret, "funding"), reward_address


def sit(
    seed: str = "table",
    *,
    contributions: tuple[int, int] = (BALANCE, BALANCE),
    confirmations: int = CONFIRMATIONS,
    unroll_timeout: int = TIMEOUT,
    decks: DeckSettings | None = None,
    chain: SimulatedChain | None = None,
    spacings: tuple[int, int] = (1, 1),
) -> Table:
    """Two peers with a wallet coin each, before any message."""
    blob = seed.encode()
    chain = chain or SimulatedChain(node_seed(blob))
    ends = []
    for index, name in enumerate(NAMES):
        secret, key, reward_address = wallet_of(blob, name)
        wallet = Wallet(key, chain.give(address_of(key), contributions[index]))
        channel_secret = derive(secret, "channel", 0)
        config = Config(
            name=name,
            peer=NAMES[1 - index],
            side=Side(index),
            secret=channel_secret,
            reward_address=reward_address,
            wallet=wallet,
            agreement=Agreement(
                contributions,
                unroll_timeout,
                confirmations,
                decks=decks or DeckSettings(),
                spacing=spacings[index],
            ),
            agg_sig_data=chain.agg_sig_data(),
            entropy=game_entropy(channel_secret),
        )
        ends.append(End(DrivenPeer(name, Peer(config))))
    return Table(chain, (ends[0], ends[1]))


def wish(
    *,
    game: str = "spacepoker",
    unit: int = UNIT,
    stack: int = STACK,
    timeout: int = TIMEOUT,
    alice: bool = True,
) -> Wish:
    return Wish(game, GAME.default_parameters(unit, stack), timeout, alice)


def _decided(decide: Decide, game: str, game_id: int, player: Player) -> Action:
    return decide(player)


def call(player: Player) -> Action:
    """Check and call."""
    return Action(player.choices()[0].verb)


def fold(player: Player) -> Action:
    return Action("fold")


def bet_or_call(player: Player) -> Action:
    """Bet two units if possible, and call any bet."""
    for choice in player.choices():
        if isinstance(choice, Amount) and choice.verb == "bet":
            return Action("bet", min(2 * UNIT, choice.most))
    return call(player)


def by_policy(name: str, seed: str = "policy") -> Decide:
    policy = GAME.policies[name]
    chance = Chance(seed.encode())
    return lambda player: policy(player, chance)


# --- a cheating peer ---------------------------------------------------------------------------


@dataclass
class Cheat:
    """One end of a table that signs whatever the test wants, with its own keys."""

    table: Table
    index: int

    @property
    def end(self) -> End:
        return self.table.ends[self.index]

    @property
    def side(self) -> Side:
        return Side(self.index)

    @property
    def keys(self) -> SecretKeys:
        return SecretKeys.derive(self.end.peer.config.secret)

    @property
    def state(self) -> ChannelState:
        """The newest state that the honest side knows."""
        return self.table.ends[1 - self.index].state

    def after(self, actions: Sequence[BatchAction]) -> ChannelState:
        """The state after these actions; if they are not valid, only the number changes."""
        try:
            state, _ = batches.apply(
                self.table.channel, self.state, self.side, actions, as_declared
            )
        except (Violation, InvariantError):
            return replace(self.state, number=self.state.number + 1)
        return state

    def halves(self, state: ChannelState) -> Halves:
        return sign_halves(self.table.channel, self.keys, state)

    def batch(self, *actions: BatchAction, number: int | None = None) -> Batch:
        """A batch of these actions, valid in everything else."""
        state = self.after(actions)
        if number is not None:
            state = replace(state, number=number)
        return Batch(state.number, tuple(actions), *self.halves(state))

    def send(self, message: Message | bytes) -> list[Effect]:
        """Send a message straight to the other side."""
        return self.table.receive(1 - self.index, message)


def broken_off(end: End) -> BrokenOff:
    """The news that this end broke off, which there is once."""
    found = end.news_of(BrokenOff)
    assert len(found) == 1, found
    assert isinstance(found[0], BrokenOff)
    return found[0]


def accepted(end: End, name: str) -> Bundle:
    """The newest bundle of this name that the end pushed, and the node accepted."""
    bundles = [(bundle, result) for what, bundle, result in end.pushed if what == name]
    assert bundles, f"no {name} was pushed"
    bundle, result = bundles[-1]
    assert result.answer is Answer.ACCEPTED, result
    return bundle


# --- what was said -------------------------------------------------------------------------------


def sent_messages(table: Table, since: int = 0) -> list[tuple[int, Message]]:
    """The messages from this number on, each with its sender."""
    return [(sender, decode(blob)) for sender, blob in table.sent[since:]]


def sent_kinds(table: Table, since: int = 0) -> list[tuple[int, str]]:
    """The kinds of the messages from this number on, each with its sender."""
    return [(sender, type(message).__name__) for sender, message in sent_messages(table, since)]


def playing(table: Table) -> bool:
    return all(end.peer.phase is Phase.PLAYING for end in table.ends)
