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
from channelsim.games.deck.preparation import Stage
from channelsim.games.deck.secrets import challenge_commitment
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from tests.channel.peer.decks.high_card import TOY
from tests.channel.peer.decks.test_proposals import SETTINGS, prepare
from tests.channel.table import ANN, BEN, Table, sit
from tests.games.deck.test_cheats import LOCKS, SHUFFLES, Change

LockChange: TypeAlias = Callable[[Locks], Locks]

Cheat: TypeAlias = Callable[[DeckWork, DeckResult], DeckResult]
"""Changes the result of a step."""


@cache
def opened() -> Table:
    return sit("cheats", decks=SETTINGS).open()


def cheating(side: Side, cheat: Cheat) -> Table:
    """An open channel in which one side computes its steps dishonestly."""

    def computing(index: int, work: DeckWork) -> Callable[[], DeckResult]:
        random = Chance(bytes((index,)) + work.terms.encode()).bytes

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
