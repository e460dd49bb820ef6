"""Calls of the poker validators in rare places, for the stored corpus.

Honest hands of every game and form are changed in ways that play hardly ever shows: locks whose
scalars are at the ends of their range, cards that are none, states with more or fewer cards and
streets than a hand has, shares and lengths that are wrong by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import msgspec

from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import leaves, numbers, with_leaf
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.values import Value
from channelsim.games import registry
from channelsim.games.contract import Raise, Slash, Valid, Verdict
from channelsim.games.errors import BadState
from channelsim.games.judge import hashes_of
from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.poker.openings import (
    OPENING,
    SCALAR,
    dealt_by_call,
    is_own,
    pending_size,
    taken,
)
from channelsim.games.poker.states import (
    Begin,
    Commit,
    Deal,
    Draw,
    End,
    Held,
    Kind,
    Known,
    Lock,
    Mid,
    Owed,
    Rows,
    Score,
    Show,
    Table,
)
from channelsim.games.poker.terms import Stakes
from channelsim.games.poker.validators import draws_with_call
from channelsim.games.vectors import Case, Expect, NextRecord
from tests.games.poker.hands import GROUP, HASHES, ROWS, VALIDATORS, Hand, State, Turn

MAX_SIZE = 1698

INFINITY = b"\xc0" + bytes(47)

REGISTERED = {
    "five-draw-blinds": "five-draw",
    "lowball-27-blinds": "lowball-27",
    "five-stud-open": "five-stud",
    "seven-stud-high": "seven-stud",
}
"""The registered game whose programs judge a form that is not registered."""

Place: TypeAlias = tuple[int, int, bytes]
"""An opening in a move: where it begins, its position, and the scalar of the other lock, which is
empty where no card is shown."""


class Call(msgspec.Struct, frozen=True):
    """A call of a validator; `game` is registered, `amount` and `share` are in mojos."""

    game: str
    validator: str
    state: State
    move: bytes
    share: int
    amount: int
    evidence: Value


def target_of(game: str) -> Target:
    """The target of a registered game."""
    return of_game(registry.get(game))


def said(call: Call) -> Verdict | None:
    """What the rules say; None where they do not read such a state."""
    judge = VALIDATORS[call.validator].judge
    try:
        return judge(call.state, call.move, call.share, call.amount, call.evidence, HASHES)
    except (LookupError, ValueError):
        return None


def case_of(call: Call, verdict: Verdict, name: str) -> Case:
    """The call as a conformance case that expects this verdict."""
    target = target_of(call.game)
    record = None
    if isinstance(verdict, Valid) and verdict.next is not None:
        step = verdict.next
        state = described_value(step.state.value(), target)
        record = NextRecord(step.validator, state, step.max_move_size)
    expect: Expect = "valid"
    if not isinstance(verdict, Valid):
        expect = "slash" if isinstance(verdict, Slash) else "raise"
    return Case(
        id=f"{call.game}-{call.validator}-{name}",
        tag="state" if verdict and not isinstance(verdict, Raise) else "raise",
        game=call.game,
        validator=call.validator,
        amount=call.amount,
        mover_share=call.share,
        max_move_size=MAX_SIZE,
        move=call.move.hex(),
        state=described_value(call.state.value(), target),
        evidence=described_value(call.evidence, target),
        expect=expect,
        next=record,
    )


def calls(seed: str, hands: int, names: Sequence[str] = tuple(ROWS)) -> Iterator[Call]:
    """The calls around some hands of every game, form and betting structure."""
    chance = FastChance(seed.encode())
    for number in range(hands):
        for name in names:
            row = ROWS[name]
            structure = Structure(chance.below(3))
            blind = 1 + chance.below(3) if row.blinds else 0
            bring_in = 1 + chance.below(2) if row.forced is Forced.BRING_IN else 0
            ante = chance.below(3) if row.blinds or row.arranges else 1 + chance.below(3)
            bet = 2 * blind or bring_in + 1 + chance.below(4)
            stake = ante + bet + chance.pick((0, 1, 7, 40, 200))
            unit = chance.pick((1, 3, 10, 1000))
            stakes = Stakes(
                *(unit, stake, blind, bet, structure, chance.below(4), 0 if row.arranges else ante),
                bring_in,
            )
            hand = Hand(f"{seed} {name} {number}", stakes, row, bold=1 + chance.below(4))
            for turn in hand.turns():
                call = Call(
                    *(REGISTERED.get(name, name), turn.validator, turn.state, turn.move),
                    *(turn.share, 2 * unit * stake, turn.evidence),
                )
                yield call
                small = light(call)
                for place in dict.fromkeys(openings(call)[:1] + openings(call)[-1:]):
                    if small is None or not openings(small):
                        yield from _weak_locks(call, place)
                if small is not None:
                    yield small
                    yield from _around(small, chance)
                elif chance.below(4) == 0:
                    yield from _around(call, chance)


def light(call: Call) -> Call | None:
    """The same turn with fewer openings, which take nearly all the time of a run; None where it has
    none to leave out."""
    replace = msgspec.structs.replace
    state, move = call.state, call.move
    none = replace(state.table, locks=())
    match state:
        case Begin() | Draw():
            size = pending_size(state.pending)
            known = taken(state.table, state.pending, state.seats, state.known, move)
            if known is None:
                return None
            state = replace(state, table=none, known=known, pending=())
            return replace(call, state=state, move=move[size:])
        case Mid():
            streets = tuple(
                replace(one, deal=()) if one.kind == Kind.BET else one for one in state.streets
            )
            if move[:1] == b"\x01":
                move = move[:1] + (move[-1:] if draws_with_call(state) else b"")
            return replace(call, state=replace(state, table=none, streets=streets), move=move)
        case Show() if not state.pending:
            held, table = _only(state.table, state.known.movers[:1])
            known = replace(state.known, movers=held)
            state = replace(state, table=table, known=known)
            return replace(call, state=state, move=move[:OPENING])
        case End():
            count = len(state.held)
            shown = tuple(move[OPENING * at + SCALAR] for at in range(1, count))
            held, table = _only(state.table, state.held[:1])
            state = replace(state, table=table, held=held, open=(*shown, *state.open))
            return replace(call, state=state, move=move[:OPENING] + move[OPENING * count :])
        case Rows():
            places = [move.index(position) for position, _ in state.held[:2]]
            order = sorted(range(2), key=places.__getitem__)
            shown_cards = move[len(state.held) :][: 2 * OPENING]
            held, table = _only(state.table, state.held[:2])
            state = replace(state, table=table, held=held, waiters=state.waiters[:3])
            return replace(call, state=state, move=bytes(order) + shown_cards)
        case Commit():
            size = SCALAR * len(state.pending)
            locks = tuple(state.table.locks[one.position] for one in state.pending[:2])
            pending = tuple(replace(one, position=at) for at, one in enumerate(state.pending[:2]))
            table = replace(state.table, locks=locks)
            state = replace(state, table=table, pending=pending, held=state.held[:3])
            return replace(call, state=state, move=move[: 2 * SCALAR] + move[size:])
    return None


def _only(table: Table, held: Held) -> tuple[Held, Table]:
    """These cards at the first positions of a deck that has no other."""
    locks = tuple(table.locks[position] for position, _ in held)
    cards = tuple((at, scalar) for at, (_, scalar) in enumerate(held))
    return cards, msgspec.structs.replace(table, locks=locks)


def _around(call: Call, chance: FastChance) -> Iterator[Call]:
    """The changes of one honest call."""
    places = openings(call)
    for place in dict.fromkeys((*places[:1], *places[-1:])):
        yield from _weak_locks(call, place)
    yield from _spoilt(call, chance)
    if isinstance(call.state, Draw) or (
        isinstance(call.state, Mid) and draws_with_call(call.state)
    ):
        yield from _masks(call)
    if isinstance(call.state, End) and call.move:
        yield from _selections(call, chance)
    for state in (*_other_states(call.state), *islice(_disturbed(call, chance), 24)):
        yield from _with_share(msgspec.structs.replace(call, state=state))


def openings(call: Call) -> list[Place]:
    """The openings in a move."""
    state, found = call.state, list[Place]()
    match state:
        case Deal():
            owed = [at for at, who in state.streets[0].deal if not is_own(who, state.seats)]
            return [(SCALAR * number, at, b"") for number, at in enumerate(owed)]
        case Mid():
            if call.move[:1] != b"\x01":
                return []
            deal = dealt_by_call(state.streets, state.pot.waiter == state.table.stake)
            owed = [at for at, who in deal if not is_own(who, state.seats)]
            return [(1 + SCALAR * number, at, b"") for number, at in enumerate(owed)]
        case Begin() | Draw() | Show() | Commit():
            start = 0
            for one in state.pending:
                found.append((start, one.position, one.scalar))
                start += OPENING if one.scalar else SCALAR
            if not isinstance(state, Show):
                return found
            held = state.known.movers
        case Rows():
            start, held = len(state.held), state.held
        case End() | Score():
            start, held = 0, state.held
    return [
        *found,
        *((start + OPENING * n, at, theirs) for n, (at, theirs) in enumerate(held)),
    ]


def _spoilt(call: Call, chance: FastChance) -> Iterator[Call]:
    """The move longer or shorter, or with one bit changed; the share wrong by one."""
    move = call.move
    for other in (move + b"\x00", move[:-1], move + bytes(32), move[:-33], move[:-32], b""):
        yield msgspec.structs.replace(call, move=other)
    for _ in range(6 if move else 0):
        changed = bytearray(move)
        at = chance.pick((0, len(move) - 1, chance.below(len(move))))
        changed[at] ^= 1 << chance.below(8)
        yield msgspec.structs.replace(call, move=bytes(changed))
    if not isinstance(call.state, Deal | Rows | Score | Commit | Show | Draw | End):
        for amount in (0, 1, 2, 3, 4, 5, 8, 16, 127, 128, 255):
            head = move[:1] if isinstance(call.state, Mid) else move[: len(move) - 1]
            number = amount.to_bytes(1, "big") if amount else b""
            yield msgspec.structs.replace(call, move=head + number)
            yield msgspec.structs.replace(call, move=head + b"\x00" + number)
            if isinstance(call.state, Mid):
                yield msgspec.structs.replace(call, move=b"\x02" + number)
    unit = call.state.table.unit
    for share in (call.share + 1, call.share - 1, call.share + unit, call.share - unit, 0):
        if 0 <= share <= call.amount:
            yield msgspec.structs.replace(call, share=share)


def _weak_locks(call: Call, place: Place) -> Iterator[Call]:
    """An opening of a lock, and of a card, at the ends of their ranges, and beyond."""
    start, _, theirs = place
    order = GROUP.order
    shown = call.move[start + SCALAR] if theirs else 0
    for k, sent in (
        *((one, one) for one in (1, 2, order - 1)),
        *((one, one + order) for one in (0, 1, 2)),
        *((one, one - order + (1 << 256)) for one in (1, order - 1)),
        (0, 0),
    ):
        yield relocked(call, place, k, sent, shown)
    for card in (0, 1, 51, 52, 53, 127, 128, 254, 255) if theirs else ():
        yield relocked(call, place, 5, 5, card)
        yield relocked(call, place, 5, 5, shown, byte=card)


def relocked(call: Call, place: Place, k: int, sent: int, card: int, byte: int = -1) -> Call:
    """The call with the mover's lock of this scalar before this card; `sent` and `byte` are in the
    move."""
    start, position, theirs = place
    table, seats = call.state.table, call.state.seats
    lock = table.locks[position]
    key = GROUP.multiply([(k, GROUP.base)])[0] if k else INFINITY
    point = lock.point if k else INFINITY
    if theirs and k:
        both = k * int.from_bytes(theirs, "big") % GROUP.order
        point = GROUP.multiply([(both, GROUP.map(table.deck_id + bytes((card,))))])[0]
    keys = (key, lock.receivers_key) if seats.initiator else (lock.initiators_key, key)
    locks = (*table.locks[:position], Lock(point, *keys), *table.locks[position + 1 :])
    state = msgspec.structs.replace(call.state, table=msgspec.structs.replace(table, locks=locks))
    opening = sent.to_bytes(32, "big")
    if theirs:
        opening += bytes((card if byte < 0 else byte,))
    move = call.move[:start] + opening + call.move[start + len(opening) :]
    return msgspec.structs.replace(call, state=state, move=move)


def _masks(call: Call) -> Iterator[Call]:
    """Discards out of hands of several sizes, larger ones than in any game too."""
    state = call.state
    assert isinstance(state, Draw | Mid)
    for count in (3, 5, 7, 8, 9, 12):
        hand = tuple((at, bytes([at + 1]) * 32) for at in range(count))
        known = msgspec.structs.replace(state.known, movers=hand)
        other = msgspec.structs.replace(state, known=known)
        for mask in (0, 1, 1 << count - 1, 1 << count, 2 << count, 0x55, 0x80, 0xC0, 0xFF):
            if mask < 256:
                move = call.move[:-1] + bytes([mask])
                yield msgspec.structs.replace(call, state=other, move=move)


def _selections(call: Call, chance: FastChance) -> Iterator[Call]:
    """Other selections on both sides, and the shares near what they are due."""
    state = call.state
    assert isinstance(state, End)
    size, count = state.table.showdown.mask_size, state.table.showdown.masks
    if not size:
        return
    start = len(call.move) - count
    evidence = call.evidence if isinstance(call.evidence, bytes) else b""
    for _ in range(12):
        mask = bytearray(call.move[start:])
        theirs = bytearray(evidence)
        for one in (mask, theirs):
            if len(one) == count and chance.below(3):
                at = chance.below(count)
                one[at] = chance.below(256) if chance.below(2) else one[at] ^ (1 << chance.below(8))
        move = call.move[:start] + bytes(mask)
        for odd in (bytes(theirs), bytes(theirs[:-1]), bytes(theirs) + b"\x00")[
            : 1 + chance.below(3)
        ]:
            other = msgspec.structs.replace(call, move=move, evidence=odd)
            yield other
            yield from least_share(other)
    yield msgspec.structs.replace(call, evidence=(b"\x1f", b""))


def least_share(call: Call) -> Iterator[Call]:
    """The least share that is legal, and one less."""
    low, high = 0, call.amount
    if not isinstance(said(msgspec.structs.replace(call, share=high)), Valid):
        return
    while low < high:
        middle = (low + high) // 2
        if isinstance(said(msgspec.structs.replace(call, share=middle)), Valid):
            high = middle
        else:
            low = middle + 1
    for share in (low, low - 1):
        if share >= 0:
            yield msgspec.structs.replace(call, share=share)


def _other_states(state: State) -> Iterator[State]:
    """States of another shape: more or fewer cards and streets, other seats, other debts."""
    replace = msgspec.structs.replace
    swapped = state.seats.swapped
    yield replace(state, seats=swapped)
    yield replace(state, seats=replace(state.seats, button=swapped.button))
    yield replace(state, seats=replace(state.seats, initiator=swapped.initiator))
    more = tuple((at, bytes([at]) * 32) for at in range(4))
    if isinstance(state, Deal):
        first_street, *others = state.streets
        cards = first_street.deal
        yield replace(state, pot=replace(state.pot, mover=state.pot.mover + 1))
        for deal in (
            cards[:-1],
            cards[1:],
            *(((cards[0][0], who), *cards[1:]) for who in range(5)),
            *((*cards[:-1], (cards[-1][0], who)) for who in range(5)),
        ):
            for seats in (state.seats, swapped):
                other = replace(first_street, deal=deal)
                yield replace(state, streets=(other, *others), seats=seats)
    if isinstance(state, Deal | Begin | Mid | Draw):
        for streets in (state.streets[:1], state.streets[:2], state.streets * 2):
            yield replace(state, streets=streets)
        for kind in range(3):
            first, *later = state.streets
            for one in later[:1]:
                changed = replace(one, kind=kind)
                yield replace(state, streets=(first, changed, *later[1:]))
        for first_rule in (0, 1, 2, 4, 5, 6, 7):
            first, *later = state.streets
            yield replace(state, streets=(replace(first, first=first_rule), *later))
            for one in later[:1]:
                yield replace(state, streets=(first, replace(one, first=first_rule), *later[1:]))
            for two in later[1:2]:
                yield replace(
                    state, streets=(first, later[0], replace(two, first=first_rule), *later[2:])
                )
    if isinstance(state, Begin | Mid | Draw | Show):
        known = state.known
        yield replace(state, known=_crowded(known, 1))
        yield replace(state, known=_crowded(known, 2))
        yield replace(state, known=replace(known, movers=(*known.movers, *more)))
        yield replace(state, known=replace(known, waiters=(*known.waiters, *more[:1])))
        yield replace(state, known=replace(known, waiters=known.waiters[1:]))
    if isinstance(state, Begin | Draw | Show | Commit) and state.pending:
        yield replace(state, pending=state.pending[1:])
        first_owed = state.pending[0]
        for who in range(5):
            yield replace(state, pending=(replace(first_owed, who=who), *state.pending[1:]))
        yield replace(state, pending=(*state.pending, Owed(first_owed.position, 1, b"")))
    if isinstance(state, Commit):
        yield replace(state, held=state.held[1:])
    if isinstance(state, Rows):
        yield replace(state, waiters=state.waiters[:1])
    if isinstance(state, End):
        yield replace(state, shown=state.shown[::-1])


def _crowded(known: Known, step: int) -> Known:
    """The known cards with different numbers of open cards and shared ones besides."""
    first, second, third = ((12 * n + step, (17 * n + step) % 52) for n in range(3))
    return msgspec.structs.replace(
        known,
        movers_up=(*known.movers_up, first),
        waiters_up=(*known.waiters_up, second, third),
        board=(*known.board, 4 + step, 9 + step, 30 + step),
    )


def _disturbed(call: Call, chance: FastChance) -> Iterator[State]:
    """States with one atom changed."""
    value = call.state.value()
    hashes = hashes_of(registry.get(call.game))
    programs = set(hashes.values())
    atoms = list(leaves(value))
    small = [at for at, atom in enumerate(atoms) if len(atom) < 16]
    near = numbers(value, call.amount, call.share)
    read = VALIDATORS[call.validator].read_state
    while True:
        at = chance.pick(small) if chance.below(8) else chance.below(len(atoms))
        if atoms[at] in programs:
            continue
        number = chance.pick((*near, *range(8)))
        atom = (
            number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True) if number else b""
        )
        if at not in small:
            atom = bytes((atoms[at][0] ^ 1,)) + atoms[at][1:]
        try:
            yield read(with_leaf(value, at, atom), hashes)  # type: ignore[misc]
        except BadState:
            continue


def _with_share(call: Call) -> Iterator[Call]:
    """The call with the share that its state asks for, and with its own."""
    state = call.state
    table = state.table
    put = state.pot.waiter if isinstance(state, Deal | Begin | Mid) else state.put
    forced = [0, table.bring_in]
    if isinstance(state, Deal | Begin):
        forced.append(state.streets[0].size)
    due = [table.unit * (table.stake - put - one) for one in forced]
    due += [table.unit * table.stake, call.share]
    for share in dict.fromkeys(due):
        yield msgspec.structs.replace(call, share=share)
    if isinstance(state, End | Score):
        yield from least_share(call)


__all__ = ["Call", "Turn", "calls", "case_of", "said", "target_of"]
