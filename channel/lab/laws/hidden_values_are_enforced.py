"""Law for targets without rules: a hidden value that is not legal costs the player that hides it.

The author's declaration says what is legal: what its `legal` draws (`hidden_traits`). In a recorded
hand the value that a player opens, in one move or part by part, becomes one that is not, with all
hashes on the way; the other moves stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.mutator import BYTES
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.commitments import Words, in_value
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hash_paths import rewritten
from channelsim.channel.lab.sites.hidden_openings import Opening, openings
from channelsim.channel.lab.sites.honest_play import Recorded, legal_result, recorded_sites
from channelsim.channel.lab.sites.site import END, Site, make_site
from channelsim.channel.lab.sites.values import transferred
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, ProgramValid, run_serialized
from channelsim.clsp.values import NIL, Value
from channelsim.games.chance import Chance
from channelsim.games.contract import Play, Position, RawState, Slash, Valid
from channelsim.games.evidence import Evidence
from channelsim.games.hidden import possible_value
from channelsim.games.judge import position_after
from channelsim.plugins import WrongAnswer

LIES = 6
"""The values that are tried at one site."""

FEWEST_BYTES = 3
"""Of evidence that is always one byte or none, the different ones that honest players show."""


class HiddenValuesAreEnforced:
    """Hides a value that no legal draw is like, in a recorded hand, and plays that to its end.

    It is a finding if the programs take every move of the liar, and read no evidence there, or
    bytes only, so that nothing slashes it, and it ends with no less than in honest play, and more
    than nothing.
    """

    name = "hidden values are enforced"
    every = 8
    needs = Needs.HIDDEN

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try some illegal values in a recorded hand, if the target declares any."""
        known = openings(trial.target)
        if not known:
            return
        for _ in range(LIES):
            opening = trial.chance.pick(known)
            lie = _lie(trial.target, opening, trial.chance)
            if len(lie) != opening.traits.size or not (what := opening.traits.broken(lie)):
                continue  # it may be legal
            trial.tally.tried[self.name] += 1
            if (shown := _played(trial, opening, lie)) is not None:
                name = opening.hidden.name
                text = (
                    f"a {name} that is not legal is taken: {what}; no evidence can slash it: the"
                    " programs read none, or a byte, and the liar ends with no less than in honest"
                    " play. This holds if `legal` of the game's declaration draws every legal value"
                )
                call = shown.play.move, shown.play.share, shown.play.evidence
                cause = f"{name} is not legal"
                yield trial.at(shown).finding(self.name, UNSLASHABLE, text, cause, call, Slash(""))
                return


def _lie(target: Target, opening: Opening, chance: FastChance) -> bytes:
    """A value that a cheat could hide: its own draw, two of them, one with the honest sum, or one
    with a number at a border."""
    value, drawn = opening.value, Chance(chance.bytes(16))
    places = opening.varied
    if chance.random() < 0.2:
        return opening.traits.at_a_border(value, places, chance)
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
    words = opening.words(lie)
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


def _moved(
    trial: Trial, site: Site, before: Position, words: Words, *, liars: bool
) -> tuple[Site | None, Valid | None]:
    """The place of a recorded move in the hand with the lie, and what it leads to.

    None where the programs refuse it, or, of the liar, read evidence that might slash it.
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
        if liars and not (
            _reads_no_evidence(target, place, outcome.value) or _no_byte_slashes(trial, place)
        ):
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


def _no_byte_slashes(trial: Trial, place: Site) -> bool:
    """True if evidence is a byte wherever honest players show any at this validator, and no byte
    slashes the move there."""
    shown = {
        value
        for other in recorded_sites(trial.target)
        if other.validator == place.validator
        for value in (other.play.evidence, *other.held)
    }
    if len(shown) < FEWEST_BYTES or any(
        isinstance(value, tuple) or len(value) > 1 for value in shown
    ):
        return False
    play = place.play
    return not any(trial.at(place).slashes(play.move, play.share, byte) for byte, _ in BYTES)


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
