"""Cheats in the preparation of a deck, between two peers: it is burnt by a named rule.

One side computes its steps with a changed pack or lock, and proves what it can; both peers are the
real ones. The rows are those of the prepared deck's table of ways to cheat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import pytest

from channelsim.channel.peer.interface import BrokenOff, DeckBurnt
from channelsim.channel.protocol.state import Side
from channelsim.games.chance import Chance
from channelsim.games.deck import initiator, lock_proof, receiver, shuffle_proof
from channelsim.games.deck.lock_proof import Locks
from channelsim.games.deck.secrets import Random, challenge_commitment
from channelsim.games.deck.terms import DeckTerms
from channelsim.games.deck.work import DeckResult, DeckWork, Stage, compute
from tests.channel.peer.decks.high_card import TOY
from tests.channel.peer.decks.test_proposals import SETTINGS, prepare
from tests.channel.table import ANN, BEN, Table, sit
from tests.games.deck.test_cheats import LOCKS, SHUFFLES, Change, forged

LockChange: TypeAlias = Callable[[Locks], Locks]

Cheat: TypeAlias = Callable[[DeckWork, DeckResult], DeckResult]
"""Changes the result of a step."""

Draws: TypeAlias = Callable[[Side, DeckTerms], Random]
"""Where the secrets of a side come from."""


@cache
def opened() -> Table:
    return sit("cheats", decks=SETTINGS).open()


def drawn(side: Side, terms: DeckTerms) -> Random:
    """The secrets of a side in a deck."""
    return Chance(bytes((side,)) + terms.encode()).bytes


def cheating(side: Side, cheat: Cheat, draws: Draws = drawn) -> Table:
    """An open channel in which one side computes its steps dishonestly."""

    def computing(index: int, work: DeckWork) -> Callable[[], DeckResult]:
        random = draws(Side(index), work.terms)

        def result() -> DeckResult:
            honest = compute(work, random)
            return cheat(work, honest) if index == side and honest.after else honest

        return result

    first, second = opened().ends
    return Table(opened().chain, (first.fork(), second.fork()), computing=computing)


def shuffles(side: Side, change: Change) -> Cheat:
    """Change the pack of a side's shuffle, and prove the shuffle that was not made."""

    def cheat(work: DeckWork, honest: DeckResult) -> DeckResult:
        stage = honest.after.stage if honest.after else None
        if isinstance(stage, initiator.Shuffled) and work.step == 1:
            secrets, true = stage.secrets, stage.shuffle
            pack, base = change(true.result, true.result_base)
            false = replace(true, result=tuple(pack), result_base=base)
            hashes = shuffle_proof.round_hashes(false, secrets.round_seeds)
            challenge = challenge_commitment(
                work.terms, b"A", stage.receiver_nonce, secrets.bits, secrets.salt
            )
            answer = b"".join((secrets.nonce, challenge, base, *pack, *hashes))
            return changed(honest, replace(stage, shuffle=false), answer)
        if isinstance(stage, receiver.Shuffled) and work.step == 2:
            secrets, true = stage.secrets, stage.ours
            pack, base = change(true.result, true.result_base)
            false = replace(true, result=tuple(pack), result_base=base)
            hashes = shuffle_proof.round_hashes(false, secrets.round_seeds)
            answer = b"".join((secrets.bits, secrets.salt, base, *pack, *hashes))
            return changed(honest, replace(stage, ours=false), answer)
        return honest

    return cheat


def locks(side: Side, change: LockChange) -> Cheat:
    """Change a side's locks, and prove those that were not made."""

    def cheat(work: DeckWork, honest: DeckResult) -> DeckResult:
        before = work.before.stage if work.before else None
        if isinstance(before, initiator.Shuffled) and honest.after and work.step == 3:
            stage = honest.after.stage
            assert isinstance(stage, initiator.Locked)
            false = change(stage.locks)
            return changed(honest, replace(stage, locks=false), relocked(before, false, honest))
        if isinstance(before, receiver.Shuffled) and honest.after and work.step == 4:
            deck = honest.after.finished
            assert deck is not None
            base = before.ours.result_base
            theirs = work.message
            at = len(theirs) - lock_proof.proof_size(4) - 8 * TOY.point_size
            source = [theirs[at + 8 * one : at + 8 * one + 8] for one in range(4)]
            true = Locks(TOY, deck.deck, b"B", base, source, deck.points, deck.receiver_keys)
            return replace(honest, answer=relocked(before, change(true), honest))
        return honest

    return cheat


def relocked(
    before: initiator.Shuffled | receiver.Shuffled, false: Locks, honest: DeckResult
) -> bytes:
    """The honest message with other locks, and the proof that its maker can give."""
    secrets = before.secrets
    inverse = pow(secrets.mask, -1, TOY.order)
    scalars = [lock * inverse % TOY.order for lock in secrets.locks]
    proof = lock_proof.prove(false, scalars, secrets.lock_nonces)
    size = len(proof) + 2 * len(scalars) * TOY.point_size
    return b"".join((honest.answer[:-size], *false.locked, *false.keys, proof))


def changed(honest: DeckResult, stage: Stage, answer: bytes) -> DeckResult:
    assert honest.after is not None
    return replace(honest, after=replace(honest.after, stage=stage), answer=answer)


def check_burnt(table: Table, cheat: Side, rule: str) -> None:
    """The honest side burns the deck with this rule; the channel goes on on both sides."""
    prepare(table)
    honest = table.ends[cheat.other]
    assert [one.rule for one in honest.news if isinstance(one, DeckBurnt)] == [rule]
    assert not honest.play.decks.ready
    for end in table.ends:
        assert not end.news_of(BrokenOff)
        assert not end.play.decks.ready


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_false_shuffle_burns_the_deck(side: Side, name: str) -> None:
    check_burnt(cheating(side, shuffles(side, SHUFFLES[name])), side, "PD-5")


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("name", LOCKS)
def test_a_false_lock_burns_the_deck(side: Side, name: str) -> None:
    check_burnt(cheating(side, locks(side, LOCKS[name])), side, "PD-7")


@pytest.mark.parametrize("side", [ANN, BEN])
def test_an_unchanged_deck_is_finished(side: Side) -> None:
    """So that the cheats fail for what they change."""
    unchanged = (
        shuffles(side, lambda pack, base: (pack, base)),
        locks(side, lambda true: true),
    )
    for cheat in unchanged:
        table = prepare(cheating(side, cheat))
        assert [[*end.play.decks.ready] for end in table.ends] == [[1], [1]]


def guessing(right: bool) -> Cheat:
    """Prove a pack with a duplicate by a guess of the receiver's challenge."""
    given = b""

    def cheat(work: DeckWork, honest: DeckResult) -> DeckResult:
        nonlocal given
        stage = honest.after.stage if honest.after else None
        if isinstance(stage, initiator.Shuffled):
            random = drawn(BEN, work.terms)
            random(32)
            bits = random(1) if right else bytes((random(1)[0] ^ 1,))
            false, hashes, given = forged(stage.shuffle, stage.secrets.round_seeds, bits)
            head = honest.answer[: 64 + TOY.point_size]
            answer = b"".join((head, *false.result, *hashes))
            return changed(honest, replace(stage, shuffle=false), answer)
        answer = honest.answer[:33] + given + honest.answer[33 + len(given) :]
        return replace(honest, answer=answer) if right and work.step == 3 else honest

    return cheat


def test_only_a_guess_of_the_whole_challenge_passes() -> None:
    """The chance is one in 2 to the number of rounds, which is 8 here."""
    check_burnt(cheating(ANN, guessing(right=False)), ANN, "PD-5")
    table = prepare(cheating(ANN, guessing(right=True)))
    assert [[*end.play.decks.ready] for end in table.ends] == [[1], [1]]


RELATED: dict[str, Callable[[shuffle_proof.Shuffle], Change]] = {
    "the other side's key": lambda theirs: lambda pack, base: (pack, theirs.result_base),
    "the other side's pack": lambda theirs: lambda pack, base: (theirs.result, theirs.result_base),
    "the other side's mask undone": lambda theirs: lambda pack, base: (theirs.source, TOY.base),
}
"""What the receiver can make of the initiator's shuffle without knowing its mask."""


@pytest.mark.parametrize("name", RELATED)
def test_a_shuffle_related_to_the_other_side_s_burns_the_deck(name: str) -> None:
    def cheat(work: DeckWork, honest: DeckResult) -> DeckResult:
        stage = honest.after.stage if honest.after else None
        if isinstance(stage, receiver.Shuffled):
            return shuffles(BEN, RELATED[name](stage.theirs))(work, honest)
        return honest

    check_burnt(cheating(BEN, cheat), BEN, "PD-5")


def weak(side: Side) -> Draws:
    """One side's mask and all its locks are 1."""

    def draws(index: Side, terms: DeckTerms) -> Random:
        random = drawn(index, terms)
        return lambda size: bytes(64) if (index, size) == (side, 64) else random(size)

    return draws


@pytest.mark.parametrize("side", [ANN, BEN])
def test_weak_secrets_harm_only_their_owner(side: Side) -> None:
    """Its own locks are no secret then, those of the other side still are."""
    table = prepare(cheating(side, lambda work, honest: honest, weak(side)))
    decks = [end.play.decks.ready[1] for end in table.ends]
    ours, theirs = decks[side], decks[side.other]
    keys = (theirs.initiator_keys, theirs.receiver_keys)
    assert set(ours.own_locks) == {1}
    assert set(keys[side]) == {TOY.base}
    assert len(set(keys[side.other])) == len(set(theirs.points)) == SETTINGS.positions
