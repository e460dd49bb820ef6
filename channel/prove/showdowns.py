"""Showdowns, checked and not proved: every selection of both sides, at the shares that decide.

The validator that ends a game runs for real on deals that are drawn, and the rules judge the same
calls. Where both sides have too many selections for all pairs, each of one side meets some of the
other: which hand is better is then compared by values (`Game.checks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import LONGEST, drawn_terms
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.stacked_hands import StackedHands, stays
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.checked import Batch
from channelsim.channel.prove.claims import Side
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.inputs import MOST_SIZE, Domain, Inputs, Variables
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import CHECKED, Verdict
from channelsim.channel.prove.rules.claim import ObeysRules
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised, run_serialized
from channelsim.clsp.values import Value, deserialize
from channelsim.games.chance import Chance
from channelsim.games.contract import Raise, Slash, Valid
from channelsim.games.dealing import deal
from channelsim.games.judge import result_value
from channelsim.games.selfplay import turns_of

DEALS, A_BATCH = 1_000, 5
"""The most deals, and those of a batch."""

PAIRS, PARTNERS = 500, 3
"""The most pairs of selections of which all are tried, and how many each meets where there are
more."""

TRIES = 50
"""Hands that are played to find one that ends by this validator."""


@dataclass(frozen=True)
class ShowdownsAgree:
    """A validator that compares hands obeys its rules, in so many deals."""

    obeys: ObeysRules
    deals: int

    name = "showdowns"
    verdicts: tuple[Verdict, Verdict] = (CHECKED, "refuted")
    assumes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def batches(self) -> int:
        """The number of batches."""
        return -(-self.deals // A_BATCH)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The inputs in words."""
        return (
            f"showdowns are checked, not proved, in {self.deals:,} drawn deals: all selections of"
            f" both sides, in all pairs where there are at most {PAIRS}, else with {PARTNERS} of"
            " the other side; other bytes as selections; the share that is due, those beside it,"
            " none and all",
        )

    @property
    def _target(self) -> Target:
        return self.obeys.target

    def check(self, number: int) -> Batch:
        """Check the deals of a batch."""
        chance = FastChance(b"showdowns" + number.to_bytes(4, "big"))
        due = min(A_BATCH, self.deals - number * A_BATCH)
        count = 0
        for place in self._places(chance, due):
            for call in _calls(self._target, place, chance):
                count += 1
                environment = place.environment(*call)
                if self._differs(place, call, environment):
                    value = deserialize(environment)
                    if self.obeys.is_broken(value):
                        return Batch(count, counterexample=value)
        if not count:
            return Batch(0, "no hand comes to a showdown")
        return Batch(count)

    def _differs(self, place: Site, call: Call, environment: bytes) -> bool:
        """True unless program and rules plainly agree."""
        said = place.rules_say(self._target, *call)
        outcome = run_serialized(self._target.programs[place.validator].serialized, environment)
        match said, outcome:
            case (Slash(), ProgramSlash()) | (Raise(), Raised()):
                return False
            case Valid(step, conditions), ProgramValid(value):
                return value != result_value(step, self._target.hashes, conditions)
        return True

    def _places(self, chance: FastChance, count: int) -> Iterator[Site]:
        """Places of this validator in so many hands that are played to their end."""
        game = self._target.game
        dealer = StackedHands(self._target, chance) if game.deck_positions else None
        own = Chance(chance.bytes(16))
        for _ in range(TRIES * count):
            places = (
                self._hand(own)
                if dealer is None
                else dealer.places(_cards(game.deck_positions, own))
            )
            ended = [place for place in places if place.validator == self.obeys.validator]
            if ended:
                yield ended[-1]
                count -= 1
            if not count:
                return

    def _hand(self, chance: Chance) -> list[Site]:
        target = self._target
        terms, _ = drawn_terms(target, chance)
        terms, entropy = deal(target.game, terms, chance)
        turns = turns_of(target.game, target.hashes, terms, entropy, (stays, stays), chance)
        return [site_of(target, turn) for turn in islice(turns, LONGEST)]

    # --- the claim about the same arguments, for what breaks it ---------------------------------

    def sides(self) -> tuple[Side, ...]:
        """The program, and the rules."""
        return self.obeys.sides()

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator."""
        return self.obeys.environment(domain, size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where rules and program disagree."""
        return self.obeys.broken(path, inputs, endings)

    def is_broken(self, environment: Value) -> bool:
        """True if rules and program disagree in real runs, or the rules raise."""
        return self.obeys.is_broken(environment)


def _cards(positions: int, chance: Chance) -> tuple[int, ...]:
    """Different cards by position, half of the time of few ranks."""
    lowest = chance.below(52 - positions + 1) if chance.below(2) else 0
    most = min(52, lowest + max(positions, 24)) if lowest else 52
    few = range(most - max(positions, 24), most) if lowest else range(52)
    return chance.draw(few, positions)


def _selections(target: Target) -> tuple[bytes, ...]:
    pack = target.game.pack
    return tuple(dict.fromkeys((pack and pack.selections) or SELECTIONS))


def _calls(target: Target, place: Site, chance: FastChance) -> Iterator[Call]:
    """The calls at a place: of each pair of selections those at the shares that decide."""
    offered = _selections(target)
    top = place.amount
    evidence, shown = place.held[-1], place.play.move
    mine = [
        selection
        for selection in offered
        if _is_legal(target, place, (_selecting(shown, selection), top, evidence))
    ]
    theirs = [
        selection for selection in offered if _is_legal(target, place, (shown, top, selection))
    ]
    if not mine or not theirs:
        return
    dues: set[int] = set()
    for selection, other in _pairs(mine, theirs, chance):
        move = _selecting(shown, selection)
        due = _due(target, place, move, other, dues)
        for share in sorted({0, due - 1, due, due + 1, top}):
            if 0 <= share <= top:
                yield move, share, other
    for size in dict.fromkeys(map(len, mine)):
        for other in _other_bytes(size, chance):
            yield _selecting(shown, other), top, theirs[0]
            yield shown, top, other


def _pairs(
    mine: Sequence[bytes], theirs: Sequence[bytes], chance: FastChance
) -> Iterator[tuple[bytes, bytes]]:
    if len(mine) * len(theirs) <= PAIRS:
        yield from ((move, evidence) for move in mine for evidence in theirs)
        return
    for move in mine:
        yield from ((move, chance.pick(theirs)) for _ in range(PARTNERS))
    for evidence in theirs:
        yield from ((chance.pick(mine), evidence) for _ in range(PARTNERS))


def _other_bytes(size: int, chance: FastChance) -> Iterator[bytes]:
    """Every byte, where a selection is one; else some bytes of its size, and of others."""
    if size == 1:
        yield from (bytes((byte,)) for byte in range(256))
    elif size:
        yield from (chance.bytes(size) for _ in range(64))


def _is_legal(target: Target, place: Site, call: Call) -> bool:
    return isinstance(place.rules_say(target, *call), Valid)


def _due(target: Target, place: Site, move: bytes, evidence: Value, dues: set[int]) -> int:
    """The least share that the rules allow: one that was due before, or by bisection."""

    def legal(share: int) -> bool:
        return _is_legal(target, place, (move, share, evidence))

    for known in sorted(dues):
        if legal(known) and not (known and legal(known - 1)):
            return known
    low, high = 0, place.amount
    while low < high:
        middle = (low + high) // 2
        if legal(middle):
            high = middle
        else:
            low = middle + 1
    dues.add(low)
    return low


def _selecting(move: bytes, selection: bytes) -> bytes:
    """The move with another selection at its end."""
    return move[: len(move) - len(selection)] + selection


def showdown_checks(target: Target, validator: str, deals: int) -> Iterator[ShowdownsAgree]:
    """The check of a validator's showdowns, if its game has any and it ends the game."""
    game = target.game
    if target.rules is None or game.showdown is None or game.pack is None:
        return
    if validator == list(game.validators)[-1]:
        # No move of a showdown is longer than an honest one, so a limit makes no difference.
        obeys = ObeysRules(target, validator, MOST_SIZE)
        yield ShowdownsAgree(obeys, min(deals, DEALS))
