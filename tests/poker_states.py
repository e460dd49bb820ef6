"""States of the poker validators that no schedule has: any limits, boards, deals and draws.

Most open no lock, so that a run takes microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TypeVar

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.clsp.values import NIL, int_to_atom
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.openings import dealt_by_call
from channelsim.games.poker.states import Begin, Deal, Draw, Known, Mid, Pot, Seats, Street
from tests.games.poker.hands import ROWS, Hand, stakes_of
from tests.poker_cases import Call

S = TypeVar("S", Begin, Mid, Deal)

GAME = "five-draw"
"""A game that has the programs of bets and of draws."""

CARDS = 10
"""Positions that are dealt."""


def other_states(seed: str, number: int) -> Iterator[Call]:
    """Calls in so many states."""
    chance = FastChance(seed.encode())
    hand, (deal, begin, mid, draw) = _played()
    for _ in range(number):
        match chance.below(6):
            case 0:
                yield from _bets(_money(begin, chance), chance)
            case 1:
                yield from _bets(_money(mid, chance), chance)
            case 2:
                yield from _boards(_money(begin, chance), chance)
            case 5:
                yield from _draws(_money(mid, chance), draw, chance)
            case 3:
                yield from _deals(_money(deal, chance), hand, chance)
            case _:
                yield from _calls(_money(mid, chance), hand, chance)


def _played() -> tuple[Hand, tuple[Deal, Begin, Mid, Draw]]:
    """A hand that comes to the draw, with its first state of each kind."""
    row = ROWS[GAME]
    for number in count():
        hand = Hand(f"states {number}", stakes_of(row, Structure.NO_LIMIT), row)
        states = [turn.state for turn in hand.turns()]
        found = (
            [one for one in states if isinstance(one, Deal)],
            [one for one in states if isinstance(one, Begin)],
            [one for one in states if isinstance(one, Mid)],
            [one for one in states if isinstance(one, Draw)],
        )
        if all(found):
            return hand, (found[0][0], found[1][0], found[2][0], found[3][0])
    raise AssertionError("no hand comes to the draw")


def _call(validator: str, state: Begin | Mid | Deal | Draw, move: bytes, put: int) -> Call:
    table = state.table
    share = table.unit * (table.stake - put)
    return Call(GAME, validator, state, move, share, 2 * table.unit * table.stake, NIL)


def _money(state: S, chance: FastChance) -> S:
    """Any limits, in a street of any size, and any money in the pot."""
    stake = chance.pick((3, 9, 40, 150, 300))
    put = chance.pick((0, stake, chance.below(stake + 1), chance.below(stake + 1)))
    other = chance.pick((put, put, chance.below(put + 1), put + chance.below(stake - put + 1)))
    table = msgspec.structs.replace(
        state.table,
        unit=chance.pick((1, 7)),
        stake=stake,
        structure=chance.below(3),
        cap=chance.pick((0, 0, 1, 3, 200)),
        bring_in=chance.below(5),
    )
    first, *later = state.streets
    size = chance.pick((0, 1, 2, 4, 6, 130))
    street = Street(first.first, size, first.deal, first.kind)
    return msgspec.structs.replace(
        state,
        table=table,
        streets=(street, *later),
        pot=Pot(min(other, stake), put),
        seats=Seats(chance.below(2), chance.below(2)),
    )


def _bets(state: Begin | Mid, chance: FastChance) -> Iterator[Call]:
    """Amounts near each limit."""
    replace = msgspec.structs.replace
    table = replace(state.table, locks=())
    left, size = state.table.stake - state.pot.waiter, state.streets[0].size
    if isinstance(state, Begin):
        street = replace(state.streets[0], first=state.seats.button)
        forced = chance.pick((0, 0, 1, 3))
        state = replace(
            state, table=table, streets=(street,), forced=forced, pending=(), known=_known(chance)
        )
        last = 0
    else:
        last = chance.pick((0, 1, 2, 3, 5, 127, 128, 200))
        state = replace(
            state,
            table=table,
            last=last,
            raises=chance.below(5),
            brought_in=chance.below(2),
            known=_known(chance),
        )
    put = state.pot.waiter
    near = (0, 1, left, size, last, 2 * put, size - table.bring_in, table.bring_in)
    amounts = sorted({one + step for one in near for step in (-1, 0, 1)})
    verb = b"\x02" if isinstance(state, Mid) else b""
    validator = "mid" if isinstance(state, Mid) else "begin"
    for amount in amounts:
        yield _call(validator, state, verb + int_to_atom(amount), put)
    yield _call(validator, state, verb + b"\x00" + int_to_atom(size), put)


def _known(chance: FastChance) -> Known:
    """Cards of every kind, in lists of different lengths."""
    cards = chance.shuffled(range(52))

    def held(count: int) -> tuple[tuple[int, bytes], ...]:
        return tuple((at, bytes([at + 1]) * 32) for at in range(count))

    up, other = (
        tuple((at, card) for at, card in enumerate(part)) for part in (cards[:1], cards[1:3])
    )
    return Known(held(chance.below(6)), held(chance.below(6)), up, other, tuple(cards[3:6]))


def _boards(state: Begin, chance: FastChance) -> Iterator[Call]:
    """Open cards that say who acts first: one to four of each player, often of equal ranks."""
    replace = msgspec.structs.replace
    count = 1 + chance.below(4)
    ranks = chance.shuffled(range(13))[: 1 + chance.below(3)]
    pool = chance.shuffled([4 * rank + suit for rank in (*ranks, 0, 12) for suit in range(4)])
    pool = list(dict.fromkeys(pool))
    other = chance.shuffled([card for card in range(52) if card not in pool])
    cards = (pool + other)[: 2 * count] if chance.below(3) else other[: 2 * count]
    mine, theirs = (tuple(enumerate(part)) for part in (cards[:count], cards[count:]))
    known = Known((), (), mine, theirs, ())
    for first in (3, 4, 5, 6, 7):
        street = replace(state.streets[0], first=first)
        table = replace(state.table, locks=())
        one = replace(state, table=table, streets=(street,), forced=0, pending=(), known=known)
        yield _call("begin", one, b"", state.pot.waiter)
        # Only the first to act may bet.
        yield _call("begin", one, int_to_atom(max(1, street.size)), state.pot.waiter)


def _deals(state: Deal, hand: Hand, chance: FastChance) -> Iterator[Call]:
    """Any few cards for anybody."""
    deal = tuple(
        (at, chance.below(5)) for at in chance.shuffled(range(CARDS))[: 1 + chance.below(3)]
    )
    street = msgspec.structs.replace(state.streets[0], deal=deal, kind=chance.pick((0, 0, 3)))
    forced = chance.pick((0, 0, 1, 3))
    state = msgspec.structs.replace(state, streets=(street,), forced=forced)
    due = {1: state.table.bring_in, 3: street.size}.get(forced, 0)
    yield _call("deal", state, hand.locks(deal, state.seats), state.pot.waiter + due)


def _draws(mid: Mid, draw: Draw, chance: FastChance) -> Iterator[Call]:
    """Draws out of any hand."""
    table = msgspec.structs.replace(mid.table, locks=())
    first, *later = draw.streets
    first = msgspec.structs.replace(first, first=chance.below(2))
    state = msgspec.structs.replace(
        draw,
        table=table,
        streets=(first, *later[: chance.below(2)]),
        put=mid.pot.waiter,
        known=_known(chance),
        pending=(),
        seats=mid.seats,
    )
    more = tuple((at, bytes([at + 1]) * 32) for at in range(9))
    big = msgspec.structs.replace(state, known=msgspec.structs.replace(state.known, movers=more))
    for one, mask in ((state, chance.below(32)), (big, 0x81), (big, 0x80)):
        yield _call("draw", one, bytes([mask]), one.put)


def _calls(state: Mid, hand: Hand, chance: FastChance) -> Iterator[Call]:
    """Calls that end a round, before any street and any draw."""
    replace = msgspec.structs.replace
    later = []
    for _ in range(chance.below(4)):
        deal = tuple(
            (at, chance.below(5)) for at in chance.shuffled(range(CARDS))[: chance.below(3)]
        )
        kind = chance.pick((0, 0, 1, 2))
        if kind:
            deal = tuple((at, chance.below(2)) for at in chance.shuffled(range(CARDS)))
        later.append(Street(chance.below(3), 2, deal, kind))
    put = chance.pick((state.pot.waiter, state.table.stake))
    state = replace(
        state,
        streets=(state.streets[0], *later),
        pot=Pot(state.pot.mover, put),
        last=chance.pick((0, 0, 2)),
        raises=chance.below(4),
        known=_known(chance),
    )
    if chance.below(3) == 0:
        more = tuple((at, bytes([at + 1]) * 32) for at in range(9))
        state = replace(state, known=replace(state.known, movers=more))
    opened = dealt_by_call(state.streets, put == state.table.stake)
    scalars = hand.locks(opened, state.seats)
    masks = (b"", b"\x00", bytes([chance.below(32)]), bytes([chance.below(256)]), b"\x80", b"\x81")
    for mask in masks:
        yield _call("mid", state, b"\x01" + scalars + mask, put)
    yield _call("mid", state, b"\x01", 0)


def chosen_states() -> Iterator[Call]:
    """Bets at a cap of no raise, without a size, and at 127 chips; draws by either seat."""
    replace = msgspec.structs.replace
    _, (_, begin, mid, _) = _played()
    table = replace(begin.table, locks=(), unit=1, stake=300, bring_in=0)
    known = Known((), (), (), (), ())
    for structure, cap, pot, size, x in (
        (2, 0, Pot(1, 2), 2, 2),
        (2, 200, Pot(1, 2), 2, 2),
        (2, 0, Pot(2, 2), 2, 2),
        (1, 0, Pot(0, 0), 0, 1),
        (1, 0, Pot(10, 10), 127, 128),
        (0, 0, Pot(10, 10), 128, 127),
    ):
        limits = replace(table, structure=structure, cap=cap)
        for button in (0, 1):
            seats = Seats(button, 1)
            street = Street(button, size, (), 0)
            first = Begin(limits, (street,), pot, 0, known, (), seats, begin.mid_hash)
            yield _call("begin", first, int_to_atom(x), pot.waiter)
            answer = Mid(limits, (street,), pot, 0, 0, 0, known, seats)
            yield _call("mid", answer, b"\x02" + int_to_atom(x), pot.waiter)
    cards = tuple((at, bytes([at + 1]) * 32) for at in range(9))
    deal = tuple((20 + at, who) for at, who in enumerate((0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1)))
    for button in (0, 1):
        for held, mask in (
            (5, 3),
            (5, 31),
            (5, 32),
            (3, 8),
            (3, 5),
            (9, 0x80),
            (9, 0x81),
            (9, 0x82),
        ):
            for raises, waiters in ((1, 4), (2, 9)):
                later = (Street(button, 2, deal, 1), Street(2, 2, (), 0))
                one = Mid(
                    table,
                    (mid.streets[0], *later),
                    Pot(10, 12),
                    2,
                    raises,
                    0,
                    Known(cards[:held], cards[:waiters], (), (), ()),
                    Seats(button, 0),
                )
                yield _call("mid", one, b"\x01" + bytes([mask]), 12)
