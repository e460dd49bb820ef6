"""Faults of a watcher that pays fees from coins of its own."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.rpc import NodeError
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.watch import pusher
from channelsim.channel.watch.pusher import Offered, Pusher
from scripts.tools.attack_faults.planting import Fault, compared, function, where_it_fails

LONG = 1000
"""Blocks after which each fee is at its maximum."""


def _old(right: Any, fee_wallet: Any, push: Any, sight: Any, pending: Any) -> Any:
    offer = right(fee_wallet, push, sight, pending)
    return replace(offer, since=offer.since - LONG)


def _young(right: Any, fee_wallet: Any, push: Any, sight: Any, pending: Any) -> Any:
    return replace(right(fee_wallet, push, sight, pending), since=sight.peak)


def _once(right: Any, watching: Any, chain: Any, watcher: Any, sight: Any) -> Any:
    last = watching._last  # noqa: SLF001
    if last is not None and last[1] == sight.spend:
        return last[2]
    return right(watching, chain, watcher, sight)


def _without_rate(right: Any, watching: Any, chain: Any, sight: Any) -> None:
    right(watching, chain, sight)
    watching._book = replace(watching._book, rate=0)  # noqa: SLF001


def _refreshed_once(right: Any, watching: Any, chain: Any, sight: Any) -> None:
    if watching._known_at is None:  # noqa: SLF001
        right(watching, chain, sight)


def _unlimited(right: Any, watching: Any, peak: int) -> Any:
    fee_wallet = right(watching, peak)
    if fee_wallet is None:
        return None
    money = sum(coin.amount for coin in fee_wallet.coins.unspent)
    return dataclasses.replace(fee_wallet, limits=FeeLimits(money, money))


def _waiting_for_the_node(right: Any, *given: Any) -> Any:
    with suppress(NodeError):
        return right(*given)
    return Offered(PushResult(Answer.REFUSED))


WATCHING = (
    Fault(
        "watcher-pays-the-most-at-once",
        "watcher",
        "the fee of a watcher's spend begins with its maximum",
        compared(pusher, "_resumed", _old),
    ),
    Fault(
        "watcher-forgets-ages",
        "watcher",
        "a watcher that starts again takes a spend that was due before for a new one",
        compared(pusher, "_resumed", _young),
    ),
    Fault(
        "watcher-forgets-its-pending-fee",
        "watcher",
        "a watcher that starts again offers less than is pending from it",
        compared(pusher, "_resumed", lambda right, *given: replace(right(*given), fee=0)),
    ),
    Fault(
        "watcher-offers-once",
        "watcher",
        "a watcher offers its spend with no other block again",
        function(Pusher, "push", _once),
    ),
    Fault(
        "watcher-hears-no-rate",
        "watcher",
        "a watcher does not hear of the node's fee rate",
        function(Pusher, "_refresh", _without_rate),
    ),
    Fault(
        "watcher-looks-for-coins-once",
        "watcher",
        "a watcher looks for its fee coins when it starts, and never again",
        function(Pusher, "_refresh", _refreshed_once),
    ),
    Fault(
        "watcher-has-no-maximum",
        "watcher",
        "a watcher pays all its coins for one spend",
        compared(Pusher, "_fee_wallet", _unlimited),
    ),
    Fault(
        "watcher-waits-for-its-node",
        "watcher",
        "a watcher's spend waits for what its fee needs to know",
        where_it_fails(
            Pusher,
            "_with_fee",
            function(Pusher, "_with_fee", _waiting_for_the_node),
            NodeError,
        ),
    ),
    Fault(
        "watcher-drives-out-its-owner",
        "watcher",
        "a watcher replaces a newer state of its owner by the one that it has",
        compared(Pusher, "_newer_than_ours", lambda right, *given: None),
    ),
    Fault(
        "watcher-offers-alone-at-once",
        "watcher",
        "a watcher offers its spend alone as soon as a node does not know its fee coin",
        compared(pusher, "_is_lasting", lambda right, result: True),
    ),
    Fault(
        "watcher-answers-no-node",
        "watcher",
        "a watcher offers nothing else after its node's answer",
        compared(pusher, "react", lambda right, fee_wallet, fee_state, event: (fee_state, [])),
    ),
)
"""The table of these."""
