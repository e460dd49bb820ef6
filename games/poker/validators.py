"""The rules of the poker validators: one judge for each kind of move.

The same rules as programs, with the same names, are `clsp/source/poker/<validator>.clsp`. Every
judge checks lengths first, then the share, then openings in their order, then amounts, and answers
with the id of the first rule that is broken; `begin` looks at the share after the openings, because
open cards may say who acts first.

`share` (MOVER_SHARE) is the **waiter's**. Every move but the last leaves the waiter its stake less
what it has put in, so that whoever stops loses exactly that.
"""

from __future__ import annotations

from msgspec import structs

from channelsim.clsp.values import Value, atom_to_int, is_minimal
from channelsim.games.contract import Hashes, Next, Raise, Slash, Valid, Validator, Verdict, by_name
from channelsim.games.poker.limits import Forced, Limits, Structure, acts_first_with, cards_of
from channelsim.games.poker.openings import (
    OPENING,
    SCALAR,
    dealt,
    dealt_by_call,
    locks_open,
    opens,
    owed_locks,
    pending_size,
    replaced,
    shows,
    taken,
    with_bettor,
)
from channelsim.games.poker.selections import claimed, pot_share, quarters_won
from channelsim.games.poker.states import (
    Begin,
    Commit,
    Deal,
    Draw,
    End,
    Held,
    Kind,
    Known,
    Mid,
    Pot,
    Seats,
    Show,
    Streets,
    Table,
    forced_bet,
)

CALL, RAISE = b"\x01", b"\x02"
"""The first byte of an answer."""

AMOUNT_SIZE = 9
"""The longest amount that a move may have."""

ANSWER_SIZE = 1698
"""The size limit of an answer, to a bet or to a draw: a call may open every lock of a deck."""

MASK_SIZE = 1
"""The size of a draw's mask."""

COMMITMENT_SIZE = 32


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
    pot, seats = swapped(state.pot), state.seats.swapped
    if state.streets[0].kind == Kind.ARRANGE:
        commit = Commit(table, state.streets[0].size, pot.mover, held, pending, seats)
        return Valid(Next("commit", commit, pending_size(pending) + COMMITMENT_SIZE))
    known = Known(held, (), (), (), ())
    return _begin(
        Begin(table, state.streets, pot, state.forced, known, pending, seats, hashes["mid"])
    )


def begin(
    state: Begin, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens what it owes of a street, and bets, checks or leaves that to the waiter."""
    table, pending, seats, pot = state.table, state.pending, state.seats, state.pot
    size = pending_size(pending)
    if len(move) < size:
        return Slash("PK-BEGIN-1")
    if not locks_open(table, pending, seats, move):
        return Slash("PK-BEGIN-2")
    known = taken(table, pending, seats, state.known, move)
    if known is None:
        return Slash("PK-BEGIN-3")
    is_first = acts_first_with(
        state.streets[0].first, seats.button, known.movers_up, known.waiters_up
    )
    if share != waiters_share(table, state.streets, pot, 0 if is_first else state.forced):
        return Slash("PK-BEGIN-4")
    data = move[size:]
    if not is_first:
        if data:
            return Slash("PK-BEGIN-5")
        return _begin(
            structs.replace(
                state, pot=swapped(pot), known=known.swapped, pending=(), seats=seats.swapped
            )
        )
    if not is_minimal(data):
        return Slash("PK-BEGIN-6")
    x = atom_to_int(data)
    limits = limits_facing(state)
    if not limits.allows(x) and (x or state.forced):
        return Slash("PK-BEGIN-7")
    brought_in = state.forced == Forced.BRING_IN and x == table.bring_in
    after = Mid(
        table,
        state.streets,
        Pot(pot.waiter, pot.waiter + x),
        x,
        blinds(pot) + (x > 0 and not brought_in),
        int(brought_in),
        known.swapped,
        seats.swapped,
    )
    return Valid(Next("mid", after, ANSWER_SIZE))


def mid(
    state: Mid, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover answers a bet, a raise or a check: it raises, or calls and opens what it owes."""
    table, pot, seats = state.table, state.pot, state.seats
    verb, data = move[:1], move[1:]
    if verb not in (CALL, RAISE):
        return Slash("PK-MID-1")
    if share != (calls_share(state) if verb == CALL else stake_left(table, pot.waiter)):
        return Slash("PK-MID-2")
    if verb == RAISE:
        if not is_minimal(data):
            return Slash("PK-MID-3")
        x = atom_to_int(data)
        if not limits_facing(state).allows(x):
            return Slash("PK-MID-4")
        raised = Pot(pot.waiter, pot.waiter + x)
        known = state.known.swapped
        after = Mid(table, state.streets, raised, x, state.raises + 1, 0, known, seats.swapped)
        return Valid(Next("mid", after, ANSWER_SIZE))
    return _call(state, data, hashes)


def _call(state: Mid, data: bytes, hashes: Hashes) -> Verdict:
    """The mover calls or checks, and opens what that makes it owe; `data` follows the verb."""
    table, put, seats, later = state.table, state.pot.waiter, state.seats, state.streets[1:]
    cards = dealt_by_call(state.streets, put == table.stake)
    size = SCALAR * owed_locks(cards, seats)
    if len(data) != size + (MASK_SIZE if draws_with_call(state) else 0):
        return Slash("PK-MID-5")
    if passes_out(state):
        return Valid(None)
    opened = dealt(table, cards, seats, data)
    if opened is None:
        return Slash("PK-MID-6")
    held, pending = opened
    known = structs.replace(state.known, waiters=(*state.known.waiters, *held))
    after = Draw(table, later, put, known, pending, seats, hashes["mid"])
    if not later or later[0].kind == Kind.BET:
        return _after_round(after)
    after = structs.replace(after, streets=(later[0], *with_bettor(later[1:], state.raises, seats)))
    if draws_with_call(state):
        drawn = _with_discards(after, data[size:])
        return Slash("PK-MID-7") if drawn is None else _draw(drawn)
    return _draw(after)


def draw(
    state: Draw, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens the waiter's new cards, and says which of its own it replaces."""
    table, pending, seats, put = state.table, state.pending, state.seats, state.put
    size = pending_size(pending)
    if len(move) != size + MASK_SIZE:
        return Slash("PK-DRAW-1")
    if share != stake_left(table, put):
        return Slash("PK-DRAW-2")
    known = taken(table, pending, seats, state.known, move)
    if known is None or not locks_open(table, pending, seats, move):
        return Slash("PK-DRAW-3")
    after = _with_discards(structs.replace(state, known=known), move[size:])
    if after is None:
        return Slash("PK-DRAW-4")
    if state.streets[0].first == seats.button:
        return _draw(after)
    return _after_round(structs.replace(after, streets=state.streets[1:]))


def show(
    state: Show, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens what it owes, and shows its cards."""
    table, pending, seats, held = state.table, state.pending, state.seats, state.known.movers
    size = pending_size(pending)
    if len(move) != size + OPENING * len(held):
        return Slash("PK-SHOW-1")
    if share != stake_left(table, state.put):
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
        cards_of(known.waiters_up),
        (*shown, *cards_of(known.movers_up)),
        known.board,
        seats.swapped,
    )
    return Valid(Next("end", after, OPENING * len(known.waiters) + table.showdown.masks))


def end(
    state: End, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover shows its cards, selects its best ones, and declares the waiter's share."""
    table, held, seats = state.table, state.held, state.seats
    size = OPENING * len(held)
    if len(move) != size + table.showdown.masks:
        return Slash("PK-END-1")
    if not held_open(table, held, seats, move):
        return Slash("PK-END-2")
    own = held_cards(table, held, move)
    if own is None:
        return Slash("PK-END-3")
    mine = claimed(table.showdown, (*own, *state.open, *state.board), move[size:])
    if mine is None:
        return Slash("PK-END-4")
    if not isinstance(evidence, bytes):
        return Raise("PK-END-5")
    theirs = claimed(table.showdown, (*state.shown, *state.board), evidence)
    if theirs is None:
        return Raise("PK-END-5")
    if share < table.unit * pot_won(state, quarters_won(table.showdown, theirs, mine)):
        return Slash("PK-END-6")
    return Valid(None)


def pot_won(state: End, quarters: int) -> int:
    """The chips that the waiter is due with these quarters of the pot."""
    won = pot_share(2 * state.put, quarters, 1 - state.seats.button)
    return state.table.stake - state.put + won


def waiters_share(table: Table, streets: Streets, pot: Pot, forced: int) -> int:
    """The waiter's share in mojos: what it has not put in, and need not post."""
    return table.unit * (table.stake - pot.waiter - forced_bet(table, streets, forced))


def stake_left(table: Table, put: int) -> int:
    """What a player that has put these chips in the pot has left, in mojos."""
    return table.unit * (table.stake - put)


def passes_out(state: Mid) -> bool:
    """True if a check ends the hand: nobody has bet before a draw that needs it (DRAW-3)."""
    draws = len(state.streets) > 1 and state.streets[1].kind == Kind.OPENED_DRAW
    return draws and not state.last and state.pot.waiter < state.table.stake


def calls_share(state: Mid) -> int:
    """The waiter's share when the mover calls or checks, in mojos."""
    put = 0 if passes_out(state) else state.pot.waiter
    return stake_left(state.table, put)


def draws_with_call(state: Mid) -> bool:
    """True if a call says which cards the mover replaces: a draw follows, and it draws first."""
    later = state.streets[1:]
    if not later or later[0].kind == Kind.BET or passes_out(state):
        return False
    return later[0].first == state.seats.button


def swapped(pot: Pot) -> Pot:
    """The pot, seen from the waiter."""
    return Pot(pot.waiter, pot.mover)


def blinds(pot: Pot) -> int:
    """The bets of a round that just began: 1 if there is a blind to answer, else 0 (BET-6)."""
    return int(pot.waiter > pot.mover)


def limits_facing(state: Begin | Mid) -> Limits:
    """The limits of the mover that bets first, or answers."""
    table, pot = state.table, state.pot
    if isinstance(state, Begin):
        last, raises, forced = 0, blinds(pot), Forced(state.forced)
    else:
        last, raises = state.last, state.raises
        forced = Forced.BROUGHT_IN if state.brought_in else Forced.NONE
    left, size = table.stake - pot.waiter, state.streets[0].size
    structure, bring_in = Structure(table.structure), table.bring_in
    return Limits(structure, table.cap, left, pot.waiter, size, last, raises, forced, bring_in)


def _begin(state: Begin) -> Verdict:
    """A street begins."""
    return Valid(Next("begin", state, pending_size(state.pending) + AMOUNT_SIZE))


def _after_round(state: Draw) -> Verdict:
    """A street begins, or the cards are shown if none is left or both players are all-in.

    `state` has the streets that are left, seen from the player that just moved; its `pending` is
    what the other one owes.
    """
    table, put, pending = state.table, state.put, state.pending
    known, seats = state.known.swapped, state.seats.swapped
    if state.streets and put < table.stake:
        both = Pot(put, put)
        return _begin(Begin(table, state.streets, both, 0, known, pending, seats, state.mid_hash))
    size = pending_size(pending) + OPENING * len(known.movers)
    return Valid(Next("show", Show(table, put, known, pending, seats), size))


def _draw(state: Draw) -> Verdict:
    """The player that did not just move draws; `state` is as in `_after_round`."""
    after = structs.replace(state, known=state.known.swapped, seats=state.seats.swapped)
    draws_first = state.streets[0].first == after.seats.button
    return Valid(Next("draw", after, MASK_SIZE if draws_first else ANSWER_SIZE))


def _with_discards(state: Draw, mask: bytes) -> Draw | None:
    """The state with the mover's hand after its discards; None for a mask beyond the hand."""
    drawn = replaced(state.known.movers, mask, state.streets[0], state.seats)
    if drawn is None:
        return None
    known = structs.replace(state.known, movers=drawn.kept)
    return structs.replace(state, known=known, pending=drawn.pending)


def held_open(table: Table, held: Held, seats: Seats, data: bytes) -> bool:
    """True if the mover opens the locks of all its private cards."""
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


VALIDATORS = by_name(
    Validator("deal", deal, Deal.form),
    Validator("begin", begin, Begin.form),
    Validator("mid", mid, Mid.form),
    Validator("draw", draw, Draw.form),
    Validator("show", show, Show.form),
    Validator("end", end, End.form),
)
