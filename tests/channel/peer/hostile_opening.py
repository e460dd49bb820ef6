"""Hostile messages in the handshake, A to F, by a peer that signs with its own keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import TypeVar

import msgspec
from chia_rs import G1Element, G2Element

from channelsim.channel.adversaries.rules import wallet_spends
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
from channelsim.channel.peer.opening.handshake import hello, welcome
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, Halves, sign_halves
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Introduction,
    Launch,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    Welcome,
    decode,
)
from channelsim.channel.protocol.state import Channel, ChannelState
from channelsim.channel.protocol.wallet import launcher_spend
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize, to_list
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE, CREATE_COIN, payout_message
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.table import ANN, BALANCE, BEN, Table, sit

CASES = Cases()

Point = TypeVar("Point", G1Element, G2Element)

INFINITY = bytes([0xC0]) + bytes(47)
P = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    16,
)
"""The prime of the field that the coordinates of keys are in."""

STEPS: tuple[tuple[type[Message], int], ...] = (
    (Hello, BEN),
    (Welcome, ANN),
    (Launch, BEN),
    (FirstHalves, ANN),
    (Funding, BEN),
    (Funded, ANN),
)
"""The six messages, and who receives each."""


@dataclass(frozen=True)
class Moment:
    """A table at which this side is about to get the honest message of this step."""

    table: Table
    victim: int
    message: Message

    @property
    def keys(self) -> SecretKeys:
        """The keys of the side that cheats."""
        return SecretKeys.derive(self.table.ends[1 - self.victim].peer.config.secret)

    @property
    def channel(self) -> Channel:
        """The channel as the victim knows it, once there is one."""
        channel = self.table.ends[self.victim].peer.state.opening.channel
        assert channel is not None
        return channel

    def but(self, **changes: object) -> Hostile:
        return self.table, self.victim, msgspec.structs.replace(self.message, **changes)


def at(kind: type[Message], victim: int, table: Table | None = None) -> Moment:
    """Up to this message, which is taken out of the mail.

    Without a table, a copy of one that tests share until one of them changes its chain.
    """
    if table is None:
        shared = _shared(kind, victim)
        return replace(shared, table=shared.table.fork())
    return _up_to(kind, victim, table)


@cache
def _shared(kind: type[Message], victim: int) -> Moment:
    moment = _up_to(kind, victim, sit())
    moment.table.chain.record = lambda change: _shared.cache_clear()
    return moment


def _up_to(kind: type[Message], victim: int, table: Table) -> Moment:
    if not table.sent:
        table.start()
    for _ in range(10):
        message = decode(table.mail[0][1])
        if isinstance(message, kind) and table.mail[0][0] == victim:
            table.take_mail()
            return Moment(table, victim, message)
        table.deliver()
    raise AssertionError("no such message")


def introduced(victim: int, table: Table | None = None) -> Moment:
    """Before A or B, whichever this side gets."""
    return at(Hello if victim == BEN else Welcome, victim, table)


def shown(victim: int) -> Moment:
    """Before the message in which the victim is shown the other side's channel key: C, or B."""
    return at(Launch if victim == BEN else Welcome, victim)


def with_channel_key(moment: Moment, key: bytes, proof: bytes) -> Hostile:
    """The message with this channel key, and the hello before it with its hash."""
    peer = moment.table.ends[moment.victim].peer
    first = peer.state.opening.introduction
    if first is not None:
        first = msgspec.structs.replace(first, channel_key_hash=sha256(key).digest())
        opening = replace(peer.state.opening, introduction=first)
        peer.state = msgspec.structs.replace(peer.state, opening=opening)
    return moment.but(channel_key=key, channel_proof=proof)


def both(rule: str) -> Callable[[Callable[[int], Hostile]], Callable[[int], Hostile]]:
    """A case for a hello to either side."""

    def register(build: Callable[[int], Hostile]) -> Callable[[int], Hostile]:
        for victim, name in ((BEN, "A"), (ANN, "B")):
            CASES.put(rule, f"{name}-{build.__name__.strip('_')}", build, victim)
        return build

    return register


# --- A and B -----------------------------------------------------------------------------------


def own_hello(moment: Moment) -> Hello:
    """The hello that the victim itself would send as the initiator."""
    peer = moment.table.ends[moment.victim].peer
    return hello(peer.config, peer.state.opening)


def own_welcome(moment: Moment) -> Welcome:
    """The welcome that the victim itself would send as the receiver."""
    peer = moment.table.ends[moment.victim].peer
    return welcome(peer.config, peer.state.opening)


def point_outside_the_group() -> bytes:
    """A point of the curve that is not in the group of the keys."""
    for x in range(1, 1000):
        square = (x**3 + 4) % P
        if pow(square, (P - 1) // 2, P) == 1:
            return bytes([0x80]) + x.to_bytes(47, "big")
    raise AssertionError("half of all x have a point")


def not_on_the_curve() -> bytes:
    for x in range(1, 1000):
        if pow((x**3 + 4) % P, (P - 1) // 2, P) == P - 1:
            return bytes([0x80]) + x.to_bytes(47, "big")
    raise AssertionError("half of all x have none")


@both("CH-OPEN-1")
def the_hello_of_the_victim_itself(victim: int) -> Hostile:
    moment = introduced(victim)
    own: Message = own_hello(moment) if victim == BEN else own_welcome(moment)
    return moment.table, victim, own


@both("CH-OPEN-1")
def the_victims_channel_key(victim: int) -> Hostile:
    moment = shown(victim)
    theirs = own_welcome(moment)
    return with_channel_key(moment, theirs.channel_key, theirs.channel_proof)


@both("CH-OPEN-1")
def the_victims_unroll_key(victim: int) -> Hostile:
    moment = introduced(victim)
    theirs = own_welcome(moment)
    return moment.but(unroll_key=theirs.unroll_key, unroll_proof=theirs.unroll_proof)


@both("CH-OPEN-1")
def the_victims_referee_key(victim: int) -> Hostile:
    moment = introduced(victim)
    theirs = own_welcome(moment)
    return moment.but(referee_key=theirs.referee_key, payout_signature=theirs.payout_signature)


@both("CH-OPEN-1")
def the_victims_unroll_key_as_channel_key(victim: int) -> Hostile:
    moment = shown(victim)
    theirs = own_welcome(moment)
    return with_channel_key(moment, theirs.unroll_key, theirs.unroll_proof)


@both("CH-OPEN-1")
def one_key_for_two_purposes(victim: int) -> Hostile:
    moment = shown(victim)
    keys = moment.keys
    return with_channel_key(moment, bytes(keys.unroll.get_g1()), keys.unroll_proof())


@both("CH-OPEN-1")
def one_key_for_two_others(victim: int) -> Hostile:
    moment = introduced(victim)
    assert isinstance(moment.message, Introduction)
    address = moment.message.reward_address
    unroll = moment.keys.unroll
    signature = bls.sign(unroll, payout_message(address))
    table, _, message = moment.but(referee_key=bytes(unroll.get_g1()), payout_signature=signature)
    if victim == ANN:
        return table, victim, message
    # The receiver looks at all three keys together once it has seen them all.
    assert isinstance(message, Message)
    table.receive(BEN, message)
    later = at(Launch, BEN, table)
    return later.table, victim, later.message


def _no_key(name: str, key: bytes, victim: int) -> Hostile:
    if name == "channel_key":
        return with_channel_key(shown(victim), key, NO_SIGNATURE)
    return introduced(victim).but(**{name: key})


for _name in ("channel_key", "unroll_key", "referee_key"):
    for _what, _key in (
        ("infinity", INFINITY),
        ("zeros", bytes(48)),
        ("outside-the-group", point_outside_the_group()),
        ("off-the-curve", not_on_the_curve()),
        ("x-too-large", bytes([0x80 | P >> 376]) + (P + 1).to_bytes(48, "big")[1:]),
    ):
        for _victim in (BEN, ANN):
            CASES.put(
                "CH-OPEN-1", f"{'AB'[1 - _victim]}-{_name}-{_what}", _no_key, _name, _key, _victim
            )


@both("CH-OPEN-2")
def the_unroll_keys_proof_for_the_channel_key(victim: int) -> Hostile:
    moment = shown(victim)
    return moment.but(channel_proof=moment.keys.unroll_proof())


@both("CH-OPEN-2")
def the_channel_keys_proof_for_the_unroll_key(victim: int) -> Hostile:
    moment = introduced(victim)
    return moment.but(unroll_proof=moment.keys.channel_proof())


@both("CH-OPEN-2")
def the_victims_channel_proof(victim: int) -> Hostile:
    moment = shown(victim)
    return moment.but(channel_proof=own_welcome(moment).channel_proof)


@both("CH-OPEN-2")
def a_rogue_channel_key(victim: int) -> Hostile:
    """The key that makes the sum of both the cheat's own: it cannot be proven."""
    moment = shown(victim)
    victims = G1Element.from_bytes(own_welcome(moment).channel_key)
    rogue = moment.keys.channel.get_g1() + minus(victims)
    proof = bls.sign(moment.keys.channel, bytes(rogue))
    return with_channel_key(moment, bytes(rogue), proof)


@both("CH-OPEN-2")
def an_unroll_proof_of_another_message(victim: int) -> Hostile:
    moment = introduced(victim)
    return moment.but(unroll_proof=bls.sign(moment.keys.unroll, b"hello"))


@both("CH-OPEN-2")
def a_channel_proof_of_nothing(victim: int) -> Hostile:
    return shown(victim).but(channel_proof=NO_SIGNATURE)


@both("CH-OPEN-2")
def an_unroll_proof_that_is_no_point(victim: int) -> Hostile:
    return introduced(victim).but(unroll_proof=bytes(96))


@CASES.add("CH-OPEN-11")
def another_channel_key_than_the_hello_has_the_hash_of() -> Hostile:
    """Chosen once the receiver's key is known; with a proof, as for any key that one has."""
    moment = at(Launch, BEN)
    key = SecretKeys.derive(b"another" * 8)
    return moment.but(channel_key=bytes(key.channel.get_g1()), channel_proof=key.channel_proof())


@CASES.add("CH-OPEN-11")
def a_hash_of_nothing() -> Hostile:
    table, victim, message = at(Hello, BEN).but(channel_key_hash=bytes(32))
    assert isinstance(message, Hello)
    table.receive(victim, message)
    moment = at(Launch, BEN, table)
    return moment.table, victim, moment.message


@both("CH-OPEN-3")
def a_payout_signature_for_another_address(victim: int) -> Hostile:
    moment = introduced(victim)
    return moment.but(payout_signature=moment.keys.payout_signature(bytes(32)))


@both("CH-OPEN-3")
def a_payout_signature_by_another_key(victim: int) -> Hostile:
    moment = introduced(victim)
    assert isinstance(moment.message, Introduction)
    message = payout_message(moment.message.reward_address)
    return moment.but(payout_signature=bls.sign(moment.keys.channel, message))


@both("CH-OPEN-3")
def a_payout_signature_without_the_prefix(victim: int) -> Hostile:
    moment = introduced(victim)
    assert isinstance(moment.message, Introduction)
    bare = bls.sign(moment.keys.referee, moment.message.reward_address)
    return moment.but(payout_signature=bare)


@both("CH-OPEN-3")
def a_payout_signature_of_nothing(victim: int) -> Hostile:
    return introduced(victim).but(payout_signature=NO_SIGNATURE)


@both("CH-OPEN-4")
def the_victims_reward_address(victim: int) -> Hostile:
    moment = introduced(victim)
    address = own_hello(moment).reward_address
    signature = moment.keys.payout_signature(address)
    return moment.but(reward_address=address, payout_signature=signature)


@both("CH-OPEN-5")
def a_contribution_less(victim: int) -> Hostile:
    return introduced(victim).but(contributions=(BALANCE - 1, BALANCE))


@both("CH-OPEN-5")
def the_other_contribution_more(victim: int) -> Hostile:
    return introduced(victim).but(contributions=(BALANCE, BALANCE + 1))


@both("CH-OPEN-5")
def no_contributions_where_some_were_agreed(victim: int) -> Hostile:
    return introduced(victim).but(contributions=(0, 0))


@both("CH-OPEN-5")
def the_contributions_of_an_uneven_channel_swapped(victim: int) -> Hostile:
    moment = introduced(victim, sit(contributions=(1000, 3000)))
    return moment.but(contributions=(3000, 1000))


@CASES.add("CH-OPEN-5")
def both_agreed_to_put_in_nothing() -> Hostile:
    moment = introduced(BEN, sit(contributions=(0, 0)))
    return moment.table, moment.victim, moment.message


@both("CH-OPEN-6")
def a_shorter_unroll_timeout(victim: int) -> Hostile:
    return introduced(victim).but(unroll_timeout=14)


@both("CH-OPEN-6")
def a_longer_unroll_timeout(victim: int) -> Hostile:
    return introduced(victim).but(unroll_timeout=16)


@both("CH-OPEN-12")
def a_shorter_response_time(victim: int) -> Hostile:
    return introduced(victim).but(response_time=9)


@both("CH-OPEN-12")
def a_longer_move_time(victim: int) -> Hostile:
    return introduced(victim).but(move_time=41)


@CASES.add("CH-OPEN-6")
def an_unroll_timeout_too_short_for_anybody() -> Hostile:
    moment = introduced(BEN, sit(unroll_timeout=7))
    return moment.table, moment.victim, moment.message


# --- C -----------------------------------------------------------------------------------------


def _deadline(ahead: int) -> Hostile:
    moment = at(Launch, BEN)
    return moment.but(deadline=max(0, moment.table.chain.peak() + ahead))


for _ahead in (-1000, -1, 0, 1, 2):
    CASES.put("CH-OPEN-7", f"C-deadline-{_ahead:+}", _deadline, _ahead)


@CASES.add("CH-OPEN-9")
def a_launcher_from_the_victims_own_coin() -> Hostile:
    moment = at(Launch, BEN)
    return moment.but(parent=moment.table.ends[BEN].peer.config.wallet.coin)


# --- D and E: halves ---------------------------------------------------------------------------

MakeHalves = Callable[[Moment, ChannelState], Halves]


def _sign(moment: Moment, state: ChannelState) -> Halves:
    return sign_halves(moment.channel, moment.keys, state)


def minus(point: Point) -> Point:
    """The point's inverse: the other root of the curve's equation."""
    blob = bytes(point)
    return type(point).from_bytes(bytes([blob[0] ^ 0x20]) + blob[1:])


def _shift(half: bytes, by: G2Element, sign: int) -> bytes:
    point = G2Element.from_bytes(half)
    return bytes(point + (by if sign > 0 else minus(by)))


def _shifted(moment: Moment, state: ChannelState) -> Halves:
    first, second = _sign(moment, state)
    by = G2Element.generator()
    return _shift(first, by, 1), _shift(second, by, -1)


def _plain(moment: Moment, state: ChannelState) -> Halves:
    """Ordinary signatures: without the sum of the keys in front."""
    on_chain = moment.channel.on_chain(state)
    return (
        bls.sign(moment.keys.channel, on_chain.channel_message),
        bls.sign(moment.keys.unroll, on_chain.unroll_message),
    )


def _with(which: int, wrong: MakeHalves) -> MakeHalves:
    """Right halves but for this one of them."""

    def make(moment: Moment, state: ChannelState) -> Halves:
        good, bad = _sign(moment, state), wrong(moment, state)
        return (bad[0], good[1]) if which == 0 else (good[0], bad[1])

    return make


def _changed(**changes: object) -> MakeHalves:
    return lambda moment, state: _sign(moment, msgspec.structs.replace(state, **changes))


def _other_number(moment: Moment, state: ChannelState) -> Halves:
    return _sign(moment, msgspec.structs.replace(state, number=1 - state.number))


def _of_the_victim(moment: Moment, state: ChannelState) -> Halves:
    secret = SecretKeys.derive(moment.table.ends[moment.victim].peer.config.secret)
    return sign_halves(moment.channel, secret, state)


WRONG_HALVES: dict[str, MakeHalves] = {
    "of-the-other-opening-state": _other_number,
    "of-a-later-state": _changed(number=2),
    "of-other-balances": _changed(balances=(BALANCE + 1, BALANCE - 1)),
    "of-nothing": lambda moment, state: (NO_SIGNATURE, NO_SIGNATURE),
    "no-point": lambda moment, state: (bytes(96), b"\xff" * 96),
    "without-the-sum-in-front": _plain,
    "shifted": _shifted,
    "by-the-other-key": lambda moment, state: _sign(moment, state)[::-1],
    "by-the-victims-own-key": _of_the_victim,
}


def _bad_halves(kind: type[Message], victim: int, make: MakeHalves) -> Hostile:
    moment = at(kind, victim)
    state = ChannelState(0 if kind is FirstHalves else 1, (BALANCE, BALANCE))
    channel_half, unroll_half = make(moment, state)
    return moment.but(channel_half=channel_half, unroll_half=unroll_half)


for _kind, _letter, _victim in ((FirstHalves, "D", ANN), (Funding, "E", BEN)):
    for _what, _make in WRONG_HALVES.items():
        for _which, _made in (
            ("both", _make),
            ("channel-half", _with(0, _make)),
            ("unroll-half", _with(1, _make)),
        ):
            CASES.put(
                "CH-OPEN-8", f"{_letter}-{_which}-{_what}", _bad_halves, _kind, _victim, _made
            )


# --- E: the initiator's part -------------------------------------------------------------------

Conditions = Callable[[WalletSpend], list[Value]]
"""The conditions of a wallet spend."""


def wallet_of(moment: Moment, launches: bool) -> WalletSpend:
    """The wallet spend of the side that cheats."""
    cheat, victim = (moment.table.ends[i].peer for i in (1 - moment.victim, moment.victim))
    deadline = victim.state.opening.deadline
    return WalletSpend(moment.channel, cheat.config.wallet, deadline, launches)


def funding() -> tuple[Moment, WalletSpend]:
    moment = at(Funding, BEN)
    return moment, wallet_of(moment, True)


def part(conditions: Conditions) -> Hostile:
    """A part whose wallet spend has these conditions, all else as it should be."""
    moment, wallet = funding()
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
    **wallet_spends.WRONG_CONDITIONS,
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
    "no-launcher": lambda w: [w.change(), w.asserted(), w.until()],
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


@CASES.add("CH-OPEN-9")
def part_without_signature() -> Hostile:
    moment = at(Funding, BEN)
    assert isinstance(moment.message, Funding)
    return moment.but(part=Bundle(moment.message.part.spends, NO_SIGNATURE))


@CASES.add("CH-OPEN-9")
def part_with_a_signature_of_other_conditions() -> Hostile:
    moment, wallet = funding()
    other = wallet.signed(to_list([*wallet.usual(), wallet.until()]))
    right = wallet.signed(to_list(wallet.usual()))
    return moment.but(part=Bundle((*right.spends, launcher_spend(moment.channel)), other.signature))


@CASES.add("CH-OPEN-9")
def part_without_the_launchers_spend() -> Hostile:
    moment, wallet = funding()
    return moment.but(part=wallet.signed(to_list(wallet.usual())))


@CASES.add("CH-OPEN-9")
def part_of_no_spends() -> Hostile:
    return at(Funding, BEN).but(part=Bundle((), NO_SIGNATURE))


@CASES.add("CH-OPEN-9")
def part_with_its_spends_the_other_way_round() -> Hostile:
    moment = at(Funding, BEN)
    assert isinstance(moment.message, Funding)
    spends = moment.message.part.spends
    return moment.but(part=Bundle(spends[::-1], moment.message.part.signature))


@CASES.add("CH-OPEN-9")
def part_with_a_spend_more() -> Hostile:
    moment = at(Funding, BEN)
    assert isinstance(moment.message, Funding)
    old = moment.message.part
    more = Spend(Coin(ELSEWHERE, Program(b"\x01").hash, 5), b"\x01", b"\x80")
    return moment.but(part=Bundle((*old.spends, more), old.signature))


def _launcher(change: Callable[[Moment, Spend], Spend]) -> Hostile:
    moment = at(Funding, BEN)
    assert isinstance(moment.message, Funding)
    wallet, launcher = moment.message.part.spends
    new = Bundle((wallet, change(moment, launcher)), moment.message.part.signature)
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


def _own_puzzle(puzzle: bytes, solution: bytes = b"\x80") -> Hostile:
    """The cheat announces a coin locked by a puzzle of its own, and spends that."""
    table = sit()
    moment = at(Launch, BEN, table)
    amount = table.ends[ANN].peer.config.wallet.coin.amount
    try:
        puzzle_hash = Program(puzzle).hash
    except ValueError:
        puzzle_hash = bytes(32)
    coin = Coin(ELSEWHERE, puzzle_hash, amount)
    assert isinstance(moment.message, Launch)
    table.receive(BEN, msgspec.structs.replace(moment.message, parent=coin))
    after = Moment(table, BEN, moment.message)
    halves = sign_halves(after.channel, after.keys, ChannelState(1, (BALANCE, BALANCE)))
    bundle = Bundle((Spend(coin, puzzle, solution), launcher_spend(after.channel)), NO_SIGNATURE)
    return table, BEN, Funding(*halves, bundle)


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


@CASES.add("CH-OPEN-9", "E-an-atom-for-a-solution-that-looks-like-conditions")
def atom_that_looks_like_conditions() -> Hostile:
    """The puzzle gives back its solution; on chain that is an atom, and no conditions."""
    table = sit()
    moment = at(Launch, BEN, table)
    key = moment.keys.referee
    # Returns (cons (AGG_SIG_ME key "x") solution), so that there is a signature.
    needs = serialize(condition(AGG_SIG_ME, bytes(key.get_g1()), b"x"))
    puzzle = b"\xff\x04\xff\xff\x01" + needs + b"\xff\x01\x80"
    amount = table.ends[ANN].peer.config.wallet.coin.amount
    coin = Coin(ELSEWHERE, Program(puzzle).hash, amount)
    assert isinstance(moment.message, Launch)
    table.receive(BEN, msgspec.structs.replace(moment.message, parent=coin))
    after = Moment(table, BEN, moment.message)
    halves = sign_halves(after.channel, after.keys, ChannelState(1, (BALANCE, BALANCE)))
    wallet = wallet_of(after, True)
    listed = to_list(wallet.with_launcher(wallet.asserted(), wallet.until()))
    solution = serialize(serialize(listed))
    signature = bls.sign(key, b"x" + coin.id + after.channel.agg_sig_data)
    bundle = Bundle((Spend(coin, puzzle, solution), launcher_spend(after.channel)), signature)
    return table, BEN, Funding(*halves, bundle)


@CASES.add("CH-OPEN-9")
def part_of_another_coin_than_announced() -> Hostile:
    table = sit()
    moment = at(Launch, BEN, table)
    assert isinstance(moment.message, Launch)
    other = msgspec.structs.replace(moment.message.parent, parent=ELSEWHERE)
    table.receive(BEN, msgspec.structs.replace(moment.message, parent=other))
    after = Moment(table, BEN, moment.message)
    halves = sign_halves(after.channel, after.keys, ChannelState(1, (BALANCE, BALANCE)))
    wallet = wallet_of(after, True)
    bundle = wallet.signed(to_list(wallet.usual()))
    bundle = Bundle((*bundle.spends, launcher_spend(after.channel)), bundle.signature)
    return table, BEN, Funding(*halves, bundle)


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
    "in-another-order": lambda done, ours: Bundle(done.spends[::-1], done.signature),
    "without-theirs": lambda done, ours: ours,
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
    "with-our-signature-only": lambda done, ours: Bundle(done.spends, ours.signature),
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


# --- messages that are not this step's -----------------------------------------------------------

_KEY = bytes(48)
_COIN = Coin(bytes(32), bytes(32), 1)
_BUNDLE = Bundle((), NO_SIGNATURE)
ANY_MESSAGE: tuple[Message, ...] = (
    Hello(_KEY, _KEY, bytes(32), NO_SIGNATURE, NO_SIGNATURE, (1, 1), 15, 10, 40, bytes(32)),
    Welcome(
        _KEY, _KEY, bytes(32), NO_SIGNATURE, NO_SIGNATURE, (1, 1), 15, 10, 40, _KEY, NO_SIGNATURE
    ),
    Launch(_COIN, 100, _KEY, NO_SIGNATURE),
    FirstHalves(NO_SIGNATURE, NO_SIGNATURE),
    Funding(NO_SIGNATURE, NO_SIGNATURE, _BUNDLE),
    Funded(_BUNDLE),
    Request(),
    Batch(2, (), NO_SIGNATURE, NO_SIGNATURE),
    Advisory(0, b""),
    Shutdown(NO_SIGNATURE),
    ShutdownDone(NO_SIGNATURE),
)


def _instead(kind: type[Message], victim: int, message: Message | bytes) -> Hostile:
    return at(kind, victim).table, victim, message


for _number, (_step, _to) in enumerate(STEPS):
    for _message in ANY_MESSAGE:
        # The funding may be in the chain before F is here: what is said in play then is held.
        _held = _step is Funded and isinstance(_message, Batch | Request | Advisory | Shutdown)
        if not isinstance(_message, _step) and not _held:
            _name = f"{'ABCDEF'[_number]}-a-{type(_message).__name__}-instead"
            CASES.put("CH-MSG-3", _name, _instead, _step, _to, _message)
    for _name, _blob in (("empty", b""), ("garbage", b"\xc1" * 7), ("json", b'{"say":"hello"}')):
        CASES.put("CH-MSG-2", f"{'ABCDEF'[_number]}-{_name}", _instead, _step, _to, _blob)
    CASES.put(
        "CH-MSG-1",
        f"{'ABCDEF'[_number]}-too-long",
        _instead,
        _step,
        _to,
        bytes(10 * 1024 * 1024 + 1),
    )
