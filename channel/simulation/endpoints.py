"""The two ends of a dispute, a peer or an adversary each, and what a finished run has of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from channel.adversaries.base import Adversary, Plan, get
from channel.chain.coins import Bundle, Coin
from channel.chain.interface import Answer
from channel.chain.simulator import SimulatedChain
from channel.crypto.hkdf import derive
from channel.errors import UsageError
from channel.peer.agreement import Agreement
from channel.peer.fees import Fees
from channel.peer.interface import Effect, Event, News
from channel.peer.machine import Peer
from channel.protocol.wallet import Wallet, address_of, wallet_key
from channel.session.identity import config_of, wallet_of
from channel.session.setup import NAMES
from channel.simulation.scenario import Scenario
from games.chance import Chance


@dataclass(frozen=True, slots=True)
class Uttered:
    """What an end let out of its hands at this height: a message, or a bundle by its name."""

    height: int
    name: str
    what: bytes | Bundle


@dataclass(frozen=True, slots=True)
class Turn:
    """What an end did about one event (None: it began), at this height of the chain."""

    height: int
    event: Event | None
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class End:
    """One end: a peer or an adversary, and what its driver keeps for it.

    `uttered` is all that it let others see, in order; `journal` all that happened to it.
    """

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
    uttered: list[Uttered] = field(default_factory=list)
    journal: list[Turn] = field(default_factory=list)

    def game(self, game_id: int) -> str:
        """Which game is played under this id. Raises `UsageError` if there never was one."""
        for link in self.peer.play.history:
            game = link.state.game(game_id)
            if game is not None:
                return game.terms.game
        raise UsageError(f"no game {game_id}")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as it was delivered; `honest`: the sender's peer made it so."""

    sender: int
    message: bytes
    honest: bool


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


def make_ends(
    scenario: Scenario, chain: SimulatedChain, rewind: Callable[[int], bool]
) -> tuple[End, End]:
    """Both ends with their wallets, all from the scenario's seed; `rewind` as in `Plan`."""
    first, second = (_end(scenario, chain, index, rewind) for index in (0, 1))
    return first, second


def _end(
    scenario: Scenario, chain: SimulatedChain, index: int, rewind: Callable[[int], bool]
) -> End:
    seed, name = scenario.seed.encode(), NAMES[index]
    secret = derive(seed, "player", name)
    wallet = wallet_of(secret, chain, scenario.balance)
    agreement = Agreement(
        (scenario.balance, scenario.balance), scenario.unroll_timeout, scenario.confirmations
    )
    config = config_of(index, secret, wallet, agreement, chain.agg_sig_data())
    if index == scenario.honest:
        config = replace(config, fees=_fees(scenario, chain, secret))
    peer = Peer(config)
    actor: Peer | Adversary = peer
    if scenario.adversary and index == scenario.side:
        # Of the step too: or one seed would begin with the same choice at every step.
        chance = Chance(derive(seed, "adversary", scenario.adversary, scenario.step))
        actor = get(scenario.adversary)(peer, Plan(scenario.step, chance, chain, rewind))
    return End(name, peer, actor, wallet, Chance(derive(seed, "policy", name)))


def _fees(scenario: Scenario, chain: SimulatedChain, secret: bytes) -> Fees | None:
    if not scenario.fees:
        return None
    purse = wallet_key(secret, "fees")
    coin = chain.give(address_of(purse), 1000 * scenario.fees)
    return Fees(Wallet(purse, coin), scenario.fees, scenario.fees, 20 * scenario.fees)
