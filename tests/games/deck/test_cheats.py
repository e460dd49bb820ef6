"""The ways to cheat in a preparation, and the check that notices each.

A cheat follows the protocol with a changed pack or lock, and proves what it can. Source: the
prepared deck, "Ways to cheat".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pytest
from chia_rs import AugSchemeMPL, G1Element, PrivateKey

from channelsim.games.deck import initiator, lock_proof, shuffle_proof
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import real_group
from channelsim.games.deck.lock_proof import Locks
from channelsim.games.deck.secrets import (
    DeckSecrets,
    bit,
    challenge_commitment,
    permutation,
    seed_mask,
)
from channelsim.games.deck.shuffle_proof import Shuffle, shuffled
from channelsim.games.deck.terms import DeckTerms, card_points, deck_id, tagged_hash
from channelsim.games.deck.work import Preparation
from tests.games.deck.decks import TERMS, TOY, Conversation, conversation, secrets

Pack: TypeAlias = Sequence[bytes]
Change: TypeAlias = Callable[[Pack, bytes], tuple[Pack, bytes]]
"""A change of a shuffled pack and of the base under the same mask."""


def times(scalar: int, point: bytes) -> bytes:
    return TOY.multiply([(scalar, point)])[0]


def with_card(at: int, card: Callable[[Pack], bytes]) -> Change:
    return lambda pack, base: ([*pack[:at], card(pack), *pack[at + 1 :]], base)


SHUFFLES: dict[str, Change] = {
    "a marked card": with_card(3, lambda pack: times(2, pack[3])),
    "a duplicate card": with_card(3, lambda pack: pack[4]),
    "a duplicate under another mask": with_card(3, lambda pack: times(5, pack[4])),
    "a foreign point": with_card(3, lambda pack: TOY.map(b"foreign")),
    "all cards marked": lambda pack, base: ([times(2, point) for point in pack], base),
    "two masks": lambda pack, base: ([*(times(3, one) for one in pack[:26]), *pack[26:]], base),
    "a key of another mask": lambda pack, base: (pack, times(2, base)),
    "another pack": lambda pack, base: ([TOY.map(bytes((at,))) for at in range(52)], base),
}


def message_2(pack: Pack, base: bytes, hashes: Sequence[bytes], ours: DeckSecrets) -> bytes:
    theirs = conversation().receiver_secrets
    challenge = challenge_commitment(TERMS, b"A", theirs.nonce, ours.bits, ours.salt)
    return b"".join((ours.nonce, challenge, base, *pack, *hashes))


def shuffle_of_initiator(change: Change) -> None:
    """A whole preparation with a cheating initiator. Raises what the receiver notices."""
    honest = conversation()
    ours, theirs = honest.initiator_secrets, honest.receiver_secrets
    deck = deck_id(TERMS, theirs.nonce, ours.nonce)
    source = card_points(TOY, deck)
    pack, base = change(*shuffled(TOY, source, ours.mask, ours.permutation))
    shuffle = Shuffle(TOY, deck, b"A", source, pack, base)
    hashes = shuffle_proof.round_hashes(shuffle, ours.round_seeds)
    challenge = challenge_commitment(TERMS, b"B", theirs.nonce, theirs.bits, theirs.salt)
    cheat = initiator.Shuffled(TOY, TERMS, ours, theirs.nonce, challenge, shuffle)
    both, three = honest.started.receive(message_2(pack, base, hashes, ours))
    both.receive(cheat.receive(three)[1])


def shuffle_of_receiver(change: Change) -> None:
    """A whole preparation with a cheating receiver. Raises what the initiator notices."""
    honest = conversation()
    before, theirs = honest.both_shuffled, honest.receiver_secrets
    pack, base = change(before.ours.result, before.ours.result_base)
    ours = replace(before.ours, result=pack, result_base=base)
    hashes = shuffle_proof.round_hashes(ours, theirs.round_seeds)
    three = b"".join((theirs.bits, theirs.salt, base, *pack, *hashes))
    locked, four = honest.shuffled.receive(three)
    cheat = replace(before, ours=ours)
    locked.receive(cheat.receive(four)[1])


@pytest.mark.parametrize("side", [shuffle_of_initiator, shuffle_of_receiver])
def test_an_honest_shuffle_passes(side: Callable[[Change], None]) -> None:
    side(lambda pack, base: (pack, base))


@pytest.mark.parametrize("side", [shuffle_of_initiator, shuffle_of_receiver])
@pytest.mark.parametrize("change", SHUFFLES)
def test_a_false_shuffle_is_noticed(side: Callable[[Change], None], change: str) -> None:
    with pytest.raises(DeckFault, match=r"^PD-5: "):
        side(SHUFFLES[change])


def forged(
    true: Shuffle, seeds: Sequence[bytes], guess: bytes
) -> tuple[Shuffle, list[bytes], bytes]:
    """A pack with a duplicate, and a proof of it that holds for one challenge.

    It needs no mask and no permutation, so a proof shows neither: whoever knows the challenge
    beforehand can make one of any pack.
    """
    pack, _ = SHUFFLES["a duplicate card"](true.result, true.result_base)
    shuffle = replace(true, result=tuple(pack))
    hashes, given = shuffle_proof.round_hashes(shuffle, seeds), []
    for number, seed in enumerate(seeds):
        if not bit(guess, number):
            given.append(seed)
            continue
        mask, order = seed_mask(TOY, seed), permutation(seed)
        points = [*(shuffle.source[at] for at in order), TOY.base]
        masked = TOY.multiply([(mask, point) for point in points])
        hashes[number] = tagged_hash("round", shuffle.digest(), bytes((number,)), *masked)
        given.append(mask.to_bytes(32, "big") + bytes(order))
    return shuffle, hashes, b"".join(given)


def test_a_cheat_passes_only_with_the_challenge_that_it_guessed() -> None:
    """So its chance is one in 2 to the number of rounds."""
    guess = conversation().receiver_secrets.bits
    ours = conversation().initiator_secrets
    shuffle, hashes, given = forged(conversation().shuffled.shuffle, ours.round_seeds, guess)
    shuffle_proof.verify(shuffle, hashes, guess, given)
    for number in range(8):
        other = bytes((guess[0] ^ 1 << number,))
        answers = shuffle_proof.answers(
            shuffle, other, ours.round_seeds, ours.mask, ours.permutation
        )
        with pytest.raises(DeckFault, match=r"^PD-5: "):
            shuffle_proof.verify(shuffle, hashes, other, answers)


@pytest.mark.parametrize(("changed", "rule"), [((3,), "PD-4"), ((3, 1), "PD-5"), ((3, 5), "PD-4")])
def test_the_first_round_that_is_wrong_is_named(changed: tuple[int, ...], rule: str) -> None:
    """Though all rounds before an answer that cannot be read are computed at once."""
    bits, ours = bytes([0b00001000]), conversation().initiator_secrets
    shuffle = conversation().shuffled.shuffle
    hashes = shuffle_proof.round_hashes(shuffle, ours.round_seeds)
    assert [bit(bits, number) for number in (1, 3, 5)] == [0, 1, 0]
    given = bytearray(
        shuffle_proof.answers(shuffle, bits, ours.round_seeds, ours.mask, ours.permutation)
    )
    starts = {1: 32, 3: 3 * 32 + 32, 5: 4 * 32 + 32 + 52}
    for number in changed:
        # Of a permutation, its first position becomes its second one.
        at = starts[number]
        given[at] = given[at + 1] if number == 3 else given[at] ^ 1
    with pytest.raises(DeckFault, match=rf"^{rule}: ") as raised:
        shuffle_proof.verify(shuffle, hashes, bits, bytes(given))
    assert f"round {min(changed)}" in str(raised.value)


def test_two_challenges_to_one_proof_would_give_the_shuffle_away() -> None:
    """This is why a prover answers once (PD-11, PD-12)."""
    ours = conversation().initiator_secrets
    shuffle = conversation().shuffled.shuffle
    secret = (ours.round_seeds, ours.mask, ours.permutation)
    seed = shuffle_proof.answers(shuffle, b"\0", *secret)[:32]
    joined = shuffle_proof.answers(shuffle, b"\1", *secret)[:84]
    mask = int.from_bytes(joined[:32], "big") * pow(seed_mask(TOY, seed), -1, TOY.order)
    order = dict(zip(permutation(seed), joined[32:], strict=True))
    assert mask % TOY.order == ours.mask
    assert tuple(order[at] for at in range(52)) == ours.permutation

    honest = conversation()
    side, _ = Preparation(honest.shuffled, 3).receive(3, honest.messages[3])
    other = Conversation(receiver_secrets=replace(honest.receiver_secrets, bits=b"\x5a"))
    with pytest.raises(DeckFault, match=r"^PD-11: "):
        side.receive(3, other.messages[3])


def test_a_mirrored_shuffle_is_noticed() -> None:
    """The receiver returns the initiator's pack and proof as its own."""
    bits = b"\x35"
    ours = replace(secrets("initiator"), bits=bits)
    theirs = replace(secrets("receiver"), bits=bits)
    honest = Conversation(initiator_secrets=ours, receiver_secrets=theirs)
    copied = honest.messages[2][64 : 64 + 53 * TOY.point_size + 32 * TERMS.rounds]
    locked, four = honest.shuffled.receive(bits + theirs.salt + copied)
    answers = four[33 : 33 + shuffle_proof.answers_size(bits)]
    with pytest.raises(DeckFault, match=r"^PD-5: "):
        locked.receive(answers + honest.messages[5][len(answers) :])


@dataclass(frozen=True)
class LockCase:
    """The initiator's true statement, its scalars and the nonces of its proof."""

    locks: Locks
    scalars: tuple[int, ...]
    nonces: tuple[int, ...]

    def check(self) -> None:
        lock_proof.verify(self.locks, lock_proof.prove(self.locks, self.scalars, self.nonces))


def lock_case(side: bytes) -> LockCase:
    honest = conversation()
    ours = honest.initiator_secrets if side == b"A" else honest.receiver_secrets
    inverse = pow(ours.mask, -1, TOY.order)
    scalars = tuple(lock * inverse % TOY.order for lock in ours.locks)
    deck = honest.initiators
    true = honest.locked.locks
    if side == b"B":
        base = honest.both_shuffled.ours.result_base
        true = Locks(TOY, true.deck, b"B", base, true.locked, deck.points, deck.receiver_keys)
    return LockCase(true, scalars, ours.lock_nonces)


def item(points: Pack, at: int, new: bytes) -> tuple[bytes, ...]:
    return (*points[:at], new, *points[at + 1 :])


LOCKS: dict[str, Callable[[Locks], Locks]] = {
    "a marked point": lambda one: replace(one, locked=item(one.locked, 1, times(2, one.locked[1]))),
    "the card of another position": lambda one: replace(
        one, locked=item(one.locked, 1, one.locked[2])
    ),
    "a card from beyond": lambda one: replace(one, locked=item(one.locked, 1, TOY.map(b"beyond"))),
    "swapped positions": lambda one: replace(
        one, locked=(one.locked[1], one.locked[0], *one.locked[2:])
    ),
    "a key of another lock": lambda one: replace(one, keys=item(one.keys, 1, one.keys[2])),
    "a copied key": lambda one: replace(one, keys=item(one.keys, 1, times(7, TOY.base))),
}


@pytest.mark.parametrize("side", [b"A", b"B"])
def test_honest_locks_pass(side: bytes) -> None:
    lock_case(side).check()


@pytest.mark.parametrize("side", [b"A", b"B"])
@pytest.mark.parametrize("change", LOCKS)
def test_a_false_lock_is_noticed(side: bytes, change: str) -> None:
    case = lock_case(side)
    with pytest.raises(DeckFault, match=r"^PD-7: "):
        replace(case, locks=LOCKS[change](case.locks)).check()


@pytest.mark.parametrize(
    "change",
    [
        lambda locks: replace(locks, prover=b"B"),
        lambda locks: replace(locks, deck=bytes(32)),
        lambda locks: replace(locks, mask_base=times(2, locks.mask_base)),
    ],
    ids=["the other side's", "another deck's", "another mask's"],
)
def test_a_proof_of_locks_holds_for_its_statement_only(change: Callable[[Locks], Locks]) -> None:
    case = lock_case(b"A")
    proof = lock_proof.prove(case.locks, case.scalars, case.nonces)
    lock_proof.verify(case.locks, proof)
    with pytest.raises(DeckFault, match=r"^PD-7: "):
        lock_proof.verify(change(case.locks), proof)


def continued(step: int, message: bytes) -> None:
    """A preparation in which one message comes from somewhere else."""
    honest = conversation()
    messages = [*honest.messages[:step], message]
    both, three = honest.started.receive(messages[2])
    locked, four = honest.shuffled.receive(messages[3] if step == 3 else three)
    _, five = both.receive(messages[4] if step == 4 else four)
    locked.receive(messages[5] if step == 5 else five)


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_messages_of_another_deck_are_refused(step: int) -> None:
    """Both sides have the same secrets, but the number is another one."""
    other = Conversation(terms=DeckTerms(bytes(32), 2, TERMS.positions, TERMS.rounds))
    continued(step, conversation().messages[step])
    with pytest.raises(DeckFault):
        continued(step, other.messages[step])


def test_a_permutation_is_drawn_without_bias() -> None:
    first = [permutation(number.to_bytes(32, "big"))[0] for number in range(2080)]
    expected = len(first) / 52
    spread = sum((first.count(card) - expected) ** 2 / expected for card in range(52))
    assert spread < 90  # 51 degrees of freedom: above 90 once in 1,600


@pytest.mark.parametrize("known", ["the lock", "the lock plus 1", "another key"])
def test_one_signature_by_a_lock_would_show_the_card(known: str) -> None:
    """PD-16: also one by a key at a known distance, as an unhardened derivation has it."""
    group, deck, card = real_group(), bytes(32), 17
    ours, theirs = 0x1234567, 0x89ABCDEF
    offset = {"the lock": 0, "the lock plus 1": 1, "another key": 0x55555}[known]
    cards = card_points(group, deck)
    (hidden,) = group.multiply([(ours * theirs, cards[card])])
    (behind,) = group.multiply([(pow(ours, -1, group.order), hidden)])
    key = PrivateKey.from_bytes((theirs + offset).to_bytes(32, "big"))
    image = AugSchemeMPL.sign(key, b"a message")
    message = AugSchemeMPL.g2_from_message(bytes(key.get_g1()) + b"a message")
    pair = G1Element.from_bytes(behind).pair(message)

    def fits(point: bytes) -> bool:
        """True if the card's point under the signing key, less the offset, is the hidden one."""
        one = G1Element.from_bytes(point)
        left = one.pair(image)
        return left == (pair * one.pair(message) if offset == 1 else pair)

    found = [number for number, point in enumerate(cards) if fits(point)]
    assert found == ([] if known == "another key" else [card])
