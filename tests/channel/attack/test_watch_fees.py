"""The fees of a watcher: right looks are not found, and each wrong offer is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from channelsim.channel.attack.watch_fees import WatcherTurn, WatchFees, WatchWallet
from channelsim.channel.chain.coins import Bundle, Coin, joined, signed_spend
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.refusals import INVALID_BUNDLE, UNKNOWN_UNSPENT
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    SpendIsDropped,
)
from channelsim.channel.watch.watcher import Sight, Step

DATA = bytes([7]) * 32
KEY, OWNER = wallet_key(b"watcher", "fees"), wallet_key(b"owner", "coins")
MOST, RATE, CONFIRMATIONS = 1000 * LEAST_RAISE, 20, 3
DUE, LATEST = 20, 34

UNROLL = Coin(bytes(32), address_of(OWNER), 5 * MOST)
OWN = signed_spend(OWNER, UNROLL, b"", DATA)
"""The spend that is due; it pays all as a fee, which plays no part here."""
COIN = Coin(bytes(32), address_of(KEY), 3 * MOST)
THEIRS = signed_spend(OWNER, Coin(bytes(32), address_of(OWNER), MOST), b"", DATA)

TAKEN = PushResult(Answer.ACCEPTED)
PINNED = PushResult(Answer.PENDING_CONFLICT)
REFUSED = PushResult(Answer.REFUSED, INVALID_BUNDLE)


def paid(fee: int) -> Bundle:
    """The spend that is due, with this fee."""
    return joined(OWN, payment(KEY, COIN, fee, OWN, DATA))


ASKED = RATE * cost_of(paid(MOST))


def look(
    *pushed: tuple[int | None, PushResult], waits: int = 0, step: Step = Step.STALE
) -> WatcherTurn:
    """A look after so many blocks at which the spend is pushed with each of these fees; None if it
    is pushed alone."""
    latest = LATEST if step is Step.STALE else None
    sight = Sight(step, DUE + waits, 4, 10, DUE, latest, OWN, stake=5 * MOST)
    bundles = [(OWN if fee is None else paid(fee), result) for fee, result in pushed]
    return WatcherTurn(sight, bundles, (), (COIN.amount,), RATE)


def found(*looks: WatcherTurn) -> list[str]:
    """The violations of these looks, one after the other."""
    fees = WatchFees(WatchWallet(KEY, MOST), CONFIRMATIONS)
    return [how for each in looks for how in fees.follow(each)]


@pytest.mark.parametrize(
    ("looks", "how"),
    [
        ([look((ASKED, TAKEN))], ""),
        ([look((0, TAKEN))], "offers 0 mojos"),
        ([look((None, TAKEN))], "offers 0 mojos"),
        ([look((3 * ASKED + LEAST_RAISE, TAKEN))], "offers as much as"),
        ([look((ASKED, TAKEN)), look((MOST, TAKEN), waits=10)], ""),
        ([look((ASKED, TAKEN)), look((ASKED, TAKEN), waits=10)], "waits for 10 blocks"),
        ([look((MOST + 1, TAKEN), waits=10)], f"at most {MOST:,}"),
        ([look((ASKED, TAKEN)), look()], ""),
        ([look((ASKED, TAKEN)), look((ASKED, TAKEN))], "again, and no block has come"),
        ([look((ASKED, REFUSED)), look((ASKED, TAKEN))], ""),
        ([look((ASKED, TAKEN)), look(waits=1)], "does not offer its preemption with a new block"),
        ([look((ASKED, TAKEN), step=Step.PUBLISHED)], ""),
        ([look((ASKED, TAKEN), waits=CONFIRMATIONS, step=Step.PUBLISHED)], ""),
        ([look((ASKED, TAKEN), waits=10, step=Step.PUBLISHED)], "waits for 10 blocks"),
        ([look((MOST, TAKEN), waits=10, step=Step.PUBLISHED)], ""),
        ([look((0, TAKEN), step=Step.PUBLISHED)], "offers 0 mojos for a timeout form"),
    ],
)
def test_a_fee_is_what_a_spend_of_its_age_should_pay(looks: list[WatcherTurn], how: str) -> None:
    assert [how in each for each in found(*looks)] == ([True] if how else [])


def test_a_fee_that_a_pin_has_raised_stays() -> None:
    high = 5 * ASKED
    pinned = replace(look((ASKED, PINNED)), pushed=look((ASKED, PINNED), (high, TAKEN)).pushed)
    assert not found(pinned, look((high, TAKEN), waits=1))


def test_nothing_is_said_of_an_amount_while_the_node_fails() -> None:
    failed = replace(look((0, TAKEN)), failed=True)
    assert not found(failed, look((0, TAKEN)))
    assert found(failed, look((0, TAKEN), waits=1))


def test_a_watcher_that_starts_again_offers_its_spend_again() -> None:
    fees = WatchFees(WatchWallet(KEY, MOST), CONFIRMATIONS)
    for _ in range(2):
        assert not [*fees.follow(look((ASKED, TAKEN)))]
        fees.begin()


@pytest.mark.parametrize(
    ("notice", "changes", "is_right"),
    [
        (FeesUnknown("a reason"), {}, False),
        (FeesUnknown("a reason"), {"failed": True}, True),
        (NoFeeCoin(b"", LEAST_RAISE), {}, False),
        (NoFeeCoin(b"", LEAST_RAISE), {"amounts": (LEAST_RAISE - 1,)}, True),
        (SpendIsDropped(), {"amounts": ()}, False),
        (FeeAtMaximum(MOST, coin_is_small=False), {}, True),
        (FeeAtMaximum(MOST - LEAST_RAISE, coin_is_small=False), {}, False),
    ],
)
def test_the_user_hears_what_is_so(notice: Notice, changes: dict[str, Any], is_right: bool) -> None:
    turn = replace(look((ASKED, TAKEN)), notices=[notice], **changes)
    assert bool(found(turn)) is not is_right


def test_more_than_the_timeout_form_brings_is_too_much() -> None:
    short = look((MOST, TAKEN), step=Step.PUBLISHED)
    (how,) = found(replace(short, sight=replace(short.sight, stake=MOST)))
    assert how.startswith("CH-FEE-2")


@pytest.mark.parametrize("error", [UNKNOWN_UNSPENT, INVALID_BUNDLE])
@pytest.mark.parametrize("waits", [0, CONFIRMATIONS, CONFIRMATIONS + 1, LATEST - DUE - 3])
@pytest.mark.parametrize("alone", [False, True])
def test_a_spend_is_offered_without_an_unknown_coin_late_and_not_before(
    error: str, waits: int, alone: bool
) -> None:
    refused = (MOST, PushResult(Answer.REFUSED, error))
    pushed = [refused, (None, TAKEN)] if alone else [refused]
    is_right = error != UNKNOWN_UNSPENT or alone is (waits > CONFIRMATIONS)
    assert bool(found(look(*pushed, waits=waits))) is not is_right


@pytest.mark.parametrize(("fee", "is_left"), [(1, True), (10 * MOST, False)])
def test_a_pin_that_pays_less_is_replaced(fee: int, is_left: bool) -> None:
    pin = PendingBundle(joined(OWN, THEIRS), fee, 2 * ASKED // RATE)
    left = replace(look((ASKED, PINNED)), pending=(pin,))
    assert bool(found(left)) is is_left
    replaced = (joined(paid(2 * ASKED), THEIRS), TAKEN)
    assert not found(replace(left, pushed=(*left.pushed, replaced)))
    assert not found(replace(left, pushed=((left.pushed[0][0], TAKEN),)))


@pytest.mark.parametrize(("below", "is_left"), [(0, False), (1, False), (100, True)])
def test_a_pin_stays_if_our_own_payment_in_it_is_near_the_maximum(
    below: int, is_left: bool
) -> None:
    ours = MOST - below * LEAST_RAISE
    pin = PendingBundle(joined(paid(ours), THEIRS), ours, 2 * ASKED // RATE)
    left = replace(look((MOST, PINNED), waits=10), pending=(pin,))
    assert bool(found(left)) is is_left


@pytest.mark.parametrize("beside", [(), (THEIRS,)])
@pytest.mark.parametrize(("fee", "is_right"), [(ASKED, False), (3 * ASKED, True)])
def test_a_watcher_that_starts_again_offers_no_less_than_before(
    fee: int, is_right: bool, beside: tuple[Bundle, ...]
) -> None:
    earlier = PendingBundle(joined(paid(3 * ASKED), *beside), 3 * ASKED, 1)
    assert bool(found(replace(look((fee, TAKEN)), earlier=(earlier,)))) is not is_right
    assert not found(replace(look((ASKED, TAKEN)), earlier=(PendingBundle(OWN, 0, 1),)))
