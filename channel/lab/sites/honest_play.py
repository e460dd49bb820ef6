"""Places of honest play out of a file, for a target without rules.

The file has conformance cases: legal moves, and perhaps some that are to slash or to raise.
Nothing else is known of such a target: neither whether another move is legal, nor the evidence
that an opponent would hold against it. It is assumed to hold the evidence in the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value, atom_to_int, serialize
from channelsim.games.contract import (
    Action,
    Choice,
    Next,
    Play,
    Position,
    RawState,
    Seat,
    Settle,
    Valid,
)
from channelsim.games.errors import IllegalAction
from channelsim.games.evidence import Candidate, Evidence
from channelsim.games.judge import program_conditions
from channelsim.games.vectors import ResolvedCase, resolve_case

HELD = 16
"""The most pieces of evidence that a challenger is assumed to hold."""


HASH = 32
"""The length of a commitment, in bytes."""

OTHERS = 32
"""The most moves of other places that are tried at one."""


@dataclass(frozen=True)
class Recorded:
    """An opponent of whom only its evidence is known."""

    position: Position
    held: tuple[Candidate, ...]
    seat: Seat = Seat.BOB

    def choices(self) -> tuple[Choice, ...]:
        """No choices: a recorded opponent only judges."""
        return ()

    def act(self, action: Action) -> Play | Settle:
        """Refuse every action: there are no choices."""
        raise IllegalAction(f"{action.verb}: this player was only recorded")

    def moved(self, position: Position) -> Recorded:
        """The same player at another position."""
        return Recorded(position, self.held, self.seat)

    def evidence(self, before: Position, move: bytes) -> tuple[Candidate, ...]:
        """The recorded evidence, the same for every move."""
        return self.held

    def advisory(self) -> bytes | None:
        """None: a recorded opponent reveals nothing early."""
        return None

    def advised(self, data: bytes) -> Recorded:
        """The same player: early reveals tell it nothing."""
        return self


def honest_sites(target: Target, chance: FastChance) -> Iterator[Site]:
    """The file's legal moves without end, in random order, validators in balance."""
    sites = recorded_sites(target)
    queues: dict[str, list[Site]] = {site.validator: [] for site in sites}
    while True:
        for name, queue in queues.items():
            if not queue:
                queue += chance.shuffled([site for site in sites if site.validator == name])
            yield queue.pop()


def plays(target: Target, validator: str) -> tuple[Play, ...]:
    """The honest moves of one validator."""
    return tuple(site.play for site in recorded_sites(target) if site.validator == validator)


def recorded_sites(target: Target) -> tuple[Site, ...]:
    """Each legal move of the file once, with all the evidence that the file has for it."""
    if not _last or _last[0][0] is not target:
        _last[:] = [(target, _read_sites(target))]
    return _last[0][1]


_last: list[tuple[Target, tuple[Site, ...]]] = []
"""The last target's, since working a file out takes longer than a case does."""


def _read_sites(target: Target) -> tuple[Site, ...]:
    cases = [resolve_case(case, target.name, target.hashes) for case in target.honest]
    # Of a place (a validator, a state and a move), and of a validator at any of its places.
    evidence: defaultdict[tuple[bytes | str, ...], dict[bytes, Evidence]] = defaultdict(dict)
    shares: dict[bytes, int] = {}
    for case in cases:
        if case.evidence != NIL:
            for key in (_place_of(case), (case.case.validator,)):
                evidence[key][serialize(case.evidence)] = Evidence(case.evidence, case.signature)
        if case.case.next is not None:
            shares[serialize(_next_state(case))] = case.case.mover_share
    sites: dict[tuple[tuple[str, bytes, bytes], int], Site] = {}
    for case in cases:
        written, place = case.case, _place_of(case)
        # Under extra conditions a move is legal only as long as nobody meets them: no honest move.
        legal = written.expect == "valid" and not case.conditions
        if not legal or (place, written.mover_share) in sites:
            continue
        pieces = tuple({**evidence[place], **evidence[written.validator,]}.values())[:HELD]
        share = min(shares.get(serialize(case.state), written.amount // 2), written.amount)
        known = Valid(_known_next(case))
        sites[place, written.mover_share] = _site(target, case, share, pieces, known)
    return _with_others(target, list(sites.values()))


def _site(
    target: Target,
    case: ResolvedCase,
    share: int,
    pieces: tuple[Candidate, ...],
    known: Valid | None = None,
) -> Site:
    """The site of a case, before which the mover's share was this one."""
    written = case.case
    state, size = RawState(case.state), written.max_move_size
    before = Position(written.validator, state, Seat.ALICE, share, size)
    play = Play(case.move, written.mover_share, case.evidence)
    return make_site(target, before, play, written.amount, Recorded(before, pieces), known=known)


def _with_others(target: Target, sites: Sequence[Site]) -> tuple[Site, ...]:
    """The sites, each with moves of others whose state has a commitment, or another hash, in
    common with its own: mostly moves of the same hand, before and after it."""
    programs = set(target.hashes.values())
    having: dict[bytes, list[Site]] = {}
    for site in sites:
        for atom in dict.fromkeys(leaves(site.state)):
            if len(atom) == HASH and atom not in programs:
                having.setdefault(atom, []).append(site)
    with_others = []
    for site in sites:
        akin = (other for atom in leaves(site.state) for other in having.get(atom, ())[:OTHERS])
        plays = {other.play.move: other.play for other in akin}
        plays.pop(site.play.move, None)
        with_others.append(msgspec.structs.replace(site, others=tuple(plays.values())[:OTHERS]))
    return tuple(with_others)


def site_of_case(target: Target, case: ResolvedCase) -> Site:
    """The site of one recorded case, whose challenger holds the evidence of that case only."""
    return _site(target, case, case.case.amount // 2, (Evidence(case.evidence, case.signature),))


def _known_next(case: ResolvedCase) -> Next | None:
    """The next record that a legal case states; None where it ends the game."""
    step = case.case.next
    if step is None:
        return None
    return Next(step.validator, RawState(_next_state(case)), step.max_move_size)


def legal_result(target: Target, result: Value) -> Valid | None:
    """Read a program's result as a legal verdict; None for a result that names no program
    of the target, or is of another shape."""
    conditions = program_conditions(result)
    match result:
        case (b"", _):
            return Valid(None, conditions)
        case (bytes(program), (state, (bytes(size), rest))) if len(size) <= 2:
            if rest != NIL and not conditions:
                return None
            for name, known in target.hashes.items():
                if known == program:
                    return Valid(Next(name, RawState(state), atom_to_int(size)), conditions)
    return None


def _next_state(case: ResolvedCase) -> Value:
    match case.result:
        case (_, (state, (bytes(), _))):
            return state
        case _:
            return NIL


def _place_of(case: ResolvedCase) -> tuple[str, bytes, bytes]:
    return case.case.validator, serialize(case.state), case.move
