"""Hostile messages A to C: keys, proofs and addresses with the victim's own, and other moments.

What else these messages can have wrong is among the adversaries' rules (`test_violations.py`).
A new case is a row in `ROWS`: its name, when it comes, and the fields that differ from the honest
message. Each row is tried on both sides: on the receiver with A (or C, where the channel key is
shown), and on the initiator with B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import msgspec
from chia_rs import G1Element

from channelsim.channel.adversaries.rules.points import NO_KEYS
from channelsim.channel.crypto import bls
from channelsim.channel.peer.opening.handshake import hello, welcome
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import Hello, Introduction, Launch, Message, Welcome
from channelsim.games.referee import payout_message
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.peer.moments import Moment, at
from tests.channel.peer.points import minus
from tests.channel.table import ANN, BEN, Table, sit

CASES = Cases()

Fields = dict[str, Any]


def introduced(victim: int, table: Table | None = None) -> Moment:
    """Before A or B, whichever this side gets."""
    return at(Hello if victim == BEN else Welcome, victim, table)


def shown(victim: int) -> Moment:
    """Before the message in which the victim is shown the other side's channel key: C, or B."""
    return at(Launch if victim == BEN else Welcome, victim)


def uneven(victim: int) -> Moment:
    """Before A or B of a channel with unequal contributions."""
    return introduced(victim, sit(contributions=(1000, 3000)))


# --- fields ------------------------------------------------------------------------------------


def own_welcome(moment: Moment) -> Welcome:
    """The welcome that the victim itself would send as the receiver."""
    peer = moment.table.ends[moment.victim].peer
    return welcome(peer.config, peer.state.opening)


def of_the_victim(*names: str) -> Callable[[Moment], Fields]:
    """These fields, as the victim itself would send them."""
    return lambda moment: {name: getattr(own_welcome(moment), name) for name in names}


def the_victims_unroll_key_as_channel_key(moment: Moment) -> Fields:
    theirs = own_welcome(moment)
    return {"channel_key": theirs.unroll_key, "channel_proof": theirs.unroll_proof}


def one_key_for_two_purposes(moment: Moment) -> Fields:
    unroll = bytes(moment.keys.unroll.get_g1())
    return {"channel_key": unroll, "channel_proof": moment.keys.unroll_proof()}


def a_rogue_channel_key(moment: Moment) -> Fields:
    """The key that makes the sum of both the cheat's own: it cannot be proven."""
    victims = G1Element.from_bytes(own_welcome(moment).channel_key)
    rogue = bytes(moment.keys.channel.get_g1() + minus(victims))
    return {"channel_key": rogue, "channel_proof": bls.sign(moment.keys.channel, rogue)}


def the_victims_reward_address(moment: Moment) -> Fields:
    address = own_welcome(moment).reward_address
    signature = moment.keys.payout_signature(address)
    return {"reward_address": address, "payout_signature": signature}


def address_of(moment: Moment) -> bytes:
    assert isinstance(moment.message, Introduction)
    return moment.message.reward_address


# --- the table ---------------------------------------------------------------------------------

ROWS: dict[str, dict[str, tuple[Callable[[int], Moment], Fields | Callable[[Moment], Fields]]]] = {
    "CH-OPEN-1": {
        "the-victims-channel-key": (shown, of_the_victim("channel_key", "channel_proof")),
        "the-victims-unroll-key": (introduced, of_the_victim("unroll_key", "unroll_proof")),
        "the-victims-referee-key": (
            introduced,
            of_the_victim("referee_key", "payout_signature"),
        ),
        "the-victims-unroll-key-as-channel-key": (shown, the_victims_unroll_key_as_channel_key),
        "one-key-for-two-purposes": (shown, one_key_for_two_purposes),
        **{
            f"channel-key-that-is-none-{number}": (
                shown,
                {"channel_key": key, "channel_proof": NO_SIGNATURE},
            )
            for number, key in enumerate(NO_KEYS)
        },
    },
    "CH-OPEN-2": {
        "the-victims-channel-proof": (shown, of_the_victim("channel_proof")),
        "a-rogue-channel-key": (shown, a_rogue_channel_key),
    },
    "CH-OPEN-4": {
        "the-victims-reward-address": (introduced, the_victims_reward_address),
    },
    "CH-OPEN-5": {
        "the-contributions-of-an-uneven-channel-swapped": (
            uneven,
            {"contributions": (3000, 1000)},
        ),
    },
}


def changed(
    setup: Callable[[int], Moment], fields: Fields | Callable[[Moment], Fields], victim: int
) -> Hostile:
    """The message of a row; another channel key comes with its hash in the hello."""
    moment = setup(victim)
    found = fields(moment) if callable(fields) else fields
    peer = moment.table.ends[victim].peer
    first = peer.state.opening.introduction
    if "channel_key" in found and first is not None:
        digest = sha256(found["channel_key"]).digest()
        first = msgspec.structs.replace(first, channel_key_hash=digest)
        opening = replace(peer.state.opening, introduction=first)
        peer.state = msgspec.structs.replace(peer.state, opening=opening)
    return moment.but(**found)


for _rule, _rows in ROWS.items():
    for _name, _row in _rows.items():
        for _letter, _victim in (("A", BEN), ("B", ANN)):
            CASES.put(_rule, f"{_letter}-{_name}", changed, *_row, _victim)


# --- what takes more than a change of fields -----------------------------------------------------


def _own_message(victim: int) -> Hostile:
    """What the victim itself would send."""
    moment = introduced(victim)
    peer = moment.table.ends[victim].peer
    make = hello if victim == BEN else welcome
    own: Message = make(peer.config, peer.state.opening)
    return moment.table, victim, own


def _one_key_for_two_others(victim: int) -> Hostile:
    """The unroll key as the referee key."""
    moment = introduced(victim)
    unroll = moment.keys.unroll
    signature = bls.sign(unroll, payout_message(address_of(moment)))
    table, _, message = moment.but(referee_key=bytes(unroll.get_g1()), payout_signature=signature)
    if victim == ANN:
        return table, victim, message
    # The receiver looks at all three keys together once it has seen them all.
    table.receive(BEN, message)
    later = at(Launch, BEN, table)
    return later.table, victim, later.message


for _letter, _victim in (("A", BEN), ("B", ANN)):
    CASES.put("CH-OPEN-1", f"{_letter}-the-hello-of-the-victim-itself", _own_message, _victim)
    CASES.put("CH-OPEN-1", f"{_letter}-one-key-for-two-others", _one_key_for_two_others, _victim)


@CASES.add("CH-OPEN-11")
def a_hash_of_nothing() -> Hostile:
    table, victim, message = at(Hello, BEN).but(channel_key_hash=bytes(32))
    table.receive(victim, message)
    moment = at(Launch, BEN, table)
    return moment.table, victim, moment.message


@CASES.add("CH-OPEN-5")
def both_agreed_to_put_in_nothing() -> Hostile:
    moment = introduced(BEN, sit(contributions=(0, 0)))
    return moment.table, moment.victim, moment.message


@CASES.add("CH-OPEN-6")
def an_unroll_timeout_too_short_for_anybody() -> Hostile:
    moment = introduced(BEN, sit(unroll_timeout=7))
    return moment.table, moment.victim, moment.message


# --- C -----------------------------------------------------------------------------------------


@CASES.add("CH-OPEN-9")
def a_launcher_from_the_victims_own_coin() -> Hostile:
    moment = at(Launch, BEN)
    return moment.but(parent=moment.table.ends[BEN].peer.config.wallet.coin)
