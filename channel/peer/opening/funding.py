"""Checks of the counterparty's part of the funding bundle: messages E and F.

Each side's own conditions (the launcher's announcement, the deadline) protect its money; these
checks refuse a bundle that could not fund the channel, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chia_rs import G1Element

from channelsim.channel.chain.coins import Bundle, Spend, launcher_puzzle
from channelsim.channel.crypto import bls
from channelsim.channel.errors import Violation
from channelsim.channel.protocol.state import Channel, Side
from channelsim.channel.protocol.wallet import launch_announcement, launcher_spend
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramValid, run_serialized
from channelsim.clsp.values import (
    BadValue,
    NotAList,
    atom_to_int,
    deserialize,
    from_list,
    is_minimal,
)
from channelsim.games.amounts import counted

MAX_WALLET_COST = 20_000_000
"""The most that running one wallet spend may cost; the standard puzzle takes under a million.
It bounds the time of the run, and the size of each atom in its result (under 2 MB)."""

MAX_CONDITIONS = 32
"""The most conditions that a wallet spend may have."""

MAX_SIGNATURES = 8
"""The most signatures that a wallet spend may need: each takes a pairing to check."""


@dataclass(frozen=True, slots=True)
class _Wallet:
    """A wallet spend's conditions: coins, announcements, deadlines, and signatures to check."""

    made: tuple[tuple[bytes, int], ...]
    announcements: tuple[bytes, ...]
    deadlines: tuple[int, ...]
    keys: list[G1Element]
    messages: list[bytes]


def check_part(channel: Channel, part: Bundle, deadline: int) -> None:
    """Check message E, the initiator's part. Raises `Violation` (CH-OPEN-9)."""
    rule = "CH-OPEN-9"
    if len(part.spends) != 2:
        raise Violation(
            rule, f"{counted(len(part.spends), 'spend')} where a wallet's and a launcher's belong"
        )
    wallet, launcher = part.spends
    if launcher != launcher_spend(channel):
        raise Violation(rule, "the launcher's spend does not create this channel")
    if wallet.coin != channel.launcher_parent:
        raise Violation(rule, "the launcher's parent is not the announced coin")
    does = _read(channel, wallet, rule)
    if (launcher_puzzle().hash, 0) not in does.made:
        raise Violation(rule, "the wallet spend makes no launcher")
    _check_wallet(channel, wallet, does, Side.INITIATOR, deadline, rule)
    if not bls.verify_all(does.keys, does.messages, part.signature):
        raise Violation(rule, "the wallet spend is not signed by its key")


def check_completed(channel: Channel, part: Bundle, bundle: Bundle, deadline: int) -> None:
    """Check message F against our own part. Raises `Violation` (CH-OPEN-10)."""
    rule = "CH-OPEN-10"
    theirs = bundle.spends[len(part.spends) :]
    if bundle.spends[: len(part.spends)] != part.spends:
        raise Violation(rule, "it does not contain our spends")
    contributes = channel.contributions[Side.RECEIVER] > 0
    if len(theirs) != contributes:
        raise Violation(rule, f"{counted(len(theirs), 'spend')} of the receiver's wallet")
    own = _read(channel, part.spends[0], rule)
    keys, messages = [*own.keys], [*own.messages]
    for spend in theirs:
        if spend.coin in {spend.coin for spend in part.spends}:
            raise Violation(rule, "the receiver spends our own coin")
        does = _read(channel, spend, rule)
        _check_wallet(channel, spend, does, Side.RECEIVER, deadline, rule)
        keys += does.keys
        messages += does.messages
    if not bls.verify_all(keys, messages, bundle.signature):
        raise Violation(rule, "its signature is not valid")


def _check_wallet(
    channel: Channel, spend: Spend, does: _Wallet, side: Side, deadline: int, rule: str
) -> None:
    if does.announcements != (launch_announcement(channel),):
        raise Violation(rule, "the wallet spend must assert the launcher's announcement alone")
    if does.deadlines != (deadline,):
        raise Violation(rule, f"the wallet spend does not assert the deadline {deadline}")
    paid = spend.coin.amount - sum(amount for _, amount in does.made)
    if paid < channel.contributions[side]:
        raise Violation(rule, f"it pays {counted(paid, 'mojo')} of {channel.contributions[side]}")
    if not does.keys:
        raise Violation(rule, "the wallet spend needs no signature")


def _read(channel: Channel, spend: Spend, rule: str) -> _Wallet:
    made: list[tuple[bytes, int]] = []
    announcements: list[bytes] = []
    deadlines: list[int] = []
    keys: list[G1Element] = []
    messages: list[bytes] = []
    for condition in _conditions(spend, rule):
        match condition:
            case (b"\x33", bytes(address), bytes(amount), *_) if len(address) == 32:
                made.append((address, _amount(amount, rule)))
            case (b"\x3d", bytes(announcement)):
                announcements.append(announcement)
            case (b"\x57", bytes(height)) if len(height) <= 9 and is_minimal(height):
                deadlines.append(atom_to_int(height))
            case (b"\x32", bytes(key), bytes(message)):
                point = bls.public_key(key)
                if point is None:
                    raise Violation(rule, "a wallet spend names an invalid key")
                keys.append(point)
                messages.append(message + spend.coin.id + channel.agg_sig_data)
                if len(keys) > MAX_SIGNATURES:
                    raise Violation(
                        rule, f"a wallet spend needs more than {MAX_SIGNATURES} signatures"
                    )
            case (bytes(code), *_):
                raise Violation(
                    rule,
                    f"a wallet spend has a condition 0x{code[:8].hex()} that is not allowed here",
                )
            case _:
                raise Violation(rule, "a wallet spend's result is not a list of conditions")
    if len(set(made)) != len(made):
        raise Violation(rule, "a wallet spend makes the same coin twice")
    return _Wallet(tuple(made), tuple(announcements), tuple(deadlines), keys, messages)


def _conditions(spend: Spend, rule: str) -> Iterator[list[bytes | None]]:
    """Run a stranger's spend within limits, and give the code and arguments of each condition.

    A pair is replaced by None.
    """
    try:
        if Program(spend.puzzle).hash != spend.coin.puzzle_hash:
            raise Violation(rule, "a wallet spend's puzzle does not match its coin")
        deserialize(spend.solution)
    except BadValue as error:
        raise Violation(rule, f"a wallet spend is not CLVM: {error}") from None
    outcome = run_serialized(spend.puzzle, spend.solution, MAX_WALLET_COST)
    if not isinstance(outcome, ProgramValid):
        raise Violation(rule, f"a wallet spend does not give conditions: {outcome}")
    try:
        conditions = [from_list(condition) for condition in from_list(outcome.value)]
    except NotAList:
        raise Violation(rule, "a wallet spend's result is not a list of conditions") from None
    if len(conditions) > MAX_CONDITIONS:
        raise Violation(rule, f"a wallet spend has {len(conditions)} conditions")
    for condition in conditions:
        yield [item if isinstance(item, bytes) else None for item in condition]


def _amount(atom: bytes, rule: str) -> int:
    amount = atom_to_int(atom) if len(atom) <= 9 else -1
    if amount < 0 or not is_minimal(atom):
        raise Violation(rule, "a wallet spend makes a coin of an invalid amount")
    return amount
