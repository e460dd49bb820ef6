"""Hostile batches that need a moment of their own, and the rule that each one breaks.

What any batch can have wrong is among the adversaries' rules (`test_violations.py`). A new case
here is a row in `ROWS`: its name, the moment, and the actions of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from channelsim.channel.peer.interface import CancelGames, ProposeGames
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Move,
    Propose,
    Request,
    Settle,
)
from channelsim.channel.protocol.proposals import Wish, offer_of
from channelsim.games.contract import Action, Play
from channelsim.games.judge import commitment, own_move
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.table import ANN, BEN, GAME, HASHES, Cheat, sit, wish

CASES = Cases()


# --- moments -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """A table with the side that cheats, and what that side would honestly do."""

    cheat: Cheat
    honest: tuple[BatchAction, ...] = ()


Setup = Callable[[], Moment]


def ben_has_the_potato() -> Cheat:
    """Nothing has been played; Ben cheats."""
    return Cheat(sit().open(), BEN)


def ann_has_the_potato() -> Cheat:
    """Ben sent an empty batch, because he was asked to; Ann cheats."""
    table = sit().open()
    table.receive(BEN, Request())
    table.pump()
    return Cheat(table, ANN)


def bens_turn() -> Moment:
    return Moment(ben_has_the_potato())


def anns_turn() -> Moment:
    return Moment(ann_has_the_potato())


def without_the_potato() -> Moment:
    return Moment(Cheat(sit().open(), ANN))


def after_a_batch(*ids: int) -> Moment:
    """Ben has sent a batch, with a proposal if there are ids."""
    cheat = ben_has_the_potato()
    cheat.send(cheat.batch(*([offers(cheat, *ids)] if ids else [])))
    return Moment(cheat)


def after_a_proposal() -> Moment:
    return after_a_batch(1)


def after_an_answered_proposal() -> Moment:
    """Ann thinks about Ben's proposal, and has given the potato back."""
    moment = after_a_batch(1)
    moment.cheat.table.receive(ANN, Request())
    return moment


def after_a_refused_proposal() -> Moment:
    moment = after_a_batch(5)
    moment.cheat.table.ends[ANN].peer.handle(CancelGames(5, "no"))
    return moment


def _proposals(*groups: tuple[Wish, ...]) -> Moment:
    """Ann has proposed these groups, one after the other; Ben, who cheats, has the potato."""
    table = sit().open()
    ben = Cheat(table, BEN)
    for group in groups:
        ben.send(ben.batch())
        table.propose(ANN, *group).mail.clear()
    return Moment(ben)


def two_proposals() -> Moment:
    return _proposals((wish(),), (wish(),))


def a_group_of_two() -> Moment:
    return _proposals((wish(), wish()))


def three_proposals_of_half_the_balances() -> Moment:
    return _proposals(*((wish(stack=25),) for _ in range(3)))


def a_group_of_more_than_a_balance() -> Moment:
    return _proposals((wish(stack=30), wish(stack=30)))


def sixty_games_and_a_proposal_of_more() -> Moment:
    """Ann has committed in sixty games, and has proposed forty-one more."""
    small = wish(unit=1, stack=2)
    ben = _proposals((small,) * 60).cheat
    table, ann = ben.table, ben.table.ends[ANN]
    ben.send(ben.batch(Accept(0)))
    table.mail.clear()
    assert len(ann.state.games) == 60
    table.receive(ANN, Request())
    table.mail.clear()
    ben.send(ben.batch(*(_commit_b(ben, game.id) for game in ann.state.games)))
    ann.peer.handle(ProposeGames((small,) * 41))
    table.receive(ANN, Request())
    table.mail.clear()
    return Moment(ben)


def in_a_game() -> Moment:
    """A game in which it is Ann's turn, who cheats."""
    table = sit().open().propose(ANN)
    return Moment(Cheat(table, ANN), table.until_move("begin_round", ANN).actions)


def in_the_others_turn() -> Moment:
    """Ann thinks in a game, gives the potato to Ben, who asked for it, and who cheats."""
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].turns))
    table.receive(ANN, Request())
    table.mail.clear()
    return Moment(Cheat(table, BEN))


def after_a_game() -> Moment:
    table = sit().open().propose(ANN).go_on()
    return Moment(Cheat(table, table.holder()))


# --- actions -----------------------------------------------------------------------------------

Part = BatchAction | Callable[[Moment], BatchAction]
"""An action of a row, or what makes it at the moment."""


def its_move(moment: Moment) -> BatchAction:
    """The move that the cheat would honestly make."""
    (move,) = moment.honest
    return move


def offers(cheat: Cheat, *ids: int, stack: int = 1) -> Propose:
    """A right proposal of games with these ids."""
    return Propose(
        tuple(
            offer_of(cheat.table.channel, cheat.side, game_id, wish(stack=stack)) for game_id in ids
        )
    )


def proposal(*ids: int) -> Part:
    return lambda moment: offers(moment.cheat, *ids)


def proposal_but(second: bool, **changes: object) -> Part:
    """A proposal of two games, with these changes in one."""

    def make(moment: Moment) -> Propose:
        first, other = offers(moment.cheat, 1, 3).offers
        if second:
            return Propose((first, replace(other, **changes)))
        return Propose((replace(first, **changes), other))

    return make


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


# --- the table ---------------------------------------------------------------------------------

NO = "no"

ROWS: dict[str, dict[str, tuple[Setup, tuple[Part, ...]]]] = {
    "CH-BATCH-1": {
        "a-batch-while-the-victim-holds-the-potato": (without_the_potato, ()),
        "a-batch-in-answer-to-a-proposal-that-the-victim-thinks-about": (
            after_a_proposal,
            (Cancel(1, "I changed my mind"),),
        ),
    },
    "CH-BATCH-3": {
        "accept-before-cancel": (two_proposals, (Accept(0), Cancel(2, NO))),
        "propose-before-cancel": (two_proposals, (proposal(1), Cancel(0, NO))),
        "propose-before-accept": (two_proposals, (proposal(1), Accept(0))),
        "move-before-settle": (in_a_game, (its_move, Settle(0))),
        "propose-before-move": (in_a_game, (proposal(2), its_move)),
        "cancel-before-settle": (in_a_game, (Cancel(0, NO), Settle(0))),
    },
    "CH-BATCH-6": {
        "a-proposal-instead-of-the-move": (in_a_game, (proposal(2),)),
    },
    "CH-SETTLE-1": {
        "settle-what-is-only-proposed": (two_proposals, (Settle(0),)),
        "settle-what-was-settled-before": (after_a_game, (Settle(0),)),
    },
    "CH-CANCEL-1": {
        "cancel-a-live-game": (in_a_game, (Cancel(0, NO),)),
        "cancel-by-the-id-of-a-groups-second-game": (a_group_of_two, (Cancel(2, NO),)),
    },
    "CH-ACCEPT-1": {
        "accept-what-the-same-batch-cancels": (two_proposals, (Cancel(0, NO), Accept(0))),
        "accept-half-a-group": (a_group_of_two, (Accept(2),)),
        "accept-the-live-game": (in_a_game, (Accept(0),)),
    },
    "CH-ACCEPT-3": {
        "accept-more-than-a-balance-covers": (
            three_proposals_of_half_the_balances,
            (Accept(0), Accept(2), Accept(4)),
        ),
        "accept-a-group-that-is-more-than-a-balance": (
            a_group_of_more_than_a_balance,
            (Accept(0),),
        ),
    },
    "CH-ACCEPT-4": {
        "accept-more-than-a-hundred-games": (sixty_games_and_a_proposal_of_more, (Accept(120),)),
    },
    "CH-MOVE-1": {
        "move-in-a-game-that-the-same-batch-settles": (in_a_game, (Settle(0), its_move)),
        "move-in-a-game-that-is-only-proposed": (
            two_proposals,
            (Move(0, bytes(32), 0, 32, bytes(32)),),
        ),
    },
    "CH-MOVE-2": {
        "move-for-the-other-in-a-game-just-accepted": (
            two_proposals,
            (Accept(0), Move(0, bytes(32), 1000, 32, bytes(32))),
        ),
    },
    "CH-MOVE-3": {
        "move-for-both-sides": (in_a_game, (its_move, Move(0, bytes(32), 900, 42, bytes(32)))),
    },
    "CH-PROPOSE-2": {
        "an-id-used-before": (bens_turn, (proposal(1), proposal(1))),
        "the-id-of-a-cancelled-proposal": (after_a_refused_proposal, (proposal(5),)),
    },
}

for _rule, _rows in ROWS.items():
    for _name, (_setup, _parts) in _rows.items():
        CASES.put(_rule, _name, lambda setup, parts: sent(setup(), *parts), _setup, _parts)

WRONG_RECORDS: dict[str, dict[str, object]] = {
    "parameters": {"parameters": {"amount": 400, "bet_unit": 100}},
    "bet-unit": {"parameters": {"amount": 200, "bet_unit": 50}},
}
"""Fields of an offer that do not follow from its parameters."""

for _name, _changes in WRONG_RECORDS.items():
    for _second, _suffix in ((False, ""), (True, "-in-the-second")):
        CASES.put(
            "CH-PROPOSE-4",
            f"another-{_name}{_suffix}",
            lambda part: sent(bens_turn(), part),
            proposal_but(_second, **_changes),
        )


def sent(moment: Moment, *parts: Part, number: int | None = None) -> Hostile:
    """The batch of a row."""
    cheat = moment.cheat
    actions = [part(moment) if callable(part) else part for part in parts]
    return cheat.table, 1 - cheat.index, cheat.batch(*actions, number=number)


# --- numbers -----------------------------------------------------------------------------------


@CASES.add("CH-BATCH-1")
def an_old_batch_again_while_the_victim_holds_the_potato() -> Hostile:
    table = sit().open().propose(BEN).pump()
    old = table.sent[-1][1]
    table.command(ANN, CancelGames(1, NO))
    table.pump().propose(BEN).pump()
    assert table.ends[ANN].play.potato
    return table, ANN, old


# --- halves ------------------------------------------------------------------------------------


@CASES.add("CH-BATCH-4")
def halves_by_the_victims_own_keys() -> Hostile:
    cheat = ben_has_the_potato()
    state, victims = cheat.after(()), Cheat(cheat.table, ANN).keys
    return (
        cheat.table,
        ANN,
        Batch(state.number, (), *sign_halves(cheat.table.channel, victims, state)),
    )
