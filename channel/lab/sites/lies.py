"""Lies: hands in which one player does what no honest player does, and both play on.

A wrong answer is often legal until a later reveal exposes it, so that a mistake shows only at
places to which honest play never comes. Here a move becomes another one that the program takes, or
a player hides a value that the rules do not allow (`games.hidden`). Both players go on by their own
logic, and the programs decide where each move leads: the rules refuse to make a state out of an
illegal move.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import drawn_terms
from channelsim.channel.lab.sites.hidden_traits import traits_of
from channelsim.channel.lab.sites.honest_play import Recorded, plays
from channelsim.channel.lab.sites.other_decisions import other_decision
from channelsim.channel.lab.sites.parts import with_changed_part
from channelsim.channel.lab.sites.replays import program_result, ruled
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.sites.values import leaves, numbers, transferred
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import ProgramSlash, ProgramValid
from channelsim.clsp.values import int_to_atom
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Action,
    Game,
    Hidden,
    Play,
    Player,
    Policy,
    Position,
    Seat,
    Terms,
    Valid,
)
from channelsim.games.dealing import deal
from channelsim.games.evidence import met
from channelsim.games.hidden import Lies, hidden_values, seated
from channelsim.games.judge import position_after, program_conditions
from channelsim.games.players import player_after
from channelsim.plugins import WrongAnswer

T = TypeVar("T")

Known: TypeAlias = dict[str, deque[Play]]
"""Honest moves of other hands, by validator."""

KNOWN = 32
"""The newest moves of other hands at a validator that a lie may copy."""

LIES = 3
"""The lies in one hand, each with its own end; and the hands with another hidden value."""

UNTRIED = 9
"""More hands with another hidden value, whose moves are only judged as they are."""

TRIES = 24
"""The moves that are tried to find a lie that the program takes."""

AGAIN = (0.0, 0.0, 0.1, 0.3)
"""The shares of a liar's later moves that are lies as well, of which each hand has one."""

ALL_BYTES = 0.2
"""The share of hidden values with the same sum in which any byte may change, also of a salt."""

AT_A_BORDER = 0.3
"""The share of the lab's own draws of a hidden value in which one number is at a border."""

AT_A_VALIDATOR = 2
"""The places of one validator after a lie that are tried, about; those on which rules and program
differ always are."""

EDGES = (0, 1, 0x7F, 0x80, 0xFF)
"""Bytes at which numbers of one byte begin, end or change their sign."""

LONGEST = 100
"""The most moves of a hand with a lie."""

NEXT = "; then "
"""The words between two lies."""

SHOWN = 8
"""The bytes of a hidden value that a finding shows."""


@dataclass
class Liars:
    """Hands of a target with lies at each validator about as often; `known` is what lies copy."""

    target: Target
    chance: FastChance
    known: Known = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=KNOWN)))
    told: Counter[str] = field(default_factory=Counter)

    def places(self) -> Iterator[Site]:
        """The places after a few lies in one hand, each with its own end.

        The place of a lie itself is one of them only if the rules forbid it there.
        """
        target, game, drawn = self.target, self.target.game, Chance(self.chance.bytes(16))
        terms, policies = drawn_terms(target, drawn)
        terms, entropy = deal(game, terms, drawn)
        position = game.initial(terms).position
        start = partial(
            _Hand, target, self.chance, self.known, drawn, policies, terms.amount, position
        )
        hiding = [(seat, value.name) for value in game.hidden for seat in value.seats]
        for number in range(LIES + UNTRIED if hiding else 0):
            seat, name = self.chance.pick(hiding)
            lies = ((name, self.chance.bytes(16)),)
            lying = _lying_game(target, self.chance)
            told = _hidden_lie(lying, seat, entropy[seat], lies)
            players = _hiding(lying, terms, entropy, seat, lies) if told else None
            if players is not None:
                yield from start(players, seat, told).places(tried=number < LIES)
        hand = start(tuple(seated(game, seat, terms, entropy[seat]) for seat in Seat))
        turns: list[_Hand] = []
        # A wrong program may lead a hand round and round.
        while len(turns) < LONGEST and (site := hand.next_place()) is not None:
            turns.append(replace(hand))
            if not hand.goes_on(site, taken(target, site)):
                break
        for _ in range(min(LIES, len(turns))):
            times = [self.told[turn.position.validator or ""] for turn in turns]
            least = [turn for turn, told in zip(turns, times, strict=True) if told == min(times)]
            turn = self.chance.pick(least)
            self.told[turn.position.validator or ""] += 1
            yield from replace(turn).places()


@dataclass
class _Hand:
    """A hand at some turn, with a liar or not yet.

    `told` describes its first and its last lie, and `trusted` says that the rules allow all moves
    so far. `action` is the one by which its mover came to the place that was asked for last.
    """

    target: Target
    chance: FastChance
    known: Known
    drawn: Chance
    policies: tuple[Policy, Policy]
    amount: int
    position: Position
    players: tuple[Player, ...]
    liar: Seat | None = None
    told: str = ""
    plays: tuple[Play, ...] = ()
    trusted: bool = True
    action: Action | None = None

    def places(self, *, tried: bool = True) -> Iterator[Site]:
        """The places from here on; none if there is no liar yet and no lie is taken here. Of a hand
        that is not `tried` only those on which rules and program differ."""
        seen: Counter[str] = Counter()
        often = self.chance.pick(AGAIN)
        for _ in range(LONGEST):
            site = self.next_place()
            if site is None:
                return
            first = self.liar is None
            lies_on = self.liar is site.before.mover and self.chance.random() < often
            lied = self._lied(site) if first or lies_on else None
            if first and lied is None:
                return
            site, after = (site, taken(self.target, site)) if lied is None else lied
            ruling, _ = site.ruling(self.target, site.play.move, site.play.share)
            legal = isinstance(ruling, Valid)
            differ = legal != (after is not None) or (legal and ruling != after)
            seen[site.validator] += 1
            due = self.chance.random() * seen[site.validator] < AT_A_VALIDATOR
            if differ or (tried and lied is None and due):
                yield site
            fits = site.fits(site.play.move, site.play.share)
            if not legal or not fits or not self.goes_on(site, after):
                return

    def next_place(self) -> Site | None:
        """The place of the next move, by its mover's own logic; None if it settles or is at a
        loss. What a liar holds against the move is assumed."""
        position, seat = self.position, self.position.mover
        if position.over:
            return None
        player, policy, receiver = self.players[seat], self.policies[seat], self.players[seat.other]
        action = self._asked(seat, lambda: policy(player, self.drawn))
        play = None if action is None else self._asked(seat, lambda: player.act(action))
        if not isinstance(play, Play):
            return None
        self.action = action
        move, guessed = play.move, seat.other is self.liar or not self.trusted
        if guessed:
            held = self._asked(seat.other, partial(receiver.evidence, position, move))
            receiver = Recorded(position, (play.evidence, *(held or ())), seat.other)
        return make_site(
            *(self.target, position, play, self.amount, receiver),
            guessed=guessed,
            others=self.plays,
            lie=self.told,
        )

    def goes_on(self, site: Site, after: Valid | None) -> bool:
        """Make the site's move, which leads there; False where the hand ends."""
        if after is None or after.next is None:
            return False
        play = site.play
        ruling, _ = site.ruling(self.target, play.move, play.share)
        self.trusted &= isinstance(ruling, Valid) and ruling.next == after.next
        self.position = position_after(self.position, after.next, play.move, play.share)
        self.plays = (*self.plays, play)
        players = []
        for seat, player in zip(Seat, self.players, strict=True):
            memory = play.memory if seat is site.before.mover else b""
            moved = self._asked(seat, partial(player_after, player, self.position, memory))
            if moved is None:
                return False
            players.append(moved)
        self.players = tuple(players)
        return True

    def _asked(self, seat: Seat, call: Callable[[], T]) -> T | None:
        """The answer of a player's logic, which was not written for a player that lies."""
        return asked(call, trusted=seat is not self.liar and self.trusted)

    def _other_decision(self, site: Site) -> tuple[Play, int] | None:
        """The site's hidden decision with a number that its player does not offer."""
        player = self.players[site.before.mover]
        return None if self.action is None else other_decision(player, self.action, self.chance)

    def _lied(self, site: Site) -> tuple[Site, Valid] | None:
        """The place with another move that the program takes, and what that leads to."""
        honest, known = taken(self.target, site), self.known.get(site.validator, ())
        for number in range(TRIES):
            decided = self._other_decision(site) if number % 2 == 0 and site.play.memory else None
            play = decided[0] if decided else another_play(self.target, site, known, self.chance)
            if play == site.play or not site.fits(play.move, play.share):
                continue
            other = msgspec.structs.replace(site, play=play)
            after = taken(self.target, other)
            if after is None or (after == honest and play.share == site.play.share):
                continue
            self.liar = site.before.mover
            self._tell(site, play, decided and decided[1])
            held = other.evidence(play.move)[1:] or (play.evidence,)
            return msgspec.structs.replace(other, held=held, lie=self.told, base=site), after
        return None

    def _tell(self, site: Site, play: Play, decided: int | None) -> None:
        """Note a lie: another move than the site's, or a decision for a number that its player does
        not offer."""
        lie = f"{site.before.mover.name.title()} at {site.validator} "
        if decided is not None and self.action is not None:
            lie += f"decides {self.action.verb} {decided:,}, which its player does not offer"
        else:
            honestly = f"0x{site.play.move[:8].hex()}, {site.play.share:,}"
            lie += f"goes on from 0x{play.move[:8].hex()}, {play.share:,}, instead of {honestly}"
        first = self.told.split(NEXT)[0]
        self.told = f"{first}{NEXT}{lie}" if first else lie


def asked(call: Callable[[], T], *, trusted: bool) -> T | None:
    """The answer of a player's logic; None where it fails and is not `trusted`.

    It was not written for what programs that break the rules make. But no legal move of its
    opponent may stop an honest player.
    """
    try:
        return call()
    except (Exception, WrongAnswer):
        if trusted:
            raise
        return None


def recorded_lies(target: Target, hand: Sequence[Site], chance: FastChance) -> Iterator[Site]:
    """The places of a recorded hand after a lie that the program takes; its other moves stay.

    Nothing is known of what is legal there, nor of evidence besides that of the file.
    """
    at = chance.below(len(hand))
    first, known = hand[at], plays(target, hand[at].validator)
    for _ in range(TRIES):
        play = another_play(target, first, known, chance)
        site = msgspec.structs.replace(first, play=play, known=None)
        if play == first.play or not first.fits(play.move, play.share):
            continue
        after = taken(target, site)
        if after is None or after.next is None or after == first.known:
            continue
        lie = f"the move of {first.validator} was 0x{play.move[:8].hex()}, {play.share:,}"
        for later in hand[at + 1 :]:
            if after is None or after.next is None or after.next.validator != later.validator:
                return
            before = position_after(site.before, after.next, site.play.move, site.play.share)
            receiver = Recorded(before, later.candidates(later.play.move)[1:], before.mover.other)
            fields = target, before, later.play, later.amount, receiver
            site = make_site(*fields, guessed=True, others=later.others, lie=lie)
            yield site
            after = taken(target, site)
        return


def taken(target: Target, site: Site) -> Valid | None:
    """The result of the site's move by its program, if none of the receiver's evidence slashes it.

    None where some does, where the program takes none of it, and where its result is no record of
    the target.
    """
    if site.validator in target.missing:
        return ruled(target, site)
    legal: Valid | None = None
    for evidence in site.candidates(site.play.move):
        outcome, result = program_result(target, site, evidence.value)
        if isinstance(outcome, ProgramSlash):
            return None
        if not isinstance(outcome, ProgramValid):
            continue
        asked = program_conditions(outcome.value)
        if asked and met(asked, evidence.signature):
            return None
        legal = legal or result
    return legal


def another_play(target: Target, site: Site, known: Sequence[Play], chance: FastChance) -> Play:
    """Another move at a place: one of another hand or place, or the honest one with changes."""
    play = site.play
    move, share = play.move, play.share
    match chance.below(9):
        case 0 | 1 if known:
            move = chance.pick(known).move
        case 2 if site.others:
            move = chance.pick(site.others).move
        case 3 if len(move) > 1:
            move = bytes(chance.shuffled(move))
        case 4 if move:
            at = chance.pick((0, len(move) - 1, chance.below(len(move))))
            others = (*(other.move[at] for other in known if len(other.move) > at), move[at])
            near = (move[at] + chance.pick((1, -1))) % 256
            byte = chance.pick((chance.pick(others), near, chance.pick(EDGES), chance.below(256)))
            move = move[:at] + bytes([byte]) + move[at + 1 :]
        case 5:
            move = chance.bytes(len(move))
        case 6:
            share = abs(chance.pick(numbers(site.state, site.amount, share)))
        case 7:
            program = target.programs[site.validator]
            move = with_changed_part(move, program, tuple(leaves(site.state)), chance)
        case _:
            move = int_to_atom(chance.pick(numbers(site.state, site.amount, share)))
    if share == play.share and chance.random() < 0.2:
        share = chance.pick((0, site.amount, *(other.share for other in known)))
    return Play(move, share, play.evidence, play.memory)


# --- hidden values -----------------------------------------------------------------------------


def _lying_game(target: Target, chance: FastChance) -> Game:
    """The game, or half of the time with other draws of what a liar hides.

    Those are two lies about one value, or the legal value with its sum, as no single change of it
    makes them: mostly with the sum of the bytes that are no salts, where these are known. Or one of
    these bytes is at a border.
    """
    game = target.game
    if chance.random() < 0.5:
        return game
    steady, times = chance.random() < 0.7, 1 + chance.below(3)
    known = {hidden.name: traits for hidden, traits in traits_of(target)}
    border = chance.random() < AT_A_BORDER
    if chance.random() < ALL_BYTES:
        known = {}

    def several(hidden: Hidden, drawn: Chance, value: bytes) -> bytes:
        traits = known.get(hidden.name)
        if border and traits is not None and len(value) == traits.size:
            return traits.at_a_border(value, traits.places, FastChance(drawn.bytes(16)))
        if not steady:
            lie = hidden.possible(drawn, value)
            try:
                return hidden.possible(drawn, lie)
            except Exception:
                return lie  # it need not work on what is not legal
        changes = FastChance(drawn.bytes(16))
        if traits is not None and len(value) == traits.size:
            cells = traits.cells(value)
            for _ in range(times):
                cells = transferred(cells, changes)
            return traits.with_cells(value, cells)
        for _ in range(times):
            value = transferred(value, changes)
        return value

    values = (replace(hidden, possible=partial(several, hidden)) for hidden in game.hidden)
    return replace(game, hidden=tuple(values))


def _hiding(
    game: Game, terms: Terms, entropy: tuple[bytes, bytes], liar: Seat, lies: Lies
) -> tuple[Player, ...] | None:
    """The players of a hand in which one lies about what it hides; None where its own logic cannot
    even begin with that."""
    honest = seated(game, liar.other, terms, entropy[liar.other])
    try:
        lying = seated(game, liar, terms, entropy[liar], lies)
    except (Exception, WrongAnswer):
        return None
    return (lying, honest) if liar is Seat.ALICE else (honest, lying)


def _hidden_lie(game: Game, seat: Seat, entropy: bytes, lies: Lies) -> str:
    """A lie about a hidden value, for people; "" if the value is the legal one all the same."""
    ((name, _),) = lies
    legal = hidden_values(game, seat, entropy)[name]
    value = hidden_values(game, seat, entropy, lies)[name]
    if value == legal:
        return ""
    at = next(
        (at for at, pair in enumerate(zip(value, legal, strict=False)) if len({*pair}) > 1), 0
    )
    if len(value) == len(legal) > SHOWN and at >= SHOWN - 2:
        start, end = max(at - 1, 0), at + SHOWN - 2
        from_to = f"{_short(value[start:end])} from byte {start} on, instead of"
        return f"{seat.name.title()} hides {from_to} {_short(legal[start:end])}, in its {name}"
    return f"{seat.name.title()} hides {_short(value)} as its {name}, instead of {_short(legal)}"


def _short(data: bytes) -> str:
    shown = (
        data.hex() if len(data) <= SHOWN else f"{data[:6].hex()}… ({counted(len(data), 'byte')})"
    )
    return f"0x{shown}" if data else "nothing"
