"""Lies: hands in which one player does what no honest player does, and both play on.

A wrong answer is often legal until a later reveal exposes it, so that a mistake shows only at
places to which honest play never comes. Here a move becomes another one that the program takes.
Both players go on by their own logic, and the programs decide where each move leads: the rules
refuse to make a state out of an illegal move.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import drawn_terms, quick_policies
from channelsim.channel.lab.sites.honest_play import Recorded, legal_result
from channelsim.channel.lab.sites.replays import COST, typed_next
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games.chance import Chance
from channelsim.games.contract import Play, Player, Policy, Position, Seat, Valid
from channelsim.games.dealing import deal
from channelsim.games.evidence import met
from channelsim.games.judge import position_after, program_conditions

T = TypeVar("T")

Known: TypeAlias = dict[str, deque[Play]]
"""Honest moves of other hands, by validator."""

LIES = 3
"""The lies in one hand, each with another end."""

TRIES = 24
"""The moves that are tried to find a lie that the program takes."""

KNOWN = 32
"""The newest moves of other hands at a validator that a lie may copy."""

AGAIN = 0.3
"""The share of a liar's later moves that are lies as well."""

AT_A_VALIDATOR = 2
"""The most places of one validator that are tried after a lie."""

LONGEST = 100
"""The most moves of a hand with a lie."""


class Liars:
    """Hands of a target with lies at each validator about as often."""

    def __init__(self, target: Target, chance: FastChance) -> None:
        self._target, self._chance = target, chance
        self._known: Known = defaultdict(lambda: deque(maxlen=KNOWN))
        self._told: Counter[str] = Counter()

    def remember(self, validator: str, play: Play) -> None:
        """Keep an honest move: in another hand it may be a lie."""
        self._known[validator].append(play)

    def places(self) -> Iterator[Site]:
        """The places after a few lies in one hand, each with its own end.

        The place of a lie itself is one of them only if the rules forbid it there.
        """
        hand = list(_honest_hand(self._target, self._chance))
        for _ in range(min(LIES, len(hand))):
            least = min(self._told[turn.validator] for turn in hand)
            turn = self._chance.pick([t for t in hand if self._told[t.validator] == least])
            self._told[turn.validator] += 1
            yield from _Lie(self._target, self._chance, self._known, turn).places()


@dataclass(frozen=True)
class _Turn:
    """The state of a hand before a move: all that is needed to go on from there."""

    position: Position
    players: tuple[Player, ...]
    amount: int
    policies: tuple[Policy, Policy]
    plays: tuple[Play, ...]

    @property
    def validator(self) -> str:
        return self.position.validator or ""


def _honest_hand(target: Target, chance: FastChance) -> Iterator[_Turn]:
    """The turns of a hand whose players do not lie."""
    game, drawn = target.game, Chance(chance.bytes(16))
    terms, policies = drawn_terms(target, quick_policies(target), drawn)
    terms, entropy = deal(game, terms, drawn)
    players = tuple(game.player(seat, terms, entropy[seat]) for seat in Seat)
    turn = _Turn(game.initial(terms).position, players, terms.amount, policies, ())
    hand = _Lie(target, chance, {}, turn)
    while (site := hand.next_place()) is not None:
        yield hand.turn
        if not hand.goes_on(site, taken(target, site)):
            return


class _Lie:
    """A hand from some turn on. `told` describes the lie, and `trusted` says that the rules allow
    all moves so far."""

    def __init__(self, target: Target, chance: FastChance, known: Known, turn: _Turn) -> None:
        self._target, self._chance, self._known, self.turn = target, chance, known, turn
        self._drawn = Chance(chance.bytes(16))
        self._liar: Seat | None = None
        self._told = ""
        self._trusted = True

    def places(self) -> Iterator[Site]:
        """The places after a lie in the next move; none where the program takes no lie."""
        seen: Counter[str] = Counter()
        for number in range(LONGEST):
            site = self.next_place()
            if site is None:
                return
            again = self._liar is site.before.mover and self._chance.random() < AGAIN
            lied = self._lied(site) if again or not number else None
            if lied is None and not number:
                return
            site, after = (site, taken(self._target, site)) if lied is None else lied
            forbidden = lied is not None and not self._legal(site)
            if (lied is None or forbidden) and seen[site.validator] < AT_A_VALIDATOR:
                seen[site.validator] += 1
                yield site
            if forbidden or not self.goes_on(site, after):
                return

    def next_place(self) -> Site | None:
        """The place of the next move, by its mover's own logic; None if it settles or is at a
        loss."""
        position = self.turn.position
        if position.over:
            return None
        seat = position.mover
        player, policy = self.turn.players[seat], self.turn.policies[seat]
        play = self._asked(seat, lambda: player.act(policy(player, self._drawn)))
        return self._site(play) if isinstance(play, Play) else None

    def goes_on(self, site: Site, after: Valid | None) -> bool:
        """Make the site's move, which leads there; False where the hand ends."""
        if after is None or after.next is None:
            return False
        turn, play = self.turn, site.play
        ruling, _ = site.ruling(self._target, play.move, play.share)
        self._trusted &= isinstance(ruling, Valid) and ruling.next == after.next
        position = position_after(turn.position, after.next, play.move, play.share)
        players = []
        for seat, player in zip(Seat, turn.players, strict=True):
            moved = self._asked(seat, partial(player.moved, position))
            if moved is None:
                return False
            players.append(moved)
        self.turn = _Turn(position, tuple(players), turn.amount, turn.policies, (*turn.plays, play))
        return True

    def _legal(self, site: Site) -> bool:
        ruling, _ = site.ruling(self._target, site.play.move, site.play.share)
        return isinstance(ruling, Valid)

    # --- the players --------------------------------------------------------------------------

    def _asked(self, seat: Seat, call: Callable[[], T]) -> T | None:
        """The answer of a player's logic; None where it fails, if it may.

        It was not written for a player that lies, nor for what programs that break the rules make.
        But no legal move of its opponent may stop an honest player.
        """
        if seat is not self._liar and self._trusted:
            return call()
        try:
            return call()
        except Exception:
            return None

    def _site(self, play: Play) -> Site:
        """The place of this move; what a liar holds against it is assumed."""
        turn = self.turn
        position, other = turn.position, turn.position.mover.other
        receiver, guessed = turn.players[other], other is self._liar or not self._trusted
        if guessed:
            held = self._asked(other, lambda: turn.players[other].evidence(position, play.move))
            receiver = Recorded(position, (play.evidence, *(held or ())), other)
        return make_site(
            *(self._target, position, play, turn.amount, receiver),
            guessed=guessed,
            others=turn.plays,
            lie=self._told,
        )

    # --- the lie ------------------------------------------------------------------------------

    def _lied(self, site: Site) -> tuple[Site, Valid] | None:
        """The place with another move that the program takes, and what that leads to."""
        honest = taken(self._target, site)
        for _ in range(TRIES):
            play = another_play(site, self._known.get(site.validator, ()), self._chance)
            if play == site.play or not site.fits(play.move, play.share):
                continue
            other = self._site(play)
            after = taken(self._target, other)
            if after is None or (after == honest and play.share == site.play.share):
                continue
            self._liar = site.before.mover
            self._told = self._told or described_lie(site, play)
            return msgspec.structs.replace(other, lie=self._told, base=site), after
        return None


def described_lie(site: Site, play: Play) -> str:
    """A lie at a place, for people."""
    sent, usual = (_short(move) for move in (play.move, site.play.move))
    where = f"{site.before.mover.name.title()} at {site.validator}"
    if play.move == site.play.move:
        return f"{where} declares {play.share:,} instead of {site.play.share:,} and is not slashed"
    return f"{where} sends {sent} instead of {usual} and is not slashed"


def _short(move: bytes) -> str:
    if not move:
        return "nothing"
    return "0x" + (move.hex() if len(move) <= 8 else f"{move[:6].hex()}…")


def taken(target: Target, site: Site) -> Valid | None:
    """What the site's move leads to by its program, if none of the receiver's evidence slashes it.

    None where some does, where the program takes none of it, and where its result is no record of
    the target.
    """
    move, share = site.play.move, site.play.share
    if site.validator in target.missing:
        ruling, _ = site.ruling(target, move, share)
        return ruling if isinstance(ruling, Valid) else None
    program = target.programs[site.validator].serialized
    legal: Valid | None = None
    for evidence in site.candidates(move):
        outcome = run_serialized(program, site.environment(move, share, evidence.value), COST)
        if isinstance(outcome, ProgramSlash):
            return None
        if not isinstance(outcome, ProgramValid):
            continue
        if met(program_conditions(outcome.value), evidence.signature):
            return None
        legal = legal or legal_result(target, outcome.value)
    if legal is None or legal.next is None:
        return legal
    step = typed_next(target, legal.next)
    return None if step is None else Valid(step)


def another_play(site: Site, known: Sequence[Play], chance: FastChance) -> Play:
    """Another move at a place: one of another hand or place, or the honest one with changes."""
    play = site.play
    move, share = play.move, play.share
    match chance.below(8):
        case 0 | 1 if known:
            move = chance.pick(known).move
        case 2 if site.others:
            move = chance.pick(site.others).move
        case 3 if len(move) > 1:
            move = bytes(chance.shuffled(move))
        case 4 if move:
            at, other = chance.below(len(move)), chance.pick(known).move if known else move
            byte = other[at % len(other)] if other and chance.random() < 0.5 else chance.byte()
            move = move[:at] + bytes([byte]) + move[at + 1 :]
        case 5:
            move = chance.bytes(len(move))
        case 6:
            share = abs(chance.pick(numbers(site.state, site.amount, share)))
        case _:
            move = int_to_atom(chance.pick(numbers(site.state, site.amount, share)))
    if share == play.share and chance.random() < 0.2:
        share = chance.pick((0, site.amount, *(other.share for other in known)))
    return Play(move, share, play.evidence)
