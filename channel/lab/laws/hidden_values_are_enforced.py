"""Law for targets without rules: a hidden value that is not legal costs the player that hides it.

The author's declaration says what is legal: what its `legal` draws (`hidden_traits`). In a recorded
hand the value that a player opens becomes one that is not, with all hashes on the way; the other
moves stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.commitments import Words, in_value
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hash_paths import HashPath, HashPaths, rewritten
from channelsim.channel.lab.sites.hidden_traits import Traits, traits_of
from channelsim.channel.lab.sites.honest_play import Recorded, legal_result, recorded_sites
from channelsim.channel.lab.sites.replays import RecordedHands
from channelsim.channel.lab.sites.site import END, Site, make_site
from channelsim.channel.lab.sites.values import transferred
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, ProgramValid, run_serialized
from channelsim.clsp.values import NIL, Value
from channelsim.games.chance import Chance
from channelsim.games.contract import Play, Position, RawState, Slash, Valid
from channelsim.games.evidence import Evidence
from channelsim.games.hidden import Hidden, legal_value, possible_value
from channelsim.games.judge import position_after
from channelsim.plugins import WrongAnswer

HANDS = 64
"""The most recorded hands in which values are looked for."""

LIES = 6
"""The values that are tried at one site."""

DRAWS = 64
"""The values of a cheat that show which places of a value it may change."""


@dataclass(frozen=True)
class Opening:
    """A recorded hand to its end, and the place in it where a move shows a whole hidden value."""

    hand: tuple[Site, ...]
    at: int
    start: int
    path: HashPath
    hidden: Hidden
    traits: Traits
    varied: tuple[int, ...]

    @property
    def value(self) -> bytes:
        """The honest value."""
        return self.hand[self.at].play.move[self.start : self.start + self.traits.size]


class HiddenValuesAreEnforced:
    """Hides a value that no legal draw is like, in a recorded hand, and plays that to its end.

    It is a finding if the programs take every move of the liar and read no evidence there, so that
    nothing slashes it, and it ends with no less than in honest play, and more than nothing.
    """

    name = "hidden values are enforced"
    every = 8
    needs = Needs.HIDDEN

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try some illegal values in a recorded hand, if the target declares any."""
        openings = _openings(trial.target)
        if not openings:
            return
        for _ in range(LIES):
            opening = trial.chance.pick(openings)
            lie = _lie(trial.target, opening, trial.chance)
            if len(lie) != opening.traits.size or not (what := opening.traits.broken(lie)):
                continue  # it may be legal
            trial.tally.tried[self.name] += 1
            if (shown := _played(trial, opening, lie)) is not None:
                name = opening.hidden.name
                text = (
                    f"a {name} that is not legal is taken: {what}; no evidence can slash it, since"
                    " the programs read none, and the liar ends with no less than in honest play."
                    " This holds if `legal` of the game's declaration draws every legal value"
                )
                call = shown.play.move, shown.play.share, shown.play.evidence
                cause = f"{name} is not legal"
                yield trial.at(shown).finding(self.name, UNSLASHABLE, text, cause, call, Slash(""))
                return


# --- the hands ---------------------------------------------------------------------------------


def _openings(target: Target) -> Sequence[Opening]:
    """The openings of hidden values in recorded hands that come to their end."""
    if not _last or _last[0][0] is not target:
        known = traits_of(target)
        _last[:] = [(target, tuple(_found(target, known)) if known else ())]
    return _last[0][1]


_last: list[tuple[Target, Sequence[Opening]]] = []
"""The last target's, since finding them takes longer than a case does."""


def _found(target: Target, known: Sequence[tuple[Hidden, Traits]]) -> Iterator[Opening]:
    recorded, paths = RecordedHands(recorded_sites(target)), HashPaths(target)
    varied = [_varied(target, hidden, traits) for hidden, traits in known]
    for number in range(HANDS):
        hand = recorded.pick(FastChance(number.to_bytes(2, "big")))
        if (last := hand[-1].known) is None or last.next is not None:
            continue
        for at, site in enumerate(hand):
            if target.judge(site.validator) is not None:
                continue
            for (hidden, traits), places in zip(known, varied, strict=True):
                if len(site.play.move) < traits.size or not places:
                    continue
                if (path := paths.at(site)) is None:
                    continue
                move = site.play.move
                starts = [move.find(part) for part in path.shown if move.count(part) == 1]
                start = min(starts, default=len(move))
                value = move[start : start + traits.size]
                if len(value) == traits.size and not traits.broken(value):
                    yield Opening(tuple(hand), at, start, path, hidden, traits, places)


def _varied(target: Target, hidden: Hidden, traits: Traits) -> tuple[int, ...]:
    """The places of a value that a cheat changes, of those where all legal values are alike."""
    places = set[int]()
    for number in range(DRAWS):
        chance = Chance(number.to_bytes(2, "big"))
        value = legal_value(target.name, hidden, chance)
        lie = possible_value(target.name, hidden, chance, value)
        if len(lie) == traits.size:
            places |= {place for place in traits.places if lie[place] != value[place]}
    return tuple(sorted(places))


def _lie(target: Target, opening: Opening, chance: FastChance) -> bytes:
    """A value that a cheat could hide: its own draw, two of them, or one with the honest sum."""
    value, drawn = opening.value, Chance(chance.bytes(16))
    places = opening.varied
    if chance.random() < 0.4:
        changed = bytearray(value)
        for _ in range(1 + chance.below(3)):
            cells = transferred(bytes(changed[place] for place in places), chance)
            for place, byte in zip(places, cells, strict=True):
                changed[place] = byte
        return bytes(changed)
    lie = possible_value(target.name, opening.hidden, drawn, value)
    if chance.random() < 0.4:
        # A change of the first change: one ship less, and another one.
        with suppress(Exception, WrongAnswer):  # it need not work on what is not legal
            return possible_value(target.name, opening.hidden, drawn, lie)
    return lie


# --- played to the end -------------------------------------------------------------------------


def _played(trial: Trial, opening: Opening, lie: bytes) -> Site | None:
    """The place that shows the lie, if the liar comes to the end of the hand as well off."""
    words = _words(opening, lie)
    if not words:
        return None
    shown: Site | None = None
    first = opening.hand[0]
    state = RawState(in_value(first.state, words))
    before = msgspec.structs.replace(first.before, state=state)
    for number, site in enumerate(opening.hand):
        liars = (number - opening.at) % 2 == 0
        place, step = _moved(trial, site, before, words, liars=liars)
        if place is None or step is None:
            return None
        if number == opening.at:
            shown = place
        if number + 1 == len(opening.hand):
            return shown if _as_well_off(trial, site, place, liars=liars) else None
        following = opening.hand[number + 1]
        if step.next is None or step.next.validator != following.validator:
            return None
        before = position_after(before, step.next, place.play.move, place.play.share)
    return None


def _words(opening: Opening, lie: bytes) -> dict[bytes, bytes]:
    """The replacements in the hand; none where some bytes of the value are not committed to."""
    value, move = opening.value, opening.hand[opening.at].play.move
    if len(lie) != len(value):
        return {}
    changed = {place for place, byte in enumerate(value) if byte != lie[place]}
    words = {}
    for part in opening.path.shown:
        at = move.find(part) - opening.start
        if at < 0 or at + len(part) > len(value) or move.count(part) > 1:
            continue
        changed -= set(range(at, at + len(part)))
        if lie[at : at + len(part)] != part:
            words[part] = lie[at : at + len(part)]
    return {} if changed else opening.path.words(words)


def _moved(
    trial: Trial, site: Site, before: Position, words: Words, *, liars: bool
) -> tuple[Site | None, Valid | None]:
    """The place of a recorded move in the hand with the lie, and what it leads to.

    None where the programs refuse it, or, of the liar, read any evidence.
    """
    target, play = trial.target, site.play
    evidence = tuple(dict.fromkeys(in_value(value, words) for value in (play.evidence, *site.held)))
    receiver = Recorded(before, tuple(map(Evidence, evidence)), before.mover.other)
    move = rewritten(play.move, words)
    for share in (play.share,) if liars else (play.share, site.amount, 0):
        tried = Play(move, share, evidence[0])
        place = make_site(target, before, tried, site.amount, receiver, base=site, guessed=True)
        if not place.fits(move, share):
            continue
        here = trial.at(place)
        if any(here.slashes(move, share, value) for value in place.evidence(move)):
            continue
        outcome = here.run(move, share, evidence[0])
        if not isinstance(outcome, ProgramValid):
            continue
        step = legal_result(target, outcome.value)
        if step is None or step.conditions:
            continue
        if liars and not _reads_no_evidence(target, place, outcome.value):
            return None, None
        return place, step
    return None, None


def _reads_no_evidence(target: Target, place: Site, result: Value) -> bool:
    """True if the program returns the same without any evidence in its arguments: then it is the
    same for all evidence that there could be."""
    play = place.play
    # The list of arguments ends where the evidence would be.
    whole = place.environment(play.move, play.share, NIL)
    without = whole.removesuffix(b"\xff\x80" + END) + b"\x80"
    outcome = run_serialized(target.programs[place.validator].serialized, without, MAX_COST)
    return isinstance(outcome, ProgramValid) and outcome.value == result


def _as_well_off(trial: Trial, site: Site, place: Site, *, liars: bool) -> bool:
    """True if the last move leaves the liar as much as the honest one does, and that is something.

    A move of its opponent must not be able to leave it less: a program may well take an illegal
    value, and give the liar nothing for it.
    """
    share = site.play.share
    if liars:
        return place.play.share <= share < site.amount
    if share == 0 or place.play.share < share:
        return False
    move, less = place.play.move, share - 1
    return trial.at(place).slashes(move, less, NIL) or any(
        trial.at(place).slashes(move, less, value) for value in place.evidence(move)
    )


LAW = HiddenValuesAreEnforced()
