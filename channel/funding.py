"""What each side checks about the other's part of the funding bundle before it goes on.

A side's own money is safe by its own conditions (the launcher's announcement, the deadline);
these checks refuse, with the reason, a bundle that could not do what it must.
"""

from __future__ import annotations

from dataclasses import dataclass

from chia_rs import G1Element

from channel import bls
from channel.coins import (
    ASSERT_BEFORE_HEIGHT_ABSOLUTE,
    ASSERT_COIN_ANNOUNCEMENT,
    Bundle,
    Spend,
    launcher_announcement,
    launcher_puzzle,
    launcher_solution,
)
from channel.errors import Violation
from channel.state import Channel, Side
from channel.wallet import launcher_spend
from clsp.integers import atom_to_int
from clsp.programs import Program
from clsp.run import ProgramRaised, evaluate
from clsp.values import BadValue, deserialize
from games.referee import AGG_SIG_ME, CREATE_COIN

_HARMLESS = {1, 60, 62}  # REMARK and the announcements that a wallet may make


@dataclass(frozen=True, slots=True)
class _Wallet:
    """What a wallet spend does: what it makes and asserts, and who must sign what."""

    made: tuple[tuple[bytes, int], ...]
    announcements: frozenset[bytes]
    deadlines: tuple[int, ...]
    keys: list[G1Element]
    messages: list[bytes]


def check_part(channel: Channel, part: Bundle, deadline: int) -> None:
    """Check message E, the initiator's part. Raises `Violation` (CH-OPEN-9)."""
    rule = "CH-OPEN-9"
    if len(part.spends) != 2:
        raise Violation(rule, f"{len(part.spends)} spends where a wallet's and a launcher's belong")
    wallet, launcher = part.spends
    if launcher != launcher_spend(channel):
        raise Violation(rule, "the launcher is not spent to this channel")
    if wallet.coin != channel.launcher_parent:
        raise Violation(rule, "the launcher comes from another coin than was announced")
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
        raise Violation(rule, f"{len(theirs)} spends of the receiver's wallet")
    keys, messages = [], []
    for spend in (part.spends[0], *theirs):
        does = _read(channel, spend, rule)
        keys += does.keys
        messages += does.messages
    if contributes:
        does = _read(channel, theirs[0], rule)
        if theirs[0].coin in {spend.coin for spend in part.spends}:
            raise Violation(rule, "the receiver spends our own coin")
        _check_wallet(channel, theirs[0], does, Side.RECEIVER, deadline, rule)
    if not bls.verify_all(keys, messages, bundle.signature):
        raise Violation(rule, "its signature does not fit its spends")


def _check_wallet(
    channel: Channel, spend: Spend, does: _Wallet, side: Side, deadline: int, rule: str
) -> None:
    solution = launcher_solution(channel.coin.puzzle_hash, channel.coin.amount)
    if launcher_announcement(channel.launcher.id, solution) not in does.announcements:
        raise Violation(rule, "the wallet spend does not assert the launcher's announcement")
    if does.deadlines != (deadline,):
        raise Violation(rule, f"the wallet spend does not assert the deadline {deadline}")
    paid = spend.coin.amount - sum(amount for _, amount in does.made)
    if paid < channel.contributions[side]:
        raise Violation(rule, f"it pays {paid} mojos of {channel.contributions[side]}")
    if not does.keys:
        raise Violation(rule, "the wallet spend needs no signature")


def _read(channel: Channel, spend: Spend, rule: str) -> _Wallet:
    try:
        puzzle = Program(spend.puzzle)
        if puzzle.hash != spend.coin.puzzle_hash:
            raise Violation(rule, "a wallet coin's puzzle is not the one it is locked by")
        conditions = evaluate(puzzle, deserialize(spend.solution))
    except (BadValue, ProgramRaised) as error:
        raise Violation(rule, f"a wallet spend does not run: {error}") from None
    made: list[tuple[bytes, int]] = []
    announcements: set[bytes] = set()
    deadlines: list[int] = []
    keys: list[G1Element] = []
    messages: list[bytes] = []
    while isinstance(conditions, tuple):
        condition, conditions = conditions
        match condition:
            case (bytes(code), rest):
                number = atom_to_int(code)
            case _:
                raise Violation(rule, "a wallet spend's result is no list of conditions")
        match number, rest:
            case int(known), _ if known in _HARMLESS:
                pass
            case int(known), (bytes(address), (bytes(amount), _)) if known == CREATE_COIN:
                made.append((address, _amount(amount, rule)))
            case int(known), (bytes(announcement), _) if known == ASSERT_COIN_ANNOUNCEMENT:
                announcements.add(announcement)
            case int(known), (bytes(height), _) if known == ASSERT_BEFORE_HEIGHT_ABSOLUTE:
                deadlines.append(atom_to_int(height))
            case int(known), (bytes(key), (bytes(message), _)) if known == AGG_SIG_ME:
                point = bls.public_key(key)
                if point is None:
                    raise Violation(rule, "a wallet spend names a key that is none")
                keys.append(point)
                messages.append(message + spend.coin.id + channel.agg_sig_data)
            case _:
                raise Violation(rule, f"a wallet spend has a condition {number} of no use here")
    return _Wallet(tuple(made), frozenset(announcements), tuple(deadlines), keys, messages)


def _amount(atom: bytes, rule: str) -> int:
    amount = atom_to_int(atom)
    if amount < 0:
        raise Violation(rule, "a wallet spend makes a coin of a negative amount")
    return amount
