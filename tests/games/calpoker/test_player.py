"""One seat: what it may do on each turn, what it sends, what it learns and when, and what
nobody can learn from it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, deal
from channelsim.games.calpoker.player import KnownCards, committed_mask, discard_commit
from channelsim.games.contract import Action, Forced, Hand, Line, Play, Seat, Settle
from channelsim.games.errors import BadAdvisory, IllegalAction
from tests.games.calpoker.cal import GAME, cal, cards_of, deal_cards, giving, policy
from tests.games.table import Table

masks = st.sampled_from(sorted(FOUR_OF_EIGHT))
seeds = st.binary(max_size=8)
MINE, YOURS = 0b10010110, 0b01010101


def offers(table: Table) -> dict[str, bool]:
    choices = table.players[table.position.mover].choices()
    return {choice.verb: isinstance(choice, Forced) for choice in choices}


def through(
    seed: bytes | str, mine: int = MINE, yours: int = YOURS, *, advise: bool = True
) -> Table:
    return deal_cards(seed, advise=advise).play(giving(mine), giving(yours))


def test_choices_through_a_hand() -> None:
    table = deal_cards("choices")
    seen = []
    while table.payouts is None:
        seen.append((table.position.mover, offers(table)))
        table.step(table.next_action(giving(MINE), giving(YOURS)))
    decision = {"discard": False, "fold": False}
    assert seen == [
        (Seat.ALICE, {"commit": True}),
        (Seat.BOB, {"seed": True}),
        (Seat.ALICE, decision),
        (Seat.BOB, decision),
        (Seat.ALICE, {"reveal": True}),
        (Seat.BOB, {"accept": True}),
    ]
    assert [len(play.move) for play in table.sent] == [32, 16, 48, 1, 18]


@given(seeds)
def test_before_the_reveal_the_next_mover_has_no_share(seed: bytes) -> None:
    table = through(seed)
    assert [play.share for play in table.sent[:4]] == [0, 0, 0, 0]
    assert table.sent[4].share in (0, 1000, 2000)


@pytest.mark.parametrize(("validator", "seat"), [("c", Seat.ALICE), ("d", Seat.BOB)])
def test_a_player_that_folds_loses_the_hand(validator: str, seat: Seat) -> None:
    table = deal_cards("fold").until(validator, giving(MINE), giving(YOURS))
    assert table.position.mover is seat
    assert table.position.mover_share == 0
    assert "keep 0 mojos" in table.players[seat].choices()[1].hint
    assert table.players[seat].act(Action("fold")) == Settle()
    table.step(Action("fold"))
    assert table.payouts == ((0, 2000) if seat is Seat.ALICE else (2000, 0))


@pytest.mark.parametrize("validator", ["a", "b", "e"])
def test_a_player_that_omits_a_forced_move_loses_too(validator: str) -> None:
    table = deal_cards("fold").until(validator, giving(MINE), giving(YOURS))
    assert table.position.mover_share == 0


def test_an_action_that_is_not_offered_is_refused_with_the_choices() -> None:
    table = deal_cards("refused").until("c")
    alice, bob = table.players
    for action, reason in (
        (Action("discard"), "discard takes FOUR CARDS, by number or by name"),
        (Action("discard", 0b111), "discard takes"),
        (Action("discard", 0x1FF), "discard takes"),
        (Action("discard", -1), "discard takes"),
        (Action("fold", 1), "fold takes no amount"),
        (
            Action("call"),
            "cannot call now; possible: discard FOUR CARDS, by number or by name, fold",
        ),
        (Action(""), "cannot"),
    ):
        with pytest.raises(IllegalAction, match=reason) as refused:
            alice.act(action)
        assert "\n" not in str(refused.value)
    with pytest.raises(IllegalAction, match="the other player's turn"):
        bob.act(Action("discard", MINE))


# --- what is seen, and when ------------------------------------------------------------------


def test_both_see_the_deal_once_the_seed_is_known() -> None:
    advised, silent = (deal_cards("seen", advise=advise).until("c") for advise in (True, False))
    hands = cards_of(silent.players[0]).hands
    assert hands is not None
    assert [cards_of(player).hands for player in advised.players] == [hands, hands]
    assert cards_of(silent.players[1]).hands is None
    silent.step(Action("discard", MINE))
    assert cards_of(silent.players[1]).hands == hands


@given(seeds, masks, masks, st.booleans())
@settings(deadline=None)
def test_masks_become_known_one_by_one(seed: bytes, mine: int, yours: int, advise: bool) -> None:
    table = deal_cards(seed, advise=advise)
    known = []
    while table.payouts is None:
        known.append(tuple(cards_of(player).masks for player in table.players))
        table.step(table.next_action(giving(mine), giving(yours)))
    none = (None, None)
    assert known == [
        *((none, none),) * 3,
        ((mine, None), none),
        ((mine, yours), (None, yours)),
        ((mine, yours), (mine, yours)),
    ]
    alice, bob = (cards_of(player) for player in table.players)
    assert alice == bob
    assert alice.final is not None


# --- early reveals ---------------------------------------------------------------------------


def test_alice_reveals_her_preimage_ahead_and_nothing_else() -> None:
    table = deal_cards("ahead", advise=False)
    due = []
    while table.payouts is None:
        due.append(tuple(player.advisory() for player in table.players))
        table.step(table.next_action(giving(MINE), giving(YOURS)))
    preimage = cal(table.players[0]).half
    assert due == [*((None, None),) * 2, (preimage, None), *((None, None),) * 3]
    assert table.sent[2].move[:16] == preimage


def test_wrong_late_and_unasked_advisories_are_refused() -> None:
    table = deal_cards("wrong", advise=False)
    with pytest.raises(BadAdvisory, match="no early reveal"):
        table.players[Seat.BOB].advised(bytes(16))
    table.until("c")
    alice, bob = table.players
    good = alice.advisory()
    assert good is not None
    for data in (b"", bytes(16), good[:15], good + b"\0", cal(bob).half, b"x" * 10_000):
        with pytest.raises(BadAdvisory, match="does not open"):
            bob.advised(data)
    with pytest.raises(BadAdvisory, match="no early reveal"):
        alice.advised(good)
    advised = bob.advised(good)
    with pytest.raises(BadAdvisory, match="known already"):
        advised.advised(good)
    table.step(Action("discard", MINE))
    with pytest.raises(BadAdvisory, match="no early reveal"):
        table.players[Seat.BOB].advised(good)


# --- secrecy ---------------------------------------------------------------------------------


@given(seeds, masks, masks, masks)
@settings(deadline=None)
def test_no_byte_before_the_reveal_depends_on_the_choice(
    seed: bytes, one: int, other: int, yours: int
) -> None:
    """Two Alices that differ in their choice alone send the same bytes, but for a hash that
    nobody can open without 16 secret bytes, of which nothing was sent before."""
    tables = [deal_cards(seed).until("e", giving(mask), giving(yours)) for mask in (one, other)]
    sent = [[play.move for play in table.sent] for table in tables]
    assert [moves[:2] for moves in sent] == [sent[0][:2]] * 2
    assert sent[0][2][:16] == sent[1][2][:16]
    assert sent[0][3] == sent[1][3]
    shares = [[play.share for play in table.sent] for table in tables]
    assert shares[0] == shares[1] == [0, 0, 0, 0]
    salt = cal(tables[0].players[0]).salt
    for moves, mask in zip(sent, (one, other), strict=True):
        assert moves[2][16:] == discard_commit(salt, mask)
        public = b"".join(moves)
        assert not any(salt[i : i + 4] in public for i in range(13))
        # Without the salt no guess opens it: not with what is public, nor with nothing.
        for guess in (b"", bytes(16), public[:16], moves[1], moves[2][:16]):
            assert committed_mask(guess, moves[2][16:]) is None


@given(seeds, masks, masks, masks)
@settings(max_examples=25, deadline=None)
def test_bob_knows_and_sees_the_same_whatever_alice_chose(
    seed: bytes, one: int, other: int, yours: int
) -> None:
    """But for the hash: the rest of what he knows, sees and does is equal to the last bit."""
    known = []
    for mask in (one, other):
        table = deal_cards(seed).until("e", giving(mask), giving(yours))
        lines = [GAME.story.step(partial, Seat.BOB) for partial in growing(table)]
        bob = cal(table.players[1])
        views = [GAME.story.view(step.players[1]) for step in table.steps]
        decision = policy("best-response", seed)(table.steps[3].players_before[1])
        hidden = msgspec.structs.replace(bob, position=table.steps[1].after)
        known.append((lines, views, decision, hidden))
    assert known[0] == known[1]


def growing(table: Table) -> list[Hand]:
    return [replace(table.hand, steps=tuple(table.steps[: i + 1])) for i in range(len(table.steps))]


def test_alices_own_lines_show_the_choice() -> None:
    lines: list[list[Line]] = []
    for mask in (0x0F, 0xF0):
        table = deal_cards("told").until("d", giving(mask), giving(YOURS))
        lines.append(GAME.story.step(table.hand, Seat.ALICE))
    assert lines[0] != lines[1]


def test_the_salt_is_in_no_other_secret() -> None:
    table = through("salt")
    alice = cal(table.players[0])
    assert alice.salt != alice.half
    assert table.sent[0].move == sha256(alice.half).digest()
    assert table.sent[4].move[:16] == alice.salt
    assert cards_of(alice).hands == deal(alice.half, cal(table.players[1]).half, 2000)


def test_an_alice_without_her_salt_cannot_reveal() -> None:
    table = deal_cards("lost").until("e", giving(MINE), giving(YOURS))
    lost = msgspec.structs.replace(cal(table.players[0]), salt=bytes(16), cards=KnownCards())
    with pytest.raises(IllegalAction, match="not mine"):
        lost.act(Action("reveal"))


def test_evidence_is_bobs_alone_and_only_against_a_reveal() -> None:
    table = deal_cards("evidence")
    while table.payouts is None:
        before = table.position
        action = table.next_action(giving(MINE), giving(YOURS))
        play = table.players[before.mover].act(action)
        if isinstance(play, Play):
            held = [player.evidence(before, play.move) for player in table.players]
            assert held[before.mover] == ()
            assert len(held[before.mover.other]) == (1 if before.validator == "e" else 0)
            if before.validator == "e":
                for bad in (b"", play.move[:17], play.move[:16] + b"\xff\x1f"):
                    assert table.players[1].evidence(before, bad) == ()
        table.step(action)
