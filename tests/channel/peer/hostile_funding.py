"""Hostile messages D to F: halves, and the parts of the funding.

What an adversary does too is among its rules (`test_violations.py`). A new case here is a row in
one of the tables `WRONG_CONDITIONS`, `WRONG_PARTS`, `WRONG_LAUNCHERS`, `WRONG_PUZZLES` and
`WRONG_BUNDLES`.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from channelsim.channel.adversaries.rules.wallet_spends import WalletSpend
from channelsim.channel.chain.coins import (
    ASSERT_COIN_ANNOUNCEMENT,
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    launcher_puzzle,
    launcher_solution,
)
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, sign_halves
from channelsim.channel.protocol.messages import FirstHalves, Funded, Funding, Launch, Message
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.wallet import launcher_spend
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, int_to_atom, serialize, to_list
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE, CREATE_COIN
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.peer.moments import Moment, at
from tests.channel.peer.points import INFINITY
from tests.channel.table import ANN, BALANCE, BEN, sit

CASES = Cases()


# --- D and E: halves ---------------------------------------------------------------------------


def _by_the_victims_own_keys(kind: type[Message], victim: int) -> Hostile:
    moment = at(kind, victim)
    state = ChannelState(0 if kind is FirstHalves else 1, (BALANCE, BALANCE))
    victims = SecretKeys.derive(moment.table.ends[victim].peer.config.secret)
    channel_half, unroll_half = sign_halves(moment.channel, victims, state)
    return moment.but(channel_half=channel_half, unroll_half=unroll_half)


for _kind, _letter, _victim in ((FirstHalves, "D", ANN), (Funding, "E", BEN)):
    _name = f"{_letter}-halves-by-the-victims-own-keys"
    CASES.put("CH-OPEN-8", _name, _by_the_victims_own_keys, _kind, _victim)


# --- E: the initiator's part -------------------------------------------------------------------

Conditions = Callable[[WalletSpend], list[Value]]
"""The conditions of a wallet spend."""


def wallet_of(moment: Moment, launches: bool) -> WalletSpend:
    """The wallet spend of the side that cheats."""
    cheat, victim = (moment.table.ends[i].peer for i in (1 - moment.victim, moment.victim))
    deadline = victim.state.opening.deadline
    return WalletSpend(moment.channel, cheat.config.wallet, deadline, launches)


def part(conditions: Conditions) -> Hostile:
    """A part whose wallet spend has these conditions, all else as it should be."""
    moment = at(Funding, BEN)
    wallet = wallet_of(moment, True)
    bundle = wallet.signed(to_list(conditions(wallet)))
    bundle = Bundle((*bundle.spends, launcher_spend(moment.channel)), bundle.signature)
    return moment.but(part=bundle)


def honest_part() -> Hostile:
    return part(WalletSpend.usual)


ELSEWHERE = b"\x77" * 32


def paid(puzzle_hash: bytes, amount: bytes) -> Value:
    return condition(CREATE_COIN, puzzle_hash, amount)


def key_of(wallet: WalletSpend) -> bytes:
    """A key of the side that cheats which is not its wallet's."""
    side = 0 if wallet.launches else 1
    return bytes(wallet.channel.keys[side].channel)


WRONG_CONDITIONS: dict[str, Conditions] = {
    "pays-nothing": lambda w: w.with_launcher(w.change(BALANCE), w.asserted(), w.until()),
    "pays-somebody-else": lambda w: [*w.usual(), paid(ELSEWHERE, int_to_atom(1))],
    "another-announcement": lambda w: w.with_launcher(
        w.change(), condition(ASSERT_COIN_ANNOUNCEMENT, ELSEWHERE), w.until()
    ),
    "one-announcement-more": lambda w: [
        *w.usual(),
        condition(ASSERT_COIN_ANNOUNCEMENT, ELSEWHERE),
    ],
    "two-deadlines": lambda w: [*w.usual(), w.until(1)],
    "two-launchers": lambda w: w.with_launcher(*w.usual()),
    "a-launcher-with-money": lambda w: [
        paid(launcher_puzzle().hash, int_to_atom(1)),
        *(w.change(-1), w.asserted(), w.until()),
    ],
    "a-launcher-of-another-kind": lambda w: [
        paid(ELSEWHERE, int_to_atom(0)),
        *(w.change(), w.asserted(), w.until()),
    ],
    "a-negative-amount": lambda w: [*w.usual(), paid(ELSEWHERE, b"\xff")],
    "change-of-too-many-bytes": lambda w: w.with_launcher(
        paid(w.wallet.coin.puzzle_hash, b"\x00\x00" + int_to_atom(w.wallet.coin.amount - BALANCE)),
        *(w.asserted(), w.until()),
    ),
    "a-relative-lock": lambda w: [*w.usual(), condition(82, int_to_atom(100))],
    "an-absolute-lock": lambda w: [*w.usual(), condition(83, int_to_atom(1000))],
    "a-concurrent-spend": lambda w: [*w.usual(), condition(64, ELSEWHERE)],
    "a-fee": lambda w: [*w.usual(), condition(52, int_to_atom(1_000_000))],
    "an-unsafe-signature": lambda w: [*w.usual(), condition(AGG_SIG_UNSAFE, key_of(w), b"x")],
    "a-signature-by-infinity": lambda w: [*w.usual(), condition(AGG_SIG_ME, INFINITY, b"x")],
    "a-signature-nobody-made": lambda w: [*w.usual(), condition(AGG_SIG_ME, key_of(w), b"x")],
    "an-unknown-condition": lambda w: [*w.usual(), condition(1000, b"x")],
    "a-negative-condition": lambda w: [*w.usual(), to_list((b"\xff", b"x"))],
    "an-empty-condition": lambda w: [*w.usual(), b""],
    "an-atom-for-a-coin": lambda w: [*w.usual(), b"\x33"],
    "a-pair-for-a-coins-code": lambda w: [*w.usual(), to_list(((b"\x33", b""), b"x"))],
    "a-coin-without-amount": lambda w: [*w.usual(), condition(CREATE_COIN, ELSEWHERE)],
    "an-announcement-without-message": lambda w: [*w.usual(), condition(60)],
    "an-announcement-too-long": lambda w: [*w.usual(), condition(60, bytes(2000))],
    "a-code-in-more-bytes": lambda w: w.with_launcher(
        w.change(), w.asserted(), to_list((b"\x00\x57", int_to_atom(w.deadline)))
    ),
}

for _what, _but in WRONG_CONDITIONS.items():
    CASES.put("CH-OPEN-9", f"E-{_what}", part, _but)


def the_part(moment: Moment) -> Bundle:
    """The honest part."""
    assert isinstance(moment.message, Funding)
    return moment.message.part


def _with_another_signature(moment: Moment) -> Bundle:
    """The signature of a wallet spend with one condition more."""
    wallet = wallet_of(moment, True)
    other = wallet.signed(to_list([*wallet.usual(), wallet.until()]))
    return Bundle(the_part(moment).spends, other.signature)


def _with_a_spend_more(moment: Moment) -> Bundle:
    more = Spend(Coin(ELSEWHERE, Program(b"\x01").hash, 5), b"\x01", b"\x80")
    return Bundle((*the_part(moment).spends, more), the_part(moment).signature)


WRONG_PARTS: dict[str, Callable[[Moment], Bundle]] = {
    "without-signature": lambda m: Bundle(the_part(m).spends, NO_SIGNATURE),
    "with-a-signature-of-other-conditions": _with_another_signature,
    "of-no-spends": lambda m: Bundle((), NO_SIGNATURE),
    "with-its-spends-the-other-way-round": lambda m: Bundle(
        the_part(m).spends[::-1], the_part(m).signature
    ),
}


def _part(make: Callable[[Moment], Bundle]) -> Hostile:
    moment = at(Funding, BEN)
    return moment.but(part=make(moment))


for _what, _make in WRONG_PARTS.items():
    CASES.put("CH-OPEN-9", f"part-{_what}", _part, _make)


def _launcher(change: Callable[[Moment, Spend], Spend]) -> Hostile:
    moment = at(Funding, BEN)
    wallet, launcher = the_part(moment).spends
    new = Bundle((wallet, change(moment, launcher)), the_part(moment).signature)
    return moment.but(part=new)


def _solution(puzzle_hash: bytes, amount: int) -> bytes:
    return serialize(launcher_solution(puzzle_hash, amount))


def _solved(moment: Moment, puzzle_hash: bytes | None = None, more: int = 0) -> bytes:
    coin = moment.channel.coin
    return _solution(puzzle_hash or coin.puzzle_hash, coin.amount + more)


WRONG_LAUNCHERS: dict[str, Callable[[Moment, Spend], Spend]] = {
    "to-another-puzzle": lambda m, s: msgspec.structs.replace(s, solution=_solved(m, ELSEWHERE)),
    "of-a-mojo-less": lambda m, s: msgspec.structs.replace(s, solution=_solved(m, more=-1)),
    "of-a-mojo-more": lambda m, s: msgspec.structs.replace(s, solution=_solved(m, more=1)),
    "of-another-parent": lambda m, s: msgspec.structs.replace(
        s, coin=msgspec.structs.replace(s.coin, parent=ELSEWHERE)
    ),
    "with-money": lambda m, s: msgspec.structs.replace(
        s, coin=msgspec.structs.replace(s.coin, amount=1)
    ),
    "with-another-puzzle": lambda m, s: msgspec.structs.replace(s, puzzle=b"\x01"),
    "with-a-key-value-list": lambda m, s: msgspec.structs.replace(
        s,
        solution=serialize(
            to_list((m.channel.coin.puzzle_hash, int_to_atom(m.channel.coin.amount), b"x"))
        ),
    ),
    "without-solution": lambda m, s: msgspec.structs.replace(s, solution=b""),
}

for _what, _change in WRONG_LAUNCHERS.items():
    CASES.put("CH-OPEN-9", f"E-launcher-{_what}", _launcher, _change)


def announced(puzzle_of: Callable[[Moment], bytes]) -> Moment:
    """Before E, after the cheat announced a coin that is not its wallet's, locked by a puzzle."""
    table = sit()
    moment = at(Launch, BEN, table)
    assert isinstance(moment.message, Launch)
    try:
        puzzle_hash = Program(puzzle_of(moment)).hash
    except ValueError:
        puzzle_hash = bytes(32)
    coin = Coin(ELSEWHERE, puzzle_hash, moment.message.parent.amount)
    table.receive(BEN, msgspec.structs.replace(moment.message, parent=coin))
    return Moment(table, BEN, moment.message)


def paid_by(moment: Moment, wallet: Bundle) -> Hostile:
    """E with this in the place of the wallet's spend."""
    halves = sign_halves(moment.channel, moment.keys, ChannelState(1, (BALANCE, BALANCE)))
    bundle = Bundle((*wallet.spends, launcher_spend(moment.channel)), wallet.signature)
    return moment.table, BEN, Funding(*halves, bundle)


def _own_puzzle(puzzle: bytes, solution: bytes = b"\x80") -> Hostile:
    """The cheat spends a coin that is locked by a puzzle of its own."""
    moment = announced(lambda _: puzzle)
    spend = Spend(moment.channel.launcher_parent, puzzle, solution)
    return paid_by(moment, Bundle((spend,), NO_SIGNATURE))


def _doubling(times: int) -> bytes:
    """A program whose result is small in memory, and 2^times atoms when it is written out."""
    double = b"\xff\x04\xff\x01\xff\x01\x80"  # (c 1 1)
    program = b"\x01"
    for _ in range(times):
        # (a (q c 1 1) program)
        program = b"\xff\x02\xff\xff\x01" + double + b"\xff" + program + b"\x80"
    return program


WRONG_PUZZLES: dict[str, tuple[bytes, bytes]] = {
    "that-raises": (bytes.fromhex("ff0880"), b"\x80"),
    "that-never-ends": (bytes.fromhex("ff02ffff01ff02ff01ff0180ffff01ff02ff01ff018080"), b"\x80"),
    "that-gives-an-atom": (b"\xff\x01\x05", b"\x80"),
    "that-needs-no-signature": (b"\x01", b"\x80"),
    "that-is-cut-short": (b"\xff\x01", b"\x80"),
    "that-is-empty": (b"", b"\x80"),
    "with-a-back-reference": (b"\xff\x01\xfe\x02", b"\x80"),
    "with-a-solution-cut-short": (b"\x01", b"\xff"),
    "with-an-empty-solution": (b"\x01", b""),
    "whose-result-is-endless-when-written-out": (_doubling(50), b"\x80"),
}

for _what, _pair in WRONG_PUZZLES.items():
    CASES.put("CH-OPEN-9", f"E-puzzle-{_what}", _own_puzzle, *_pair)


def _solution_with_a_signature(moment: Moment) -> bytes:
    """A puzzle that gives (cons (AGG_SIG_ME key "x") solution), so that there is a signature."""
    needs = serialize(condition(AGG_SIG_ME, bytes(moment.keys.referee.get_g1()), b"x"))
    return b"\xff\x04\xff\xff\x01" + needs + b"\xff\x01\x80"


@CASES.add("CH-OPEN-9", "E-an-atom-for-a-solution-that-looks-like-conditions")
def atom_that_looks_like_conditions() -> Hostile:
    """The puzzle gives back its solution; on chain that is an atom, and no conditions."""
    moment = announced(_solution_with_a_signature)
    coin, wallet = moment.channel.launcher_parent, wallet_of(moment, True)
    listed = to_list(wallet.with_launcher(wallet.asserted(), wallet.until()))
    spend = Spend(coin, _solution_with_a_signature(moment), serialize(serialize(listed)))
    signed = b"x" + coin.id + moment.channel.agg_sig_data
    return paid_by(moment, Bundle((spend,), bls.sign(moment.keys.referee, signed)))


@CASES.add("CH-OPEN-9")
def part_of_another_coin_than_announced() -> Hostile:
    moment = announced(lambda _: b"\x01")
    wallet = wallet_of(moment, True)
    return paid_by(moment, wallet.signed(to_list(wallet.usual())))


# --- F -----------------------------------------------------------------------------------------


def funded() -> tuple[Moment, WalletSpend, Bundle]:
    """Ann waits for F: the moment, Ben's wallet, and Ann's own part."""
    moment = at(Funded, ANN)
    ours = moment.table.ends[ANN].peer.state.opening.part
    assert ours is not None
    return moment, wallet_of(moment, False), ours


def completed(conditions: Conditions) -> Hostile:
    moment, wallet, ours = funded()
    theirs = wallet.signed(to_list(conditions(wallet)))
    return moment.but(bundle=joined(ours, theirs))


def honest_completion() -> Hostile:
    return completed(WalletSpend.usual)


for _what, _but in WRONG_CONDITIONS.items():
    if "launcher" not in _what:
        CASES.put("CH-OPEN-10", f"F-{_what}", completed, _but)


def _completed_bundle(change: Callable[[Bundle, Bundle], Bundle]) -> Hostile:
    moment, _, ours = funded()
    assert isinstance(moment.message, Funded)
    return moment.but(bundle=change(moment.message.bundle, ours))


WRONG_BUNDLES: dict[str, Callable[[Bundle, Bundle], Bundle]] = {
    "without-our-spends": lambda done, ours: Bundle(done.spends[2:], done.signature),
    "without-our-wallet": lambda done, ours: Bundle(done.spends[1:], done.signature),
    "without-the-launcher": lambda done, ours: Bundle(
        (done.spends[0], done.spends[2]), done.signature
    ),
    "empty": lambda done, ours: Bundle((), NO_SIGNATURE),
    "with-a-spend-more": lambda done, ours: Bundle((*done.spends, done.spends[2]), done.signature),
    "that-spends-our-coin-twice": lambda done, ours: Bundle(
        (*ours.spends, ours.spends[0]), bls.add(ours.signature, ours.signature)
    ),
    "that-spends-the-launcher-twice": lambda done, ours: Bundle(
        (*ours.spends, ours.spends[1]), ours.signature
    ),
    "with-our-solution-changed": lambda done, ours: Bundle(
        (msgspec.structs.replace(done.spends[0], solution=b"\x80"), *done.spends[1:]),
        done.signature,
    ),
    "with-no-signature": lambda done, ours: Bundle(done.spends, NO_SIGNATURE),
    "with-a-signature-that-is-no-point": lambda done, ours: Bundle(done.spends, bytes(96)),
}

for _what, _bundle in WRONG_BUNDLES.items():
    CASES.put("CH-OPEN-10", f"F-bundle-{_what}", _completed_bundle, _bundle)


@CASES.add("CH-OPEN-10")
def a_wallet_of_the_receiver_who_puts_in_nothing() -> Hostile:
    moment = at(Funded, ANN, sit(contributions=(BALANCE, 0)))
    ours = moment.table.ends[ANN].peer.state.opening.part
    assert ours is not None
    wallet = wallet_of(moment, False)
    return moment.but(bundle=joined(ours, wallet.signed(to_list(wallet.usual()))))
