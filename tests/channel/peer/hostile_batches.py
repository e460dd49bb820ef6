"""Hostile batches, and the rest of what can be said wrong while two peers play."""

from __future__ import annotations

from collections.abc import Callable

from chia_rs import G2Element
from msgspec.structs import replace

from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import CancelGames, Close, ProposeGames
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Message,
    Move,
    Propose,
    Request,
    Settle,
    Shutdown,
    ShutdownDone,
    decode,
)
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.contract import Action, Play
from channelsim.games.judge import commitment, own_move
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.peer.hostile_opening import ANY_MESSAGE, minus
from tests.channel.table import ANN, BALANCE, BEN, GAME, HASHES, Cheat, Table, sit, wish

CASES = Cases()


def case(rule: str) -> Callable[[Callable[[], Hostile]], Callable[[], Hostile]]:
    return CASES.add(rule)


def offers(cheat: Cheat, *ids: int, stack: int = 1) -> Propose:
    """A right proposal of games with these ids."""
    return Propose(
        tuple(
            offer_of(cheat.table.channel, cheat.side, game_id, wish(stack=stack)) for game_id in ids
        )
    )


def ben_has_the_potato() -> Cheat:
    """Nothing has been played; Ben cheats."""
    return Cheat(sit().open(), BEN)


def ann_has_the_potato() -> Cheat:
    """Ben sent an empty batch, because he was asked to; Ann cheats."""
    table = sit().open()
    table.receive(BEN, Request())
    table.pump()
    return Cheat(table, ANN)


def in_a_game(cheat: int, validator: str = "begin_round") -> tuple[Cheat, Batch]:
    """A game in which it is the cheat's turn, and what it would honestly send.

    Ann is Alice, so that she commits first, and Ben second.
    """
    table = sit().open().propose(ANN)
    sender = {"commitA": ANN, "commitB": BEN}.get(validator, cheat)
    return Cheat(table, sender), table.until_move(validator, sender)


def sent(cheat: Cheat, *actions: BatchAction, number: int | None = None) -> Hostile:
    return cheat.table, 1 - cheat.index, cheat.batch(*actions, number=number)


# --- the batch itself --------------------------------------------------------------------------


@case("CH-BATCH-1")
def a_batch_while_the_victim_holds_the_potato() -> Hostile:
    return sent(Cheat(sit().open(), ANN))


@case("CH-BATCH-1")
def a_second_batch_after_the_first() -> Hostile:
    cheat = ben_has_the_potato()
    cheat.send(cheat.batch())
    return sent(cheat)


@case("CH-BATCH-1")
def a_batch_in_answer_to_a_proposal_that_the_victim_thinks_about() -> Hostile:
    cheat = ben_has_the_potato()
    cheat.send(cheat.batch(offers(cheat, 1)))
    return sent(cheat, Cancel(1, "I changed my mind"))


@case("CH-BATCH-1")
def an_old_batch_again_while_the_victim_holds_the_potato() -> Hostile:
    table = sit().open().propose(BEN).pump()
    old = table.sent[-1][1]
    table.command(ANN, CancelGames(1, "no"))
    table.pump().propose(BEN).pump()
    assert table.ends[ANN].play.potato
    return table, ANN, old


for _number in (1 << 20, 4, 5):

    def _numbered(number: int) -> Hostile:
        return sent(ben_has_the_potato(), number=number)

    CASES.put("CH-BATCH-2", f"number-{_number}", _numbered, _number)


def _after_a_few(more: int) -> Hostile:
    """Ann gave the potato back, because she was asked to."""
    table = sit().open().propose(BEN).pump()
    table.receive(ANN, Request())
    table.mail.clear()
    cheat = Cheat(table, BEN)
    return sent(cheat, offers(cheat, 3), number=table.ends[ANN].state.number + more)


for _more, _name in ((0, "the-victims"), (-1, "the-last-of-its-own"), (3, "one-skipped")):
    CASES.put("CH-BATCH-2", f"number-{_name}", _after_a_few, _more)


@case("CH-BATCH-3")
def accept_before_cancel() -> Hostile:
    cheat = _two_proposals()
    return sent(cheat, Accept(0), Cancel(2, "no"))


@case("CH-BATCH-3")
def propose_before_cancel() -> Hostile:
    cheat = _two_proposals()
    return sent(cheat, offers(cheat, 1), Cancel(0, "no"))


@case("CH-BATCH-3")
def propose_before_accept() -> Hostile:
    cheat = _two_proposals()
    return sent(cheat, offers(cheat, 1), Accept(0))


@case("CH-BATCH-3")
def move_before_settle() -> Hostile:
    cheat, honest = in_a_game(ANN)
    return sent(cheat, *honest.actions, Settle(0))


@case("CH-BATCH-3")
def propose_before_move() -> Hostile:
    cheat, honest = in_a_game(ANN)
    return sent(cheat, offers(cheat, 2), *honest.actions)


@case("CH-BATCH-3")
def cancel_before_settle() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat, Cancel(0, "no"), Settle(0))


def _two_proposals() -> Cheat:
    """Ann proposed two games, 0 and 2; Ben, who cheats, has the potato."""
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch())
    table.propose(ANN, wish()).mail.clear()
    ben.send(ben.batch())
    table.propose(ANN, wish()).mail.clear()
    return ben


# --- halves ------------------------------------------------------------------------------------

Wrong = Callable[[Cheat, ChannelState], tuple[bytes, bytes]]


def _older(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return cheat.halves(cheat.state)


def _richer(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    first, second = state.balances
    return cheat.halves(replace(state, balances=(first - 1, second + 1)))


def _without_games(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return cheat.halves(ChannelState(state.number, (BALANCE, BALANCE)))


def _next(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return cheat.halves(replace(state, number=state.number + 1))


def _of_nothing(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return NO_SIGNATURE, NO_SIGNATURE


def _no_point(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return bytes(96), b"\xff" * 96


def _swapped(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    first, second = cheat.halves(state)
    return second, first


def _shifted(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    first, second = (G2Element.from_bytes(half) for half in cheat.halves(state))
    by = G2Element.generator()
    return bytes(first + by), bytes(second + minus(by))


def _plain(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    on_chain = cheat.table.channel.on_chain(state)
    return (
        bls.sign(cheat.keys.channel, on_chain.channel_message),
        bls.sign(cheat.keys.unroll, on_chain.unroll_message),
    )


def _the_victims(cheat: Cheat, state: ChannelState) -> tuple[bytes, bytes]:
    return Cheat(cheat.table, 1 - cheat.index).halves(state)


WRONG_HALVES: dict[str, Wrong] = {
    "of-the-state-before": _older,
    "of-other-balances": _richer,
    "of-the-state-after": _next,
    "of-nothing": _of_nothing,
    "no-point": _no_point,
    "swapped": _swapped,
    "shifted": _shifted,
    "without-the-sum-in-front": _plain,
    "by-the-victims-own-key": _the_victims,
}


def _bad_halves(wrong: Wrong, which: int | None, playing: bool) -> Hostile:
    if playing:
        cheat, honest = in_a_game(ANN)
        actions = honest.actions
    else:
        cheat, actions = ben_has_the_potato(), ()
    state = cheat.after(actions)
    good, bad = cheat.halves(state), wrong(cheat, state)
    channel_half = good[0] if which == 1 else bad[0]
    unroll_half = good[1] if which == 0 else bad[1]
    return cheat.table, 1 - cheat.index, Batch(state.number, actions, channel_half, unroll_half)


for _name, _wrong in WRONG_HALVES.items():
    for _which, _label in ((0, "channel-half"), (1, "unroll-half"), (None, "both")):
        CASES.put(
            "CH-BATCH-5" if _which == 1 else "CH-BATCH-4",
            f"{_label}-{_name}",
            _bad_halves,
            _wrong,
            _which,
            False,
        )


@case("CH-BATCH-4")
def halves_that_forget_a_game() -> Hostile:
    return _bad_halves(_without_games, None, True)


# --- moves owed --------------------------------------------------------------------------------


@case("CH-BATCH-6")
def the_potato_back_without_the_move_and_unasked() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat)


@case("CH-BATCH-6")
def a_proposal_instead_of_the_move() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat, offers(cheat, 2))


# --- settle ------------------------------------------------------------------------------------


@case("CH-SETTLE-1")
def settle_a_game_that_never_was() -> Hostile:
    return sent(ben_has_the_potato(), Settle(0))


@case("CH-SETTLE-1")
def settle_twice() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat, Settle(0), Settle(0))


@case("CH-SETTLE-1")
def settle_what_is_only_proposed() -> Hostile:
    return sent(_two_proposals(), Settle(0))


@case("CH-SETTLE-1")
def settle_what_was_settled_before() -> Hostile:
    table = sit().open().propose(ANN).go_on()
    return sent(Cheat(table, table.holder()), Settle(0))


@case("CH-SETTLE-2")
def settle_in_the_others_turn() -> Hostile:
    return sent(_holder_without_the_turn(), Settle(0))


def _holder_without_the_turn() -> Cheat:
    """Ann thinks in a game, gives the potato to Ben, who asked for it, and who cheats."""
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    table.receive(ANN, Request())
    table.mail.clear()
    return Cheat(table, BEN)


# --- cancel and accept -------------------------------------------------------------------------


@case("CH-CANCEL-1")
def cancel_what_nobody_proposed() -> Hostile:
    return sent(ben_has_the_potato(), Cancel(0, "no"))


@case("CH-CANCEL-1")
def cancel_twice() -> Hostile:
    return sent(_two_proposals(), Cancel(0, "no"), Cancel(0, "no"))


@case("CH-CANCEL-1")
def cancel_a_live_game() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat, Cancel(0, "no"))


@case("CH-CANCEL-1")
def cancel_by_the_id_of_a_groups_second_game() -> Hostile:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch())
    table.propose(ANN, wish(), wish()).mail.clear()
    return sent(ben, Cancel(2, "no"))


@case("CH-ACCEPT-1")
def accept_what_nobody_proposed() -> Hostile:
    return sent(ben_has_the_potato(), Accept(0))


@case("CH-ACCEPT-1")
def accept_twice() -> Hostile:
    return sent(_two_proposals(), Accept(0), Accept(0))


@case("CH-ACCEPT-1")
def accept_what_the_same_batch_cancels() -> Hostile:
    return sent(_two_proposals(), Cancel(0, "no"), Accept(0))


@case("CH-ACCEPT-1")
def accept_half_a_group() -> Hostile:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch())
    table.propose(ANN, wish(), wish()).mail.clear()
    return sent(ben, Accept(2))


@case("CH-ACCEPT-1")
def accept_the_live_game() -> Hostile:
    cheat, _ = in_a_game(ANN)
    return sent(cheat, Accept(0))


@case("CH-ACCEPT-2")
def accept_the_own_proposal() -> Hostile:
    cheat = ben_has_the_potato()
    cheat.send(cheat.batch(offers(cheat, 1)))
    cheat.table.receive(ANN, Request())
    return sent(cheat, Accept(1))


@case("CH-ACCEPT-3")
def accept_more_than_a_balance_covers() -> Hostile:
    """Ann offers three games of half the balances each; Ben takes all three."""
    table = sit().open()
    ben = Cheat(table, BEN)
    for _ in range(3):
        ben.send(ben.batch())
        table.propose(ANN, wish(stack=25)).mail.clear()
    return sent(ben, Accept(0), Accept(2), Accept(4))


@case("CH-ACCEPT-3")
def accept_a_group_that_is_more_than_a_balance() -> Hostile:
    table = sit().open()
    ben = Cheat(table, BEN)
    ben.send(ben.batch())
    table.propose(ANN, wish(stack=30), wish(stack=30)).mail.clear()
    return sent(ben, Accept(0))


@case("CH-ACCEPT-4")
def accept_more_than_a_hundred_games() -> Hostile:
    table = sit().open()
    ben = Cheat(table, BEN)
    small = [wish(unit=1, stack=2)] * 60
    ben.send(ben.batch())
    table.propose(ANN, *small).mail.clear()
    ben.send(ben.batch(Accept(0)))
    table.mail.clear()
    ann = table.ends[ANN]
    # Ann commits in sixty games, and proposes forty-one more.
    assert len(ann.state.games) == 60
    return _forty_one_more(table)


def _forty_one_more(table: Table) -> Hostile:
    ben, ann = Cheat(table, BEN), table.ends[ANN]
    table.receive(ANN, Request())
    table.mail.clear()
    moves = [_commit_b(ben, game.id) for game in ann.state.games]
    ben.send(ben.batch(*moves))
    ann.peer.handle(ProposeGames((wish(unit=1, stack=2),) * 41))
    table.receive(ANN, Request())
    table.mail.clear()
    return sent(ben, Accept(120))


def _commit_b(cheat: Cheat, game_id: int) -> Move:
    """Bob's commitment, as an honest player makes it."""
    game = cheat.state.game(game_id)
    assert game is not None
    table = cheat.end.peer.state.endpoint
    assert table is not None
    player = table.new_player(game).moved(game.position)
    play = player.act(Action("commit"))
    assert isinstance(play, Play)
    step = own_move(GAME, HASHES, game.position, game.coin.amount, play)
    assert step is not None
    return Move(game_id, play.move, play.share, step.max_move_size, commitment(step, HASHES))


# --- moves that are out of place -----------------------------------------------------------------


@case("CH-MOVE-1")
def move_in_a_game_that_never_was() -> Hostile:
    return sent(ben_has_the_potato(), Move(0, b"", 0, 0, b""))


@case("CH-MOVE-1")
def move_in_a_game_that_the_same_batch_settles() -> Hostile:
    cheat, honest = in_a_game(ANN)
    return sent(cheat, Settle(0), *honest.actions)


@case("CH-MOVE-1")
def move_in_a_game_that_is_only_proposed() -> Hostile:
    return sent(_two_proposals(), Move(0, bytes(32), 0, 32, bytes(32)))


@case("CH-MOVE-2")
def move_in_the_others_turn() -> Hostile:
    return sent(_holder_without_the_turn(), Move(0, bytes(32), 900, 42, bytes(32)))


@case("CH-MOVE-2")
def move_for_the_other_in_a_game_just_accepted() -> Hostile:
    return sent(_two_proposals(), Accept(0), Move(0, bytes(32), 1000, 32, bytes(32)))


@case("CH-MOVE-3")
def move_twice() -> Hostile:
    cheat, honest = in_a_game(ANN)
    return sent(cheat, *honest.actions, *honest.actions)


@case("CH-MOVE-3")
def move_for_both_sides() -> Hostile:
    cheat, honest = in_a_game(ANN)
    return sent(cheat, *honest.actions, Move(0, bytes(32), 900, 42, bytes(32)))


# --- proposals ---------------------------------------------------------------------------------


def _proposed(*ids: int, sender: int = BEN) -> Hostile:
    cheat = ben_has_the_potato() if sender == BEN else ann_has_the_potato()
    return sent(cheat, offers(cheat, *ids))


for _rule, _sender, _ids in (
    ("CH-PROPOSE-1", BEN, (0,)),
    ("CH-PROPOSE-1", ANN, (1,)),
    ("CH-PROPOSE-1", BEN, (1, 2)),
    ("CH-PROPOSE-2", BEN, (2003,)),
    ("CH-PROPOSE-2", ANN, (2002,)),
    ("CH-PROPOSE-2", BEN, (1, 1)),
    ("CH-PROPOSE-2", BEN, (3, 1)),
    ("CH-PROPOSE-2", BEN, (1, 2005)),
):
    CASES.put(
        _rule,
        f"ids-{'-'.join(map(str, _ids))}-of-{'ab'[_sender]}",
        _proposed,
        *_ids,
        sender=_sender,
    )


@case("CH-PROPOSE-2")
def an_id_used_before() -> Hostile:
    cheat = ben_has_the_potato()
    return sent(cheat, offers(cheat, 1), offers(cheat, 1))


@case("CH-PROPOSE-2")
def the_id_of_a_cancelled_proposal() -> Hostile:
    cheat = ben_has_the_potato()
    cheat.send(cheat.batch(offers(cheat, 5)))
    cheat.table.ends[ANN].peer.handle(CancelGames(5, "no"))
    return sent(cheat, offers(cheat, 5))


@case("CH-PROPOSE-3")
def a_hundred_and_one_at_once() -> Hostile:
    cheat = ben_has_the_potato()
    return sent(cheat, offers(cheat, *range(1, 201, 2)), offers(cheat, 201))


WRONG_RECORDS: dict[str, dict[str, object]] = {
    "amount": {"amount": 1999},
    "stake-of-the-other": {"stakes": (101, 100)},
    "stakes-all-of-the-victim": {"stakes": (200, 0)},
    "commitment": {"commitment": bytes(32)},
    "max-move-size": {"max_move_size": 31},
    "mover-share": {"mover_share": 1},
    "parameters": {"parameters": {"amount": 400, "bet_unit": 100}},
    "bet-unit": {"parameters": {"amount": 200, "bet_unit": 50}},
}


def _wrong_record(changes: dict[str, object], second: bool) -> Hostile:
    cheat = ben_has_the_potato()
    first, other = offers(cheat, 1, 3).offers
    if second:
        other = replace(other, **changes)
    else:
        first = replace(first, **changes)
    return sent(cheat, Propose((first, other)))


for _name, _changes in WRONG_RECORDS.items():
    for _second in (False, True):
        CASES.put(
            "CH-PROPOSE-4",
            f"another-{_name}{'-in-the-second' if _second else ''}",
            _wrong_record,
            _changes,
            _second,
        )


# --- shutdown ----------------------------------------------------------------------------------


def shutdown_half(cheat: Cheat, state: ChannelState | None = None) -> Shutdown:
    channel = cheat.table.channel
    balances = (state or cheat.state).balances
    message = channel.shutdown_message(ChannelState(0, balances))
    return Shutdown(bls.sign_half(cheat.keys.channel, message, channel.channel_key))


def _shutdown(cheat: Cheat, message: Message | None = None) -> Hostile:
    return cheat.table, 1 - cheat.index, message or shutdown_half(cheat)


@case("CH-SHUT-1")
def a_shutdown_by_who_does_not_hold_the_potato() -> Hostile:
    return _shutdown(Cheat(sit().open(), ANN))


@case("CH-SHUT-2")
def a_shutdown_with_a_live_game() -> Hostile:
    cheat, _ = in_a_game(ANN)
    state = ChannelState(0, (BALANCE, BALANCE))
    return _shutdown(cheat, shutdown_half(cheat, state))


def _wrong_shutdown(first: int) -> Hostile:
    cheat = ben_has_the_potato()
    state = ChannelState(0, (BALANCE - first, BALANCE + first))
    return _shutdown(cheat, shutdown_half(cheat, state))


for _first in (-1, 1, BALANCE):
    CASES.put("CH-SHUT-3", f"other-balances-{_first}", _wrong_shutdown, _first)


@case("CH-SHUT-3")
def a_shutdown_half_of_an_older_states_balances() -> Hostile:
    table = sit().open().propose(ANN).go_on()
    cheat = Cheat(table, table.holder())
    assert table.ends[ANN].state.balances != (BALANCE, BALANCE)
    return _shutdown(cheat, shutdown_half(cheat, ChannelState(0, (BALANCE, BALANCE))))


@case("CH-SHUT-3")
def a_shutdown_half_of_nothing() -> Hostile:
    return _shutdown(ben_has_the_potato(), Shutdown(NO_SIGNATURE))


@case("CH-SHUT-3")
def a_shutdown_half_that_is_no_point() -> Hostile:
    return _shutdown(ben_has_the_potato(), Shutdown(bytes(96)))


@case("CH-SHUT-3")
def a_shutdown_half_by_the_unroll_key() -> Hostile:
    cheat = ben_has_the_potato()
    channel = cheat.table.channel
    message = channel.shutdown_message(cheat.state)
    half = bls.sign_half(cheat.keys.unroll, message, channel.channel_key)
    return _shutdown(cheat, Shutdown(half))


@case("CH-SHUT-3")
def a_shutdown_half_that_is_the_batchs() -> Hostile:
    cheat = ben_has_the_potato()
    return _shutdown(cheat, Shutdown(cheat.batch().channel_half))


@case("CH-SHUT-4")
def a_completed_shutdown_that_nobody_asked_for() -> Hostile:
    return _shutdown(ben_has_the_potato(), ShutdownDone(NO_SIGNATURE))


@case("CH-SHUT-4")
def a_completed_shutdown_to_who_holds_the_potato() -> Hostile:
    return _shutdown(Cheat(sit().open(), ANN), ShutdownDone(NO_SIGNATURE))


def closing() -> Cheat:
    """Ben asked for the shutdown; Ann, who cheats, has to answer."""
    table = sit().open()
    table.command(BEN, Close())
    assert isinstance(decode(table.take_mail()), Shutdown)
    return Cheat(table, ANN)


@case("CH-SHUT-3")
def a_completed_shutdown_of_nothing() -> Hostile:
    return _shutdown(closing(), ShutdownDone(NO_SIGNATURE))


@case("CH-SHUT-3")
def a_completed_shutdown_that_is_the_half_alone() -> Hostile:
    cheat = closing()
    return _shutdown(cheat, ShutdownDone(shutdown_half(cheat).half))


@case("CH-SHUT-3")
def a_completed_shutdown_over_other_balances() -> Hostile:
    cheat = closing()
    state = ChannelState(0, (BALANCE + 1, BALANCE - 1))
    both = [shutdown_half(one, state).half for one in (cheat, Cheat(cheat.table, BEN))]
    return _shutdown(cheat, ShutdownDone(bls.add(*both)))


@case("CH-SHUT-5")
def a_batch_in_answer_to_a_shutdown() -> Hostile:
    cheat = closing()
    return sent(cheat)


@case("CH-SHUT-5")
def a_shutdown_in_answer_to_a_shutdown() -> Hostile:
    return _shutdown(closing())


for _message in ANY_MESSAGE[:5]:

    def _in_closing(message: Message) -> Hostile:
        return _shutdown(closing(), message)

    def _in_play(message: Message) -> Hostile:
        return _shutdown(ben_has_the_potato(), message)

    _kind = type(_message).__name__
    CASES.put("CH-SHUT-5", f"a-{_kind}-in-answer-to-a-shutdown", _in_closing, _message)
    CASES.put("CH-MSG-3", f"a-{_kind}-in-play", _in_play, _message)


# --- bytes -------------------------------------------------------------------------------------


def _bytes(blob: bytes, close: bool) -> Hostile:
    cheat = closing() if close else ben_has_the_potato()
    return cheat.table, 1 - cheat.index, blob


for _close in (False, True):
    for _rule, _name, _blob in (
        ("CH-MSG-1", "too-long", bytes(10 * 1024 * 1024 + 1)),
        ("CH-MSG-2", "empty", b""),
        ("CH-MSG-2", "garbage", b"\xc1\xc1"),
        ("CH-MSG-2", "not-utf-8", b"\x81\xa3say\xa7req\xffest"),
    ):
        CASES.put(_rule, f"{_name}{'-in-the-shutdown' if _close else ''}", _bytes, _blob, _close)
