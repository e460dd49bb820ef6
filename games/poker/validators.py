"""The rules of the poker validators: one judge for each kind of move.

The same rules as programs, with the same names, are `clsp/source/poker/<validator>.clsp`. Every
judge checks lengths first, then the share, then openings in their order, then amounts, and answers
with the id of the first rule that is broken.

`share` (MOVER_SHARE) is the **waiter's**. Every move but the last leaves the waiter its stake less
what it has put in, so that whoever stops loses exactly that.
"""

from __future__ import annotations

from channelsim.clsp.integers import atom_to_int, is_minimal
from channelsim.clsp.values import Value
from channelsim.games.contract import Hashes, Next, Raise, Slash, Valid, Validator, Verdict, by_name
from channelsim.games.masks import pickers, read_mask
from channelsim.games.poker.limits import Forced, Limits, Structure
from channelsim.games.poker.openings import (
    OPENING,
    SCALAR,
    deals,
    dealt,
    locks_open,
    opens,
    owed_locks,
    pending_size,
    shows,
    taken,
)
from channelsim.games.poker.ranking import HIGH
from channelsim.games.poker.states import (
    Begin,
    Deal,
    End,
    Held,
    Known,
    Mid,
    Owed,
    Pot,
    Seats,
    Show,
    Streets,
    Table,
)

CALL, RAISE = b"\x01", b"\x02"
"""The first byte of an answer."""

AMOUNT_SIZE = 9
"""The longest amount that a move may have."""

MID_SIZE = 1698
"""The size limit of an answer: a call may open every lock of a deck."""

MASK_SIZE = 1


def deal(
    state: Deal, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The opener opens what it owes of the first street."""
    table, cards = state.table, state.streets[0].deal
    if len(move) != SCALAR * owed_locks(cards, state.seats):
        return Slash("PK-DEAL-1")
    if share != waiters_share(table, state.streets, state.pot, state.forced):
        return Slash("PK-DEAL-2")
    opened = dealt(table, cards, state.seats, move)
    if opened is None:
        return Slash("PK-DEAL-3")
    held, pending = opened
    known = Known(held, (), (), (), ())
    pot, seats = swapped(state.pot), state.seats.swapped
    mid_hash = hashes["mid"]
    return Valid(_begin(table, state.streets, pot, state.forced, known, pending, seats, mid_hash))


def begin(
    state: Begin, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens what it owes of a street, and bets, checks or leaves that to the waiter."""
    table, pending, seats, pot = state.table, state.pending, state.seats, state.pot
    size = pending_size(pending)
    if len(move) < size:
        return Slash("PK-BEGIN-1")
    is_first = state.streets[0].first == seats.button
    if share != waiters_share(table, state.streets, pot, 0 if is_first else state.forced):
        return Slash("PK-BEGIN-2")
    if not locks_open(table, pending, seats, move):
        return Slash("PK-BEGIN-3")
    known = taken(table, pending, seats, state.known, move)
    if known is None:
        return Slash("PK-BEGIN-4")
    data = move[size:]
    if not is_first:
        if data:
            return Slash("PK-BEGIN-5")
        streets, forced, mid_hash = state.streets, state.forced, state.mid_hash
        pot, known, seats = swapped(pot), known.swapped, seats.swapped
        return Valid(_begin(table, streets, pot, forced, known, (), seats, mid_hash))
    if not is_minimal(data):
        return Slash("PK-BEGIN-6")
    x = atom_to_int(data)
    limits = limits_of(table, state.streets, pot, 0, blinds(pot), state.forced)
    if not limits.allows(x) and (x or state.forced):
        return Slash("PK-BEGIN-7")
    brought_in = state.forced == Forced.BRING_IN and x == table.bring_in
    after = Mid(
        table,
        state.streets,
        Pot(pot.waiter, pot.waiter + x),
        x,
        blinds(pot) + (x > 0 and not brought_in),
        Forced.BROUGHT_IN if brought_in else Forced.NONE,
        known.swapped,
        seats.swapped,
    )
    return Valid(Next("mid", after, MID_SIZE))


def mid(
    state: Mid, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover answers a bet, a raise or a check: it raises, or calls and opens what it owes."""
    table, pot, seats = state.table, state.pot, state.seats
    verb, data = move[:1], move[1:]
    if verb not in (CALL, RAISE):
        return Slash("PK-MID-1")
    if share != waiters_share(table, state.streets, pot, 0):
        return Slash("PK-MID-2")
    if verb == RAISE:
        if not is_minimal(data):
            return Slash("PK-MID-3")
        x = atom_to_int(data)
        limits = limits_of(table, state.streets, pot, state.last, state.raises, state.forced)
        if not limits.allows(x):
            return Slash("PK-MID-4")
        raised = Pot(pot.waiter, pot.waiter + x)
        known = state.known.swapped
        after = Mid(table, state.streets, raised, x, state.raises + 1, 0, known, seats.swapped)
        return Valid(Next("mid", after, MID_SIZE))
    all_in = pot.waiter == table.stake
    streets = state.streets[1:]
    cards = deals(streets if all_in else streets[:1])
    if len(data) != SCALAR * owed_locks(cards, seats):
        return Slash("PK-MID-5")
    opened = dealt(table, cards, seats, data)
    if opened is None:
        return Slash("PK-MID-6")
    held, pending = opened
    known = state.known
    known = Known(
        known.movers,
        (*known.waiters, *held),
        known.movers_up,
        known.waiters_up,
        known.board,
    ).swapped
    if all_in or not streets:
        show = Show(table, pot.waiter, known, pending, seats.swapped)
        size = pending_size(pending) + OPENING * len(known.movers)
        return Valid(Next("show", show, size))
    both = Pot(pot.waiter, pot.waiter)
    mid_hash = hashes["mid"]
    return Valid(_begin(table, streets, both, 0, known, pending, seats.swapped, mid_hash))


def show(
    state: Show, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens what it owes, and shows its cards."""
    table, pending, seats, held = state.table, state.pending, state.seats, state.known.movers
    size = pending_size(pending)
    if len(move) != size + OPENING * len(held):
        return Slash("PK-SHOW-1")
    if share != table.unit * (table.stake - state.put):
        return Slash("PK-SHOW-2")
    if not locks_open(table, pending, seats, move) or not held_open(
        table, held, seats, move[size:]
    ):
        return Slash("PK-SHOW-3")
    known = taken(table, pending, seats, state.known, move)
    shown = held_cards(table, held, move[size:])
    if known is None or shown is None:
        return Slash("PK-SHOW-4")
    after = End(
        table,
        state.put,
        known.waiters,
        tuple(card for _, card in known.waiters_up),
        (*shown, *(card for _, card in known.movers_up)),
        known.board,
        1 - seats.initiator,
    )
    return Valid(Next("end", after, OPENING * len(known.waiters) + MASK_SIZE))


def end(
    state: End, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover shows its cards, selects its best five, and declares the waiter's share."""
    table, held = state.table, state.held
    seats = Seats(0, state.initiator)
    size = OPENING * len(held)
    if len(move) != size + MASK_SIZE:
        return Slash("PK-END-1")
    if not held_open(table, held, seats, move):
        return Slash("PK-END-2")
    own = held_cards(table, held, move)
    if own is None:
        return Slash("PK-END-3")
    mine = selected((*own, *state.open, *state.board), move[size:])
    if mine is None:
        return Slash("PK-END-4")
    theirs = selected((*state.shown, *state.board), evidence)
    if theirs is None:
        return Raise("PK-END-5")
    won = HIGH.better(HIGH.key(theirs), HIGH.key(mine))
    if share < table.unit * (table.stake + won * state.put):
        return Slash("PK-END-6")
    return Valid(None)


def waiters_share(table: Table, streets: Streets, pot: Pot, forced: int) -> int:
    """The waiter's share in mojos: what it has not put in, and need not post."""
    due = {Forced.BRING_IN: table.bring_in, Forced.OPENING: streets[0].size}.get(Forced(forced), 0)
    return table.unit * (table.stake - pot.waiter - due)


def swapped(pot: Pot) -> Pot:
    """The pot, seen from the waiter."""
    return Pot(pot.waiter, pot.mover)


def blinds(pot: Pot) -> int:
    """The bets of a round that just began: 1 if there is a blind to answer, else 0 (BET-6)."""
    return int(pot.waiter > pot.mover)


def limits_of(
    table: Table, streets: Streets, pot: Pot, last: int, raises: int, forced: int
) -> Limits:
    """The limits that the mover faces."""
    return Limits(
        Structure(table.structure),
        table.cap,
        table.stake - pot.waiter,
        pot.waiter,
        streets[0].size,
        last,
        raises,
        Forced(forced),
        table.bring_in,
    )


def _begin(
    table: Table,
    streets: Streets,
    pot: Pot,
    forced: int,
    known: Known,
    pending: tuple[Owed, ...],
    seats: Seats,
    mid_hash: bytes,
) -> Next:
    """The beginning of a street, seen from its mover."""
    state = Begin(table, streets, pot, forced, known, pending, seats, mid_hash)
    return Next("begin", state, pending_size(pending) + AMOUNT_SIZE)


def held_open(table: Table, held: Held, seats: Seats, data: bytes) -> bool:
    """Whether the mover opens the locks of all its private cards."""
    return all(
        opens(table, position, seats, data[at : at + SCALAR])
        for (position, _), at in zip(held, range(0, len(data), OPENING), strict=False)
    )


def held_cards(table: Table, held: Held, data: bytes) -> tuple[int, ...] | None:
    """The mover's private cards as it claims them; None if one is another."""
    cards = []
    for number, (position, theirs) in enumerate(held):
        opening = data[number * OPENING : (number + 1) * OPENING]
        if not shows(table, position, opening[:SCALAR], theirs, opening[SCALAR:]):
            return None
        cards.append(opening[SCALAR])
    return tuple(cards)


def selected(cards: tuple[int, ...], mask: Value) -> tuple[int, ...] | None:
    """Five of seven cards by a mask of one byte; None for any other mask."""
    number = read_mask(mask)
    pick = pickers(len(cards), 5).get(number) if number is not None else None
    return pick(cards) if pick is not None else None


VALIDATORS = by_name(
    Validator("deal", deal, Deal.read),
    Validator("begin", begin, Begin.read),
    Validator("mid", mid, Mid.read),
    Validator("show", show, Show.read),
    Validator("end", end, End.read),
)
