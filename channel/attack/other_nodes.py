"""Other nodes of one side: each has a mempool of its own, in which a push may be in a pin.

A pin is the bundle joined with a spend of a stranger. A node may also say a false fee of one.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from chia_rs import PrivateKey

from channelsim.channel.adversaries.pins import pinned
from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.kinds import PINNED
from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.validation import checked
from channelsim.channel.protocol.wallet import address_of, wallet_key

MONEY = 100_000_000_000
"""The mojos of a stranger's coin."""

FALSE_FEE = 1 << 45
"""The fee that a node says of a pin, where that is false: more than any pin pays."""


class Pins(IntEnum):
    """The pins of a push: the `amount` of its action."""

    ONE = 0
    """The node of the side has it in a pin, and nobody else has heard of it."""
    SEVERAL = 1
    """Two nodes have it in a pin each, which contradict each other."""
    FALSE_FEE = 2
    """One has it in a pin, and another one makes a pin up, which stays, and says that this pays far
    more than it does."""
    JOINT = 3
    """The same, together with another push of this side."""


@dataclass(frozen=True, slots=True)
class _Pin:
    """A pending bundle with its fee and cost, and the fee that its node says."""

    pending: PendingBundle
    said: int
    until: int

    @property
    def is_made_up(self) -> bool:
        """True if its node says so of it whatever it is offered."""
        return self.said != self.pending.fee

    @property
    def shown(self) -> PendingBundle:
        """The bundle as its node shows it."""
        return PendingBundle(self.pending.bundle, self.said, self.pending.cost)


@dataclass(slots=True)
class OtherNodes:
    """The pins of one side's pushes on a `chain`; strangers pay for them from `coins` of a key.

    Where the node that has the newest pin `is_alone`, nobody hears of what it does not take.
    """

    chain: FarmableChain
    key: PrivateKey
    coins: list[Coin] = field(default_factory=list)
    is_alone: bool = False
    _pins: list[_Pin] = field(default_factory=list)
    _joins: bool = False

    def pin(self, bundle: Bundle, action: Action, until: int) -> None:
        """Have a bundle in pins, which last until this height unless something replaces them."""
        how = Pins(action.amount)
        self._joins = how is Pins.JOINT
        self.is_alone = how in (Pins.ONE, Pins.JOINT)
        self._add(bundle, until)
        if how in (Pins.SEVERAL, Pins.FALSE_FEE):
            self._add(bundle, until, is_false=how is Pins.FALSE_FEE)

    def _add(self, bundle: Bundle, until: int, *, is_false: bool = False) -> None:
        data = self.chain.agg_sig_data()
        valid = checked(bundle, data)
        if valid is None or not self.coins:
            return
        known = PendingBundle(bundle, valid.fee, valid.cost)
        pin = pinned(known, self.key, self.coins.pop(), 0, data)
        valid_pin = checked(pin, data) if pin is not None else None
        if pin is not None and valid_pin is not None:
            said = FALSE_FEE if is_false else valid_pin.fee
            self._pins.append(_Pin(PendingBundle(pin, valid_pin.fee, valid_pin.cost), said, until))

    def take(self, bundle: Bundle) -> bool:
        """Offer a bundle to all; False if a pin stays that is in its way."""
        self._join(bundle)
        spent = {spend.coin for spend in bundle.spends}
        in_the_way = [pin for pin in self._there() if spent & _coins(pin.pending.bundle)]
        if not in_the_way:
            return True
        valid = checked(bundle, self.chain.agg_sig_data())
        left = [
            pin
            for pin in in_the_way
            if valid is None
            or pin.is_made_up
            or not _coins(pin.pending.bundle) <= spent
            or valid.fee < pin.pending.fee + LEAST_RAISE
            or valid.fee * pin.pending.cost <= pin.pending.fee * valid.cost
        ]
        self._pins = [pin for pin in self._pins if pin in left or pin not in in_the_way]
        return not left

    def _join(self, bundle: Bundle) -> None:
        """Take another push into the newest pin, if that is to have two of them."""
        pins = [pin for pin in self._there() if not _coins(pin.pending.bundle) & _coins(bundle)]
        if self._joins and pins and len(bundle.spends) > 1:
            self._joins = False
            self._pins.remove(pins[-1])
            self._add(joined(pins[-1].pending.bundle, bundle), pins[-1].until)

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The pins that spend this coin."""
        return [
            pin.shown
            for pin in self._there()
            if any(coin.id == coin_id for coin in _coins(pin.pending.bundle))
        ]

    def clear(self) -> None:
        """Have no pins any more."""
        self._pins.clear()

    def _there(self) -> Iterator[_Pin]:
        """The pins whose coins are all unspent; the others are gone for good."""
        peak = self.chain.peak()
        self._pins = [
            pin for pin in self._pins if peak < pin.until and self._are_unspent(pin.pending.bundle)
        ]
        return iter(tuple(self._pins))

    def _are_unspent(self, bundle: Bundle) -> bool:
        coins = (self.chain.coin(coin.id) for coin in _coins(bundle))
        return all(seen is not None and seen.spent is None for seen in coins)


def _coins(bundle: Bundle) -> set[Coin]:
    return {spend.coin for spend in bundle.spends}


def other_nodes(
    attack: Attack, sides: Sequence[int], chain: FarmableChain, secret: Callable[[int], bytes]
) -> list[OtherNodes]:
    """The other nodes of these sides, with as many strangers' coins as their pins may take."""
    nodes = []
    for side in sides:
        actions = [
            action for action in attack.actions if action.kind == PINNED and action.side == side
        ]
        key = wallet_key(secret(side), "stranger")
        # Each pin takes two of them at most, and so does what joins two pushes.
        for _ in range(2 * len(actions)):
            chain.give(address_of(key), MONEY)
        coins = chain.coins_at(address_of(key)) if actions else []
        nodes.append(OtherNodes(chain, key, [seen.coin for seen in coins]))
    return nodes
