"""Hypothesis strategies for authors: CLVM values, states, hands, and the moves of a target.

Needs Hypothesis (`pip install 'channelsim[lab]'`). Every example is what its strategy's name
says, by the rules; and examples shrink: to short atoms, small stakes, early moves and small
changes of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import MOST_STACK, UNITS, terms_of
from channelsim.channel.lab.sites.program_words import evidence_near, evidence_of
from channelsim.channel.lab.sites.site import HEADS, Site, make_site, recommitted
from channelsim.channel.lab.sites.values import leaves, numbers
from channelsim.channel.lab.sites.values import longer as longer_number
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.testing.judged_moves import JudgedMove, judged_move
from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.choices import least_action
from channelsim.games.contract import (
    Action,
    Amount,
    Hashes,
    OneOf,
    PlainState,
    Play,
    Player,
    Seat,
    State,
    Terms,
)
from channelsim.games.dealing import deal
from channelsim.games.errors import BadState
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
)
from channelsim.games.hidden import seated
from channelsim.games.judge import own_move, position_after
from channelsim.games.players import player_after
from channelsim.games.selfplay import PlayedMove

MADE = 24
"""Cases that the fuzzer makes at a place, to draw one of."""

LONGEST = 200
"""More moves than a hand is followed for."""

ITEMS = 4
"""The most items of a list in a drawn state, unless its form asks for more."""

_SECRETS = st.binary(min_size=64, max_size=64)

# --- CLVM values ---------------------------------------------------------------------------------


def atoms(max_size: int = 40) -> st.SearchStrategy[bytes]:
    """Byte strings of any kind."""
    return st.binary(max_size=max_size)


def integers(least: int | None = None, most: int | None = None) -> st.SearchStrategy[bytes]:
    """Numbers as CLVM writes them: signed, in the fewest bytes; from `least` to `most`."""
    return st.integers(least, most).map(int_to_atom)


@st.composite
def non_minimal_integers(
    draw: st.DrawFn, least: int | None = None, most: int | None = None, longer: int = 8
) -> bytes:
    """Numbers that CLVM reads as these but writes in fewer bytes: `longer` more at most."""
    return longer_number(draw(integers(least, most)), draw(st.integers(1, longer)))


def pairs(sides: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    """Pairs with such sides."""
    return st.tuples(sides, sides)


def lists(items: st.SearchStrategy[Value], max_size: int = 6) -> st.SearchStrategy[Value]:
    """Proper lists of such items."""
    return st.lists(items, max_size=max_size).map(to_list)


def values(max_leaves: int = 12) -> st.SearchStrategy[Value]:
    """Anything: atoms, numbers, lists, and pairs that are no lists."""
    leaves: st.SearchStrategy[Value] = st.one_of(
        st.just(NIL), atoms(), integers(), non_minimal_integers()
    )
    return st.recursive(
        leaves, lambda inner: st.one_of(pairs(inner), lists(inner)), max_leaves=max_leaves
    )


# --- states --------------------------------------------------------------------------------------


def states(target: Target, validator: str) -> st.SearchStrategy[State]:
    """States that the reader of a validator takes, whether play reaches them or not.

    Their lists are short. Raises `UsageError` for a state with a field that is written by hand and
    has no examples (`Opaque`).
    """
    return of_form(target.game.validators[validator].form, target.hashes)


def of_form(form: Form, hashes: Hashes) -> st.SearchStrategy[Any]:
    """Fields of this form, in a game whose programs have these hashes."""
    match form:
        case Atom(size):
            return st.binary(min_size=size, max_size=size)
        case Integer(least, most):
            return st.integers(least, most)
        case ByteIn(values):
            return st.sampled_from(sorted(values))
        case HashOf(validator):
            return st.just(hashes[validator])
        case Pair(first, second):
            return st.tuples(of_form(first, hashes), of_form(second, hashes))
        case Optional(inner):
            return st.just(b"") | of_form(inner, hashes)
        case ListOf(inner, most, least, ascending):
            length = min(most, max(least, ITEMS))
            items = st.lists(
                of_form(inner, hashes), min_size=least, max_size=length, unique=ascending
            )
            return items.map(sorted).map(tuple) if ascending else items.map(tuple)
        case Record(kind, fields, checked):
            records = st.builds(kind, **{name: of_form(inner, hashes) for name, inner in fields})
            return records.filter(_fits) if checked else records
        case Opaque(_, _, text, examples):
            if not examples:
                raise UsageError(f"an opaque form has no examples to draw from: {text}")
            return st.sampled_from(examples)


def _fits(state: PlainState) -> bool:
    try:
        state.check_fields()
    except BadState:
        return False
    return True


# --- hands ---------------------------------------------------------------------------------------


@st.composite
def terms(draw: st.DrawFn, target: Target) -> Terms:
    """Terms that two players may agree on."""
    unit, stack = draw(st.sampled_from(UNITS)), draw(st.integers(1, MOST_STACK))
    return terms_of(target, unit, stack)


class DrawnHand(tuple[PlayedMove, ...]):
    """The moves of a hand, in order."""

    def __repr__(self) -> str:
        moves = ", ".join(f"{turn.before.validator} 0x{turn.play.move.hex()}" for turn in self)
        return f"<a hand over {counted(self[0].amount if self else 0, 'mojo')}: {moves}>"


@st.composite
def hands(draw: st.DrawFn, target: Target) -> DrawnHand:
    """A whole hand, every move of it legal; it ends with a settlement or its last move.

    Its players decide anything that they may, and their secrets may be any.
    """
    return DrawnHand(_turns(draw, target, settles=True))


@st.composite
def legal_moves(draw: st.DrawFn, target: Target, validator: str | None = None) -> JudgedMove:
    """A move that the rules allow, to be judged by this validator (any where None).

    It is an honest player's, or one that opens another secret, or that the fuzzer makes of it.
    """
    honest = draw(_honest(target, validator))
    if not draw(st.booleans()):
        return honest
    site, chance = _recommitted(draw, honest)
    cases = Mutator(target, site, chance).cases(MADE)
    moves = (*_least_legal(target, site), *_drawn(target, site, cases))
    return draw(st.sampled_from([honest, *(move for move in moves if move.legal)]))


@st.composite
def illegal_moves(draw: st.DrawFn, target: Target, validator: str | None = None) -> JudgedMove:
    """A move that the rules forbid and the referee lets through, so that it must be slashable.

    It is a legal move with its bytes or its share changed, or one that the fuzzer makes of it,
    perhaps with another secret behind the mover's commitment. A place where no such change is
    illegal gives no example.
    """
    honest = draw(_honest(target, validator))
    site = honest.site
    share = draw(st.one_of(st.just(honest.share), st.sampled_from(_shares(site))))
    move = draw(_changed(site))
    # The fuzzer comes last, so that examples shrink to those without it.
    if draw(st.booleans()):
        other, chance = _recommitted(draw, honest)
        cases = Mutator(target, other, chance).cases(MADE)
        by_rule = {
            judged.rule: judged for judged in _drawn(target, other, cases) if not judged.legal
        }
        if by_rule:
            # Most changes break the first rule of all; here each rule has the same chance.
            return by_rule[draw(st.sampled_from(sorted(by_rule)))]
    drawn = [(move, honest.share), (move, share), (honest.move, share)]
    for other_move, other_share in chain(drawn, _surely(site)):
        judged = judged_move(target, site, other_move, other_share)
        if judged is not None and not judged.legal:
            return judged
    assume(False)
    raise AssertionError("assume stops the example")


@st.composite
def evidence(draw: st.DrawFn, move: JudgedMove) -> Value:
    """Evidence to try on a move: what its opponent holds, what the fuzzer would try, anything.

    The fuzzer's comes from the program (its constants, and lengths that are among them) and from
    the move and the state (their atoms, their neighbours, and ranges around them).
    """
    site = move.site
    own = [value for value, _ in evidence_of(move.target.programs[site.validator])]
    atoms = [atom for atom in (move.move, *leaves(site.state)) if atom]
    kinds: list[st.SearchStrategy[Value]] = [
        st.sampled_from(move.evidence()),
        st.binary(max_size=1),
        values(),
    ]
    if atoms:
        kinds.append(_chances().map(lambda chance: evidence_near(atoms, chance)))
    drawn: Value = draw(st.sampled_from(own) if draw(st.booleans()) else st.one_of(kinds))
    return drawn


def _chances() -> st.SearchStrategy[FastChance]:
    return st.integers(0, 2**32 - 1).map(lambda number: FastChance(number.to_bytes(4, "big")))


def _recommitted(draw: st.DrawFn, honest: JudgedMove) -> tuple[Site, FastChance]:
    """The place of an honest move, perhaps with another secret behind the commitment that the
    move opens, and the choices of the fuzzer there."""
    chance = draw(_chances())
    other = recommitted(honest.target, honest.site, chance) if draw(st.booleans()) else None
    return other or honest.site, chance


def _least_legal(target: Target, site: Site) -> Iterator[JudgedMove]:
    """The site's own move with the least share, of those near a limit, that makes it legal."""
    moves = (judged_move(target, site, site.play.move, share) for share in _shares(site))
    yield from islice((move for move in moves if move is not None and move.legal), 1)


def _drawn(target: Target, site: Site, cases: Sequence[SiteCase]) -> Iterator[JudgedMove]:
    for case in cases:
        move = judged_move(target, site, case.move, case.share)
        if move is not None:
            yield move


@st.composite
def _honest(draw: st.DrawFn, target: Target, validator: str | None) -> JudgedMove:
    """A move of a hand, to be judged by this validator (any where None)."""
    turns = [*_turns(draw, target, settles=False)]
    if validator is not None:
        turns = [turn for turn in turns if turn.before.validator == validator]
        assume(turns)
    turn = draw(st.sampled_from(turns))
    site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
    move = judged_move(target, site, turn.play.move, turn.play.share)
    if move is None or not move.legal:
        raise InvariantError(f"an honest player's move is refused: {turn.play}")
    return move


def _turns(draw: st.DrawFn, target: Target, settles: bool) -> Iterator[PlayedMove]:
    """Play a hand with drawn decisions. Without `settles` no player settles unless it has to."""
    game, hashes, agreed = target.game, target.hashes, draw(terms(target))
    if game.deck_positions:
        agreed, secrets = deal(game, agreed, Chance(draw(st.binary(max_size=32))))
    else:
        secrets = (draw(_SECRETS), draw(_SECRETS))
    players = [seated(game, seat, agreed, secrets[seat]) for seat in Seat]
    position = game.initial(agreed).position
    for _ in range(LONGEST):
        if position.over:
            return
        seat = position.mover
        play = _decision(draw, players[seat], settles)
        if play is None:
            return
        yield PlayedMove(position, play, agreed.amount, players[seat], players[seat.other])
        step = own_move(game, hashes, position, agreed.amount, play)
        position = position_after(position, step, play.move, play.share)
        players = [
            player_after(player, position, play.memory if player.seat is seat else b"")
            for player in players
        ]


def _decision(draw: st.DrawFn, player: Player, settles: bool) -> Play | None:
    """A drawn choice of the player's; None for a settlement."""
    choices = player.choices()
    if not settles:
        playing = [
            choice for choice in choices if isinstance(player.act(least_action(choice)), Play)
        ]
        choices = tuple(playing) or choices
    choice = draw(st.sampled_from(choices))
    amount = 0
    if isinstance(choice, OneOf):
        amount = draw(st.sampled_from(choice.options))
    elif isinstance(choice, Amount):
        step = choice.step
        amount = step * draw(st.integers(choice.least // step, choice.most // step))
    done = player.act(Action(choice.verb, amount))
    return done if isinstance(done, Play) else None


# --- changes of a move ---------------------------------------------------------------------------


def _shares(site: Site) -> tuple[int, ...]:
    near = numbers(site.state, site.amount, site.play.share)
    return tuple(share for share in near if 0 <= share <= site.amount)


@st.composite
def _changed(draw: st.DrawFn, site: Site) -> bytes:
    """The honest move with some of its bytes changed; at most as long as it may be."""
    move, most = site.play.move, site.before.max_move_size
    kinds = ("bit", "byte", "cut", "longer", "number", "encoding", "bytes")
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "bit" if move:
            # Of a mask, one card more or less.
            at = draw(st.integers(1, len(move)))
            changed = move[-at] ^ 1 << draw(st.integers(0, 7))
            return move[:-at] + bytes([changed]) + move[len(move) - at + 1 :]
        case "byte" if move:
            at = draw(st.integers(0, len(move) - 1))
            return move[:at] + bytes([move[at] ^ draw(st.integers(1, 255))]) + move[at + 1 :]
        case "cut" if move:
            return move[: draw(st.integers(0, len(move) - 1))]
        case "number" | "encoding":
            head = move[: draw(st.sampled_from((*HEADS, 0)))]
            number = st.sampled_from(numbers(site.state, site.amount))
            tail = int_to_atom(draw(number))
            if kind == "encoding":
                tail = longer_number(tail, draw(st.integers(1, 4)))
            return (head + tail)[:most]
        case "bytes":
            return draw(st.binary(max_size=most))
        case _:
            return (move + draw(st.binary(min_size=1, max_size=8)))[:most]


def _surely(site: Site) -> Iterator[tuple[bytes, int]]:
    """Changes of which some is illegal nearly everywhere, the smallest first."""
    move, share = site.play.move, site.play.share
    yield move, share + 1
    yield move, share - 1
    yield move + b"\x00", share
    yield move[:-1], share
    yield b"", share
    yield bytes(len(move)), share
