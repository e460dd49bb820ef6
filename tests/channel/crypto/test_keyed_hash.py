"""The keyed hash behaves as BLS in all that the protocol uses, and is never taken for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from chia_rs import G2Element, PrivateKey

from channelsim.channel.chain.coins import signed_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.simulation.model import channel_terms
from channelsim.clsp.values import list_of

FIRST, SECOND, THIRD = (PrivateKey.from_bytes(bytes(31) + bytes([n])) for n in (1, 2, 3))
SUM = FIRST.get_g1() + SECOND.get_g1()


@pytest.fixture(params=["real", "fast"])
def scheme(request: pytest.FixtureRequest) -> Iterator[str]:
    with fast_signatures() if request.param == "fast" else nullcontext():
        yield request.param


@pytest.mark.usefixtures("scheme")
def test_a_signature_is_bound_to_its_key_and_message() -> None:
    signature = bls.sign(FIRST, b"a")
    assert signature == bls.sign(FIRST, b"a")
    assert len(signature) == 96
    assert bls.verify(FIRST.get_g1(), b"a", signature)
    assert not bls.verify(SECOND.get_g1(), b"a", signature)
    assert not bls.verify(FIRST.get_g1(), b"b", signature)
    wrong = (b"", b"\x01" * 96, signature[:-1] + bytes([signature[-1] ^ 1]), NO_SIGNATURE)
    assert not any(bls.verify(FIRST.get_g1(), b"a", blob) for blob in wrong)
    assert not bls.verify(FIRST.get_g1(), b"a", bytes(G2Element.generator()))
    assert bls.signature(signature) is not None
    assert bls.signature(b"\x01" * 96) is None
    with pytest.raises(ValueError):
        bls.add(signature, b"\x01" * 96)


@pytest.mark.usefixtures("scheme")
def test_two_halves_and_no_others_make_one_signature_of_the_sum() -> None:
    first, second = (bls.sign_half(key, b"m", SUM) for key in (FIRST, SECOND))
    assert bls.verify_half(FIRST.get_g1(), b"m", SUM, first)
    assert bls.verify_half(SECOND.get_g1(), b"m", SUM, second)
    for key, message, half in (
        (FIRST, b"m", second),
        (SECOND, b"m", first),
        (FIRST, b"n", first),
        (FIRST, b"m", bls.sign(FIRST, b"m")),
    ):
        assert not bls.verify_half(key.get_g1(), message, SUM, half)
    assert bls.add(first, second) == bls.add(second, first)
    assert bls.verify(SUM, b"m", bls.add(first, second))
    assert not bls.verify(SUM, b"n", bls.add(first, second))
    other_sum = FIRST.get_g1() + THIRD.get_g1()
    for other in (first, bls.sign(SECOND, b"m"), bls.sign_half(FIRST, b"m", other_sum)):
        assert not bls.verify(SUM, b"m", bls.add(first, other))
    assert not bls.verify(SUM, b"m", first)


@pytest.mark.usefixtures("scheme")
def test_sums_of_signatures_are_checked_and_taken_apart() -> None:
    keys, messages = [FIRST.get_g1(), SECOND.get_g1()], [b"a", b"b"]
    first, second = bls.sign(FIRST, b"a"), bls.sign(SECOND, b"b")
    total = bls.add(first, second)
    assert bls.verify_all(keys, messages, total)
    assert not bls.verify_all(keys, messages[::-1], total)
    assert not bls.verify_all(keys, messages, bls.add(total, first))
    assert bls.without(total, second) == first
    assert bls.without(first, first) == NO_SIGNATURE
    assert bls.add(first, NO_SIGNATURE) == first
    assert bls.verify_all([], [], NO_SIGNATURE)
    shift = bytes(G2Element.generator())
    assert bls.without(bls.add(first, shift), shift) == first


def test_a_signature_of_one_mode_is_wrong_in_the_other() -> None:
    key, sum_key = FIRST.get_g1(), bytes(SUM)
    real, real_half = bls.sign(FIRST, b"a"), bls.sign_half(FIRST, b"a", SUM)
    with bls.remembered(), fast_signatures():
        fast, fast_half = bls.sign(FIRST, b"a"), bls.sign_half(FIRST, b"a", SUM)
        assert not bls.verify(key, b"a", real)
        assert not channel_terms.is_half(bytes(key), b"a", sum_key, real_half)
        assert channel_terms.is_half(bytes(key), b"a", sum_key, fast_half)
    assert not bls.verify(key, b"a", fast)
    assert bls.signature(fast) is None
    assert bls.verify(key, b"a", real)
    assert channel_terms.is_half(bytes(key), b"a", sum_key, real_half)
    assert not channel_terms.is_half(bytes(key), b"a", sum_key, fast_half)
    assert bls.stand_in() is None


def test_the_node_takes_spends_of_its_own_mode_only(scheme: str) -> None:
    chain = SimulatedChain(1)
    coin = chain.give(address_of(FIRST), 1)

    def answer(key: PrivateKey, data: bytes) -> Answer:
        return chain.push(signed_spend(key, coin, list_of(), data)).answer

    assert answer(SECOND, chain.agg_sig_data()) is Answer.REFUSED
    assert answer(FIRST, bytes(32)) is Answer.REFUSED
    with nullcontext() if scheme == "fast" else fast_signatures():
        other = signed_spend(FIRST, coin, list_of(list_of(1, b"x")), chain.agg_sig_data())
    if scheme == "real":
        assert chain.push(other).answer is Answer.REFUSED
    assert answer(FIRST, chain.agg_sig_data()) is Answer.ACCEPTED
    chain.farm()
    seen = chain.coin(coin.id)
    assert seen is not None
    assert seen.spent == chain.peak()
