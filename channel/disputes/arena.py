"""Two peers on one node, one of them perhaps an adversary, until the honest ones have their due.

The driver of disputes: it carries bytes, pushes spends, farms blocks and lets the weather at
them, and tells its listeners; the same scenario gives the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from channel.adversaries.base import Adversary, Plan, get
from channel.chain import Answer, blocks_for
from channel.chain.simulator import SimulatedChain
from channel.coins import Bundle, Coin
from channel.disputes.scenario import Scenario
from channel.entropy import derive
from channel.errors import UsageError
from channel.events import (
    Accept,
    Act,
    Close,
    Command,
    Effect,
    News,
    Pinned,
    Propose,
    Proposed,
    Push,
    Received,
    Send,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channel.introduction import Agreement
from channel.onchain.fees import Fees
from channel.peer import Config, Peer, Phase
from channel.proposal import Wish
from channel.setup import NAMES
from channel.state import Side
from channel.told import BlockMade, Decided, Listener, NewsFor, Pushed, Sent, Told
from channel.wallet import Wallet, address_of, wallet_key
from games import registry
from games.chance import Chance

LIMIT = 600
"""Blocks after which a run is given up; the promise of liveness is broken long before."""

PATIENCE = 30
"""Blocks without a word after which an honest player asks for the shutdown."""

MOST_DEAF = 5
"""Blocks that the honest side may be cut off for: it still answers within its times."""

AFTERWARDS = 20
"""Blocks that an adversary still has once the honest side is done."""

DEAF = (Phase.CLOSED, Phase.FAILED, Phase.ON_CHAIN, Phase.COMPLETED)
OVER = (Phase.CLOSED, Phase.FAILED)


@dataclass(slots=True)
class End:
    """One end: a peer or an adversary, and what its driver keeps for it."""

    name: str
    peer: Peer
    actor: Peer | Adversary
    wallet: Wallet
    chance: Chance
    watched: list[Coin] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    offers: list[int] = field(default_factory=list)
    news: list[News] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    pushed: list[tuple[str, Bundle, Answer]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as it was delivered, for whoever checks afterwards.

    `honest`: the sender's peer made it so. `counted`: the receiver still listened.
    """

    height: int
    sender: int
    message: bytes
    honest: bool
    counted: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, with all that promises are checked by."""

    scenario: Scenario
    chain: SimulatedChain
    ends: tuple[End, End]
    heard: tuple[Heard, ...]
    blocks: int
    reorgs: int
    finished: tuple[int | None, int | None]
    """When each side was done; None for never."""

    @property
    def deviated(self) -> bool:
        """Whether the adversary did what it is for."""
        actor = self.ends[self.scenario.side].actor
        return isinstance(actor, Adversary) and actor.done

    @property
    def spends(self) -> int:
        """How many coins were spent, of all that somebody pushed a spend of."""
        coins = {
            spend.coin.id for end in self.ends for _, one, _ in end.pushed for spend in one.spends
        }
        seen = [self.chain.coin(coin_id) for coin_id in coins]
        return sum(one is not None and one.spent is not None for one in seen)


class Arena:
    """Runs one scenario. `run` once; listeners hear of everything as it happens.

    `node` makes the chain from a seed.
    """

    def __init__(
        self,
        scenario: Scenario,
        listeners: Sequence[Listener] = (),
        node: Callable[[int], SimulatedChain] = SimulatedChain,
    ) -> None:
        self.scenario = scenario
        self._listeners = tuple(listeners)
        self._seed = scenario.seed.encode()
        self.chain = node(int.from_bytes(derive(self._seed, "node", length=4), "big"))
        self._sky = Chance(derive(self._seed, "weather", scenario.weather))
        self._ends = self._make_ends()
        self._mail: deque[tuple[int, bytes]] = deque()
        self._late: list[tuple[int, int, Push]] = []
        self._heard: list[Heard] = []
        self._proposed = False
        self._closing = False
        self._reorgs = 0
        self._last_reorg = 0
        self._quiet = 0
        self._deaf = 0
        self._finished: list[int | None] = [None, None]

    def run(self) -> Run:
        """Play it all, to the last payout."""
        start = self.chain.peak()
        for index, end in enumerate(self._ends):
            self._carry_out(index, end.actor.start(self.chain.peak()))
        rest = AFTERWARDS
        for _ in range(LIMIT):
            while self._deliver() or self._decide() or self._go_on():
                # Blocks come while they talk, with messages still on their way.
                if self._sky_free.chance(25):
                    break
            rest -= self._honest_done()
            if rest < 0:
                break
            self._next_block()
        blocks = self.chain.peak() - start
        return Run(
            self.scenario,
            self.chain,
            self._ends,
            tuple(self._heard),
            blocks,
            self._reorgs,
            (self._finished[0], self._finished[1]),
        )

    # --- between blocks ---

    def _deliver(self) -> bool:
        if not self._mail:
            return False
        self._quiet = 0
        index, message = self._mail.popleft()
        sender, receiver = self._ends[1 - index], self._ends[index]
        actor = sender.actor
        honest = not isinstance(actor, Adversary) or message in actor.meant
        counted = receiver.peer.phase not in DEAF
        self._heard.append(Heard(self.chain.peak(), 1 - index, message, honest, counted))
        self._carry_out(index, self._ends[index].actor.handle(Received(message)))
        return True

    def _decide(self) -> bool:
        for index, end in enumerate(self._ends):
            if end.offers:
                self._command(index, Accept(end.offers.pop(0)))
                return True
            if end.turns:
                game_id = end.turns.pop(0)
                player = end.actor.player(game_id)
                if player is not None and player.choices():
                    game = registry.get(_game_of(end.peer, game_id))
                    action = next(iter(game.policies.values()))(player, end.chance)
                    self._tell(Decided(end.name, game_id, action))
                    self._command(index, Act(game_id, action))
                return True
        return False

    def _go_on(self) -> bool:
        """The hands first, then the shutdown, whoever can still ask for them."""
        honest = self.scenario.honest
        peer = self._ends[honest].peer
        if peer.phase is not Phase.PLAYING:
            return False
        both = self._ends[1 - honest].actor.phase is peer.phase
        proposer = self.scenario.side if both else honest
        if not self._proposed:
            self._proposed = True
            first = self._sky_free.below(2)
            wishes = tuple(
                Wish(
                    name,
                    registry.get(name).default_parameters(self.scenario.unit, self.scenario.stack),
                    self.scenario.game_timeout,
                    (number + first) % 2 == 0,
                )
                for number, name in enumerate(self.scenario.games)
            )
            self._command(proposer, Propose(wishes))
            return True
        book = peer.book
        if self._quiet > PATIENCE:
            # Nobody asks for anything: the honest player has had enough, and wants its money.
            self._quiet = 0
            self._command(honest, Close())
            return True
        if not self._closing and not book.state.games and not book.state.groups:
            self._closing = True
            self._command(honest if self._sky_free.below(2) else proposer, Close())
            return True
        return False

    def _command(self, index: int, command: Command) -> None:
        try:
            effects = self._ends[index].actor.handle(command)
        except UsageError:
            return  # the game, or the channel, has gone on meanwhile
        self._carry_out(index, effects)

    # --- blocks ---

    def _next_block(self) -> None:
        self._release()
        self._quiet += 1
        self.chain.farm()
        # A timeout leaves room for one reorganisation as deep as `confirmations`: what has to be
        # in by then cannot be in if every few blocks are taken back again.
        rested = self.chain.peak() - self._last_reorg >= self.scenario.game_timeout
        if self.scenario.weather == "reorgs" and rested and self._sky.chance(30):
            back = self._sky.between(1, self.scenario.confirmations)
            if self.chain.peak() - back > self._floor:
                self._reorgs += 1
                self._last_reorg = self.chain.peak()
                new = back + self._sky.between(1, 2)
                self.chain.reorganise(back, new, keep=self._sky.chance(50))
        self._tell(BlockMade(self.chain.peak()))
        for index, end in enumerate(self._ends):
            if index == self.scenario.honest and self._cut_off():
                continue
            for block in blocks_for(self.chain, end.watched):
                self._carry_out(index, end.actor.handle(block))

    def _cut_off(self) -> bool:
        """Whether the honest side hears nothing of this block; never for long."""
        if self.scenario.weather != "cut-off":
            return False
        if self._deaf == 0 and self._sky.chance(15):
            self._deaf = self._sky.between(1, MOST_DEAF)
        self._deaf = max(0, self._deaf - 1)
        return self._deaf > 0

    def _release(self) -> None:
        """What has waited long enough in a slow chain gets to the mempool."""
        due = [late for late in self._late if late[0] <= self.chain.peak()]
        self._late = [late for late in self._late if late[0] > self.chain.peak()]
        for _, index, push in due:
            self._push(index, push)

    def _honest_done(self) -> bool:
        done = True
        for index, end in enumerate(self._ends):
            unbegun = end.peer.phase is Phase.OPENING and not end.sent
            over = end.peer.phase in OVER or (unbegun and self.chain.peak() > self._floor)
            if over and self._finished[index] is None:
                self._finished[index] = self.chain.peak()
            if not over:
                self._finished[index] = None
            if index == self.scenario.honest or not self.scenario.adversary:
                done = done and over
        return done

    # --- effects ---

    def _carry_out(self, index: int, effects: Sequence[Effect]) -> None:
        end = self._ends[index]
        for effect in effects:
            match effect:
                case Send(message):
                    self._tell(Sent(end.name, message))
                    end.sent.append(message)
                    self._mail.append((1 - index, message))
                case Push():
                    slow = self.scenario.weather == "slow" and index == self.scenario.honest
                    if slow and self._sky.chance(50):
                        at = self.chain.peak() + self._sky.between(1, 2)
                        self._late.append((at, index, effect))
                    else:
                        self._push(index, effect)
                case Store():
                    pass
                case Watch(coin):
                    end.watched.append(coin)
                case Tell(news):
                    self._tell(NewsFor(end.name, news))
                    end.news.append(news)
                    if isinstance(news, Proposed):
                        end.offers.append(news.group.id)
                    if isinstance(news, YourTurn):
                        end.turns.append(news.game_id)

    def _push(self, index: int, push: Push) -> None:
        end = self._ends[index]
        result = self.chain.push(push.bundle)
        end.pushed.append((push.name, push.bundle, result.answer))
        self._tell(Pushed(end.name, push.name, push.bundle, result))
        if result.answer is Answer.PENDING_CONFLICT:
            found = [self.chain.pending(spend.coin.id) for spend in push.bundle.spends]
            pending = tuple(one for bundles in found for one in bundles)
            self._carry_out(index, end.actor.handle(Pinned(push.bundle, pending)))

    def _tell(self, told: Told) -> None:
        for listener in self._listeners:
            listener(told)

    # --- the ends ---

    def _make_ends(self) -> tuple[End, End]:
        scenario = self.scenario
        agreement = Agreement(
            (scenario.balance, scenario.balance),
            scenario.unroll_timeout,
            scenario.confirmations,
        )
        ends = []
        for index, name in enumerate(NAMES):
            secret = derive(self._seed, "player", name)
            key = wallet_key(secret, "funding")
            wallet = Wallet(key, self.chain.give(address_of(key), scenario.balance))
            channel_secret = derive(secret, "channel", 0)
            fees = None
            if scenario.fees and index == scenario.honest:
                purse = wallet_key(secret, "fees")
                coin = self.chain.give(address_of(purse), 1000 * scenario.fees)
                fees = Fees(Wallet(purse, coin), scenario.fees, scenario.fees, 20 * scenario.fees)
            config = Config(
                name=name,
                peer=NAMES[1 - index],
                side=Side(index),
                secret=channel_secret,
                reward_address=address_of(wallet_key(secret, "reward")),
                wallet=wallet,
                agreement=agreement,
                agg_sig_data=self.chain.agg_sig_data(),
                entropy=_entropy(channel_secret),
                fees=fees,
            )
            peer = Peer(config)
            actor: Peer | Adversary = peer
            if scenario.adversary and index == scenario.side:
                chance = Chance(derive(self._seed, "adversary", scenario.adversary))
                actor = get(scenario.adversary)(peer, Plan(scenario.step, chance, self.chain))
            policy = Chance(derive(self._seed, "policy", name))
            ends.append(End(name, peer, actor, wallet, policy))
        self._sky_free = Chance(derive(self._seed, "plan"))
        self._floor = self.chain.peak() + scenario.confirmations + 2
        return ends[0], ends[1]


def _entropy(secret: bytes) -> Callable[[int], bytes]:
    return lambda game_id: derive(secret, "game", game_id, length=64)


def _game_of(peer: Peer, game_id: int) -> str:
    for link in peer.book.past:
        game = link.state.game(game_id)
        if game is not None:
            return game.terms.game
    raise UsageError(f"no game {game_id}")
