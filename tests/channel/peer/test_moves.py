"""Illegal moves: published as declared and slashed on the node; or refused, if no slash pays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import Accept, Batch, BatchAction, Move
from channelsim.clsp.values import Value, serialize
from channelsim.games.contract import Position
from channelsim.games.spacepoker.player import SpacePokerPlayer
from tests.channel.on_chain import Unroll, exists, games_of, restored_state, reward, take
from tests.channel.peer.hostile import published, refuse, stays_off
from tests.channel.table import (
    ANN,
    BALANCE,
    BEN,
    STAKE,
    UNIT,
    Cheat,
    Decide,
    Table,
    bet_or_call,
    broken_off,
    sit,
    wish,
)

Wrong = Callable[[Table, Move], Move]


def but(**changes: object) -> Wrong:
    return lambda table, move: replace(move, **changes)


def more(share: int) -> Wrong:
    return lambda table, move: replace(move, share=move.share + share)


def bytes_of(make: Callable[[bytes], bytes]) -> Wrong:
    return lambda table, move: replace(move, move=make(move.move))


def play_until(validator: str, *decide: Decide) -> tuple[Table, int, Move]:
    """A table at an honest move that this validator judges; its sender, and the move."""
    for sender in (ANN, BEN):
        table = sit().open().propose(ANN)
        try:
            batch = table.until_move(validator, sender, *decide)
        except AssertionError:
            continue
        (move,) = batch.actions
        assert isinstance(move, Move)
        return table, sender, move
    raise AssertionError(f"nobody ever moves at {validator}")


ILLEGAL: list[tuple[str, str, str, Wrong]] = [
    # what every move can have wrong
    *[
        (validator, "CH-MOVE-5", name, wrong)
        for validator in ("commitA", "commitB", "begin_round", "mid_round")
        for name, wrong in (
            ("a-size-less", lambda t, m: but(max_move_size=m.max_move_size - 1)(t, m)),
            ("a-size-more", lambda t, m: but(max_move_size=m.max_move_size + 1)(t, m)),
            ("no-size", but(max_move_size=0)),
            ("a-huge-size", but(max_move_size=(1 << 15) - 1)),
            ("another-commitment", but(commitment=bytes(32))),
            ("no-commitment", but(commitment=b"")),
        )
    ],
    ("end", "CH-MOVE-5", "a-commitment", but(commitment=bytes(32))),
    ("end", "CH-MOVE-5", "a-size", but(max_move_size=1)),
    # shares
    *[
        (validator, rule, name, more(share))
        for validator, rule in (
            ("commitA", "SP-COMMITA-2"),
            ("commitB", "SP-COMMITB-2"),
            ("begin_round", "SP-BEGIN-2"),
            ("mid_round", "SP-MID-1"),
        )
        for name, share in (("greedy", -1), ("generous", 1), ("very-greedy", -UNIT))
    ],
    ("end", "SP-END-5", "greedy", more(-1)),
    ("end", "SP-END-5", "takes-all", but(share=0)),
    # the moves themselves
    ("commitA", "SP-COMMITA-1", "short", bytes_of(lambda b: b[:31])),
    ("commitA", "SP-COMMITA-1", "empty", bytes_of(lambda b: b"")),
    ("commitB", "SP-COMMITB-1", "short", bytes_of(lambda b: b[1:])),
    ("begin_round", "SP-BEGIN-1", "short", bytes_of(lambda b: b[:31])),
    ("begin_round", "SP-BEGIN-3", "another-image", bytes_of(lambda b: bytes(32) + b[32:])),
    ("mid_round", "SP-MID-5", "short", bytes_of(lambda b: b[:31])),
    ("mid_round", "SP-MID-6", "another-image", bytes_of(lambda b: bytes(32))),
    ("mid_round", "SP-MID-3", "a-raise-below-nothing", bytes_of(lambda b: b + b"\xff")),
    ("mid_round", "SP-MID-2", "a-raise-in-more-bytes", bytes_of(lambda b: b + b"\x00\x01")),
    ("mid_round", "SP-MID-4", "a-raise-over-the-stake", bytes_of(lambda b: b + b"\x10\x00")),
    ("end", "SP-END-1", "short", bytes_of(lambda b: b[:16])),
    ("end", "SP-END-2", "another-preimage", bytes_of(lambda b: bytes(16) + b[16:])),
    ("end", "SP-END-3", "six-cards", bytes_of(lambda b: b[:16] + b"\x3f")),
    ("end", "SP-END-3", "the-eighth-card", bytes_of(lambda b: b[:16] + b"\x8f")),
    ("end", "SP-END-3", "no-cards", bytes_of(lambda b: b[:16] + b"\x00")),
]


@pytest.mark.parametrize(
    ("validator", "rule", "wrong"),
    [
        pytest.param(validator, rule, wrong, id=f"{validator}-{name}")
        for validator, rule, name, wrong in ILLEGAL
    ],
)
def test_an_illegal_move_is_slashed_for_everything(validator: str, rule: str, wrong: Wrong) -> None:
    table, sender, move = play_until(validator)
    slashed(table, sender, (wrong(table, move),), rule)


def slashed(
    table: Table, sender: int, actions: tuple[BatchAction, ...], rule: str, games: int = 1
) -> None:
    """The batch is refused, its state published, and each illegal move slashed on the node."""
    victim = 1 - sender
    before = table.ends[victim].play
    batch = Cheat(table, sender).batch(*actions)
    table.mail.clear()
    table.receive(victim, batch)
    end = table.ends[victim]
    news = broken_off(end)
    assert news.blame.rule == rule, news.blame
    # As declared, it is our newest now, and it is kept.
    newest = end.play.newest
    assert newest.state.number == before.state.number + 1 == news.published
    assert newest.state == Cheat(table, sender).state
    published(table, victim, news)
    stays_off(table, victim)
    record = restored_state(table, victim, newest.state.number)
    assert record.halves == (batch.channel_half, batch.unroll_half)
    dispute = end.peer.state.dispute
    assert dispute is not None
    assert tuple(dispute.slashable) == news.slashable
    assert len(news.slashable) == games
    # From here on nothing but the state and the evidence is used.
    unroll = Unroll(table, record)
    table.chain.farm()
    assert exists(table, unroll.coin)
    table.chain.farm(table.channel.unroll_timeout)
    take(table, unroll.time_out())
    won = 0
    for game in games_of(table, unroll):
        assert exists(table, game.coin)
        if game.game.game_id in dispute.slashable:
            evidence = dispute.slashable[game.game.game_id].evidence
            assert game.mover is table.ends[victim].peer.config.side
            take(table, game.slash(serialize(evidence.value), evidence.signature))
            won += game.amount
    assert reward(table, victim) == newest.state.balances[victim] + won
    assert reward(table, sender) == newest.state.balances[sender]


def test_a_greedy_showdown_of_a_pot_that_was_bet_is_slashed() -> None:
    table, sender, move = play_until("end", bet_or_call, bet_or_call)
    slashed(table, sender, (replace(move, share=move.share - 1),), "SP-END-5")


def test_a_showdown_with_the_wrong_five_cards_is_slashed_if_they_are_worse() -> None:
    """Declared as the winner by its best five, showing others."""
    table, sender, move = play_until("end")
    for mask in range(128):
        if mask.bit_count() == 5 and mask != move.move[16]:
            fork = table.fork()
            end = fork.ends[1 - sender]
            shown = replace(move, move=move.move[:16] + bytes([mask]))
            effects = fork.receive(1 - sender, Cheat(fork, sender).batch(shown))
            assert effects
            if end.peer.phase is Phase.ON_CHAIN:
                assert broken_off(end).blame.rule == "SP-END-5"
                return
    raise AssertionError("every five of the seven cards win")


def test_leaving_the_other_more_at_the_showdown_is_legal() -> None:
    table, sender, move = play_until("end")
    generous = replace(move, share=move.share + 1)
    table.receive(1 - sender, Cheat(table, sender).batch(generous))
    assert table.ends[1 - sender].peer.phase is Phase.PLAYING
    assert table.ends[1 - sender].state.balances[1 - sender] == BALANCE - STAKE + generous.share


def test_a_pong_that_dodges_the_toss_is_slashed() -> None:
    """A player that does not open has to pong: it cannot check instead."""
    for seed in ("one", "two", "three", "four", "five", "six"):
        table = sit(seed).open().propose(ANN)
        batch = table.until_move("begin_round", ANN)
        (move,) = batch.actions
        assert isinstance(move, Move)
        player = table.ends[BEN].play.players.get(0)
        assert isinstance(player, SpacePokerPlayer)
        if len(move.move) == 32 and table.ends[ANN].state.games[0].position.validator == (
            "begin_round"
        ):
            wrong = replace(move, move=move.move + b"\x01")
            slashed(table, ANN, (wrong,), "SP-BEGIN-4")
            return
    raise AssertionError("nobody ever ponged")


# --- two games -----------------------------------------------------------------------------------


def two_games() -> tuple[Table, Batch]:
    """Ann offered two games at once and is Alice in both: she commits in both."""
    table = sit().open().propose(ANN, wish(), wish(unit=50))
    return table, table.until_move("commitA", ANN)


def both_moves(batch: Batch) -> tuple[Move, Move]:
    first, second = batch.actions
    assert isinstance(first, Move)
    assert isinstance(second, Move)
    return first, second


def test_one_illegal_move_of_two_is_slashed_and_the_other_game_stands() -> None:
    for which in (0, 1):
        table, batch = two_games()
        moves = list(both_moves(batch))
        moves[which] = replace(moves[which], share=0)
        slashed(table, ANN, tuple(moves), "SP-COMMITA-2")


def test_two_illegal_moves_are_both_slashed() -> None:
    table, batch = two_games()
    first, second = both_moves(batch)
    wrong = (
        replace(first, share=0),
        replace(second, max_move_size=31),
    )
    slashed(table, ANN, wrong, "SP-COMMITA-2", games=2)


def test_an_illegal_move_beside_one_that_the_referee_refuses_is_not_slashed() -> None:
    table, batch = two_games()
    first, second = both_moves(batch)
    wrong = (
        replace(first, share=0),
        replace(second, share=100_000),
    )
    refuse(table, BEN, Cheat(table, ANN).batch(*wrong), "REF-MOVE-4")


@pytest.mark.parametrize("which", [0, 1])
def test_an_illegal_move_under_a_bad_half_is_not_slashed(which: int) -> None:
    table, sender, move = play_until("commitA")
    cheat = Cheat(table, sender)
    wrong = cheat.batch(replace(move, share=0))
    good = cheat.batch(move)
    halves = [(good.channel_half, wrong.unroll_half), (wrong.channel_half, good.unroll_half)]
    channel_half, unroll_half = halves[which]
    mixed = Batch(wrong.number, wrong.actions, channel_half, unroll_half)
    refuse(table, 1 - sender, mixed, ("CH-BATCH-4", "CH-BATCH-5")[which])


def test_an_illegal_move_beside_an_action_out_of_place_is_not_slashed() -> None:
    table, sender, move = play_until("commitB")
    wrong = replace(move, share=0)
    refuse(table, 1 - sender, Cheat(table, sender).batch(Accept(8), wrong), "CH-ACCEPT-1")


# --- what the referee would not let through ------------------------------------------------------

NOT_SLASHABLE: list[tuple[str, str, str, Wrong]] = [
    *[
        (validator, rule, name, wrong)
        for validator in ("commitA", "commitB", "begin_round", "mid_round", "end")
        for rule, name, wrong in (
            ("REF-MOVE-3", "too-long", bytes_of(lambda b: b + bytes(43 - min(len(b), 32)))),
            ("REF-MOVE-4", "more-than-there-is", but(share=2 * STAKE + 1)),
            ("REF-MOVE-9", "a-commitment-of-31-bytes", but(commitment=bytes(31))),
            ("REF-MOVE-9", "a-commitment-of-1-byte", but(commitment=b"\x00")),
        )
    ],
]


@pytest.mark.parametrize(
    ("validator", "rule", "name", "wrong"),
    NOT_SLASHABLE,
    ids=[f"{validator}-{name}" for validator, _, name, _ in NOT_SLASHABLE],
)
def test_what_the_referee_refuses_publishes_the_newest_good_state(
    validator: str, rule: str, name: str, wrong: Wrong
) -> None:
    table, sender, move = play_until(validator)
    table.mail.clear()
    refuse(table, 1 - sender, Cheat(table, sender).batch(wrong(table, move)), rule)


def test_a_move_in_a_game_that_is_over_is_refused() -> None:
    """The receiver of a terminal move settles; it must not move instead."""
    table, sender, move = play_until("end")
    ours = table.ends[sender].state
    assert ours.games[0].position.over
    wrong = Cheat(table, 1 - sender).batch(Move(move.game_id, b"", 0, 0, b""))
    refuse(table, sender, wrong, "REF-MOVE-2")


def test_a_move_that_no_evidence_of_ours_slashes_breaks_no_rule_we_could_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the showdown, evidence that is no selection proves nothing."""

    def nothing(self: SpacePokerPlayer, before: Position, move: bytes) -> tuple[Value, ...]:
        return (b"\xff",)

    table, sender, move = play_until("end")
    monkeypatch.setattr(SpacePokerPlayer, "evidence", nothing)
    refuse(table, 1 - sender, Cheat(table, sender).batch(move), "CH-MOVE-4")


# --- one bad action among good ones --------------------------------------------------------------


def test_a_batch_is_atomic() -> None:
    table = sit().open().propose(ANN, wish(), wish())
    batch = table.until_move("commitB", BEN)
    first, second = both_moves(batch)
    ben = Cheat(table, BEN)
    honest = table.fork()
    bad = ben.batch(first, replace(second, game_id=4))
    refuse(table, ANN, bad, "CH-MOVE-1")
    assert table.ends[ANN].play == honest.ends[ANN].play
    honest.receive(ANN, batch)
    assert [game.position.validator for game in honest.ends[ANN].state.games] != ["commitB"] * 2
    assert honest.ends[ANN].state.number > batch.number - 1


def test_play_state_is_immutable() -> None:
    """A batch is atomic: the state of play cannot be changed, only replaced."""
    table, _, _ = play_until("begin_round")
    play = table.ends[ANN].play
    assert isinstance(play, PlayState)
    with pytest.raises(AttributeError):
        play.potato = True  # type: ignore[misc]
    with pytest.raises(AttributeError):
        play.state.number = 9  # type: ignore[misc]
    with pytest.raises(AttributeError):
        play.state.games[0].position = None  # type: ignore[misc, assignment]
