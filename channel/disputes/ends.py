"""The two ends of a dispute, a peer or an adversary each, and what a finished run has of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from channel.adversaries.base import Adversary, Plan, get
from channel.chain import Answer
from channel.chain.simulator import SimulatedChain
from channel.coins import Bundle, Coin
from channel.disputes.scenario import Scenario
from channel.entropy import derive
from channel.errors import UsageError
from channel.events import News
from channel.introduction import Agreement
from channel.onchain.fees import Fees
from channel.peer import Config, Peer
from channel.setup import NAMES
from channel.state import Side
from channel.wallet import Wallet, address_of, wallet_key
from games.chance import Chance


@dataclass(frozen=True, slots=True)
class Uttered:
    """What an end let out of its hands at this height: a message, or a bundle by its name."""

    height: int
    name: str
    what: bytes | Bundle


@dataclass(slots=True)
class End:
    """One end: a peer or an adversary, and what its driver keeps for it.

    `uttered` is all that it let others see, in order.
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

    def game(self, game_id: int) -> str:
        """Which game is played under this id. Raises `UsageError` if there never was one."""
        for link in self.peer.book.past:
            game = link.state.game(game_id)
            if game is not None:
                return game.terms.game
        raise UsageError(f"no game {game_id}")


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
    key = wallet_key(secret, "funding")
    wallet = Wallet(key, chain.give(address_of(key), scenario.balance))
    channel_secret = derive(secret, "channel", 0)
    config = Config(
        name=name,
        peer=NAMES[1 - index],
        side=Side(index),
        secret=channel_secret,
        reward_address=address_of(wallet_key(secret, "reward")),
        wallet=wallet,
        agreement=Agreement(
            (scenario.balance, scenario.balance), scenario.unroll_timeout, scenario.confirmations
        ),
        agg_sig_data=chain.agg_sig_data(),
        entropy=_entropy(channel_secret),
        fees=_fees(scenario, chain, secret) if index == scenario.honest else None,
    )
    peer = Peer(config)
    actor: Peer | Adversary = peer
    if scenario.adversary and index == scenario.side:
        chance = Chance(derive(seed, "adversary", scenario.adversary))
        actor = get(scenario.adversary)(peer, Plan(scenario.step, chance, chain, rewind))
    return End(name, peer, actor, wallet, Chance(derive(seed, "policy", name)))


def _fees(scenario: Scenario, chain: SimulatedChain, secret: bytes) -> Fees | None:
    if not scenario.fees:
        return None
    purse = wallet_key(secret, "fees")
    coin = chain.give(address_of(purse), 1000 * scenario.fees)
    return Fees(Wallet(purse, coin), scenario.fees, scenario.fees, 20 * scenario.fees)


def _entropy(secret: bytes) -> Callable[[int], bytes]:
    return lambda game_id: derive(secret, "game", game_id, length=64)
