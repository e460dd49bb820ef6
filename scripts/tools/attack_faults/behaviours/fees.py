"""Faults of a peer that pays fees."""

from __future__ import annotations

from functools import partial

from channelsim.channel.peer.interface import Dropped, FeeRate, Pinned
from scripts.tools.attack_faults.behaviours.behaviour import behaviour
from scripts.tools.attack_faults.behaviours.wrong_fees import (
    asserts_nothing,
    changes_coins,
    forgets_rate,
    keeps_no_change,
    locks_fee_coins,
    pays_elsewhere,
    replaces_in_vain,
    reports_drops_again,
)
from scripts.tools.attack_faults.planting import always, deaf_to, engine

fee_behaviour = partial(behaviour, part="fees")
"""A wrong behaviour with fees."""

FEE_FAULTS = (
    fee_behaviour(
        "locks its fee coins",
        "spends fee coins with a lock",
        engine("peer.fees.payment:_spend", locks_fee_coins),
        "CH-FEE-1",
    ),
    fee_behaviour(
        "pays its change elsewhere",
        "sends the change of fees to another address",
        engine("peer.fees.payment:_spend", pays_elsewhere),
        "CH-FEE-1",
    ),
    fee_behaviour(
        "keeps no change",
        "leaves the change of a fee coin to the block",
        engine("peer.fees.payment:_spend", keeps_no_change),
        "CH-FEE-2",
    ),
    fee_behaviour(
        "asserts no spend",
        "pays a fee whatever becomes of the spend that it is for",
        engine("peer.fees.payment:_spend", asserts_nothing),
        "CH-FEE-2",
    ),
    fee_behaviour(
        "shares fee coins",
        "pays for several spends with one coin",
        engine(
            "peer.fees.fee_wallet:FeeWallet.free",
            lambda free: lambda fee_wallet, fee_state: list(fee_wallet.coins.unspent),
        ),
        "CH-FEE-2",
    ),
    fee_behaviour(
        "knows no maximum fee",
        "pays any fee for a spend",
        engine("peer.fees.fee_wallet:most_for", always(1 << 40)),
        "CH-FEE-2",
    ),
    fee_behaviour(
        "knows no maximum of fees",
        "pays any fees in all",
        engine("peer.fees.fee_wallet:most_for_all", always(1 << 60)),
        "CH-FEE-2",
    ),
    fee_behaviour(
        "never raises a fee",
        "offers the same fee with every block",
        engine("peer.fees.paying:raised", lambda raised: lambda before, fee, most: before),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "raises by single mojos",
        "raises fees in steps that no mempool takes",
        engine(
            "peer.fees.paying:raised",
            lambda raised: lambda before, fee, most: min(before + 1, most) if before else fee,
        ),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "lowers fees",
        "offers less than it has offered, because its node's answers are no block",
        engine("peer.fees.paying:raised", lambda raised: lambda before, fee, most: fee),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "changes fee coins",
        "raises a fee with another coin than the one that pays for the spend so far",
        engine("peer.fees.fee_wallet:FeeWallet.with_coin", changes_coins),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "pays the highest fee",
        "offers the highest fee at once",
        engine(
            "peer.fees.paying:wanted_fee",
            lambda wanted_fee: lambda offer, start, most, *times: most,
        ),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "ignores the estimate",
        "does not hear what its node asks",
        deaf_to(lambda peer, event: isinstance(event, FeeRate)),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "forgets the estimate",
        "forgets what its node asks with each new connection",
        forgets_rate,
        "CH-FEE-3",
    ),
    fee_behaviour(
        "leaves pins",
        "pays nothing for a spend in a bundle of the other side",
        deaf_to(lambda peer, event: isinstance(event, Pinned) and peer.config.fees is not None),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "replaces pins in vain",
        "answers a pin with a bundle that lacks coins of the pin",
        engine("peer.fees.answers:_replacement", lambda replacement: replaces_in_vain),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "underbids pins",
        "replaces pins for less than mempools want",
        engine("peer.fees.answers:_Union.least", lambda least: property(lambda union: 1)),
        "CH-FEE-3",
    ),
    fee_behaviour(
        "repeats dropped bytes",
        "offers a dropped spend in no other bytes",
        engine("peer.fees.answers:_renew", always(None)),
        "CH-FEE-4",
    ),
    fee_behaviour(
        "hides dropped spends",
        "does not tell of a spend that its node drops, and that no fee is for",
        deaf_to(lambda peer, event: isinstance(event, Dropped)),
        "CH-FEE-4",
    ),
    fee_behaviour(
        "reports drops again", "tells of a dropped spend each time", reports_drops_again, "CH-FEE-4"
    ),
)
"""The faults of fees."""
