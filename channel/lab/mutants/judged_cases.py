"""Cases prepared once for thousands of programs: argument bytes and the rules' result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

import msgspec
from chia_rs import run_chia_program

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases import corpus
from channelsim.channel.lab.cases.copies import with_same_point
from channelsim.channel.lab.cases.duels import Meetings, duel
from channelsim.channel.lab.crosscheck.chunks import CHUNK, trials
from channelsim.channel.lab.laws.verdicts_agree import matches
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.program_words import GROUP_ORDER, constants, lengths
from channelsim.channel.lab.sites.site import Call, Site, recommitted
from channelsim.channel.lab.sites.state_changes import patterned
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import MAX_COST, STRICT, ProgramSlash, ProgramValid, run_serialized
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.contract import Raise, Valid
from channelsim.games.judge import result_value

FIRST_CHUNKS = 8
"""The number of chunks from which the cases are chosen that every mutant meets first; of games
that share programs two each, if that is more."""

WIDE, DEEP = 256, CHUNK
"""The cases of a chunk, besides its duels. A wide chunk has many sites with few cases each, for
rare hands. Every fourth is deep: many moves at the same sites."""

DUELS = 2
"""Duels at each place of a wide chunk."""

VARIANTS = 6
"""The number of variants of each site, with other commitments, that have duels too."""

DEALS = 12
"""The number of secrets behind each site at which hands of every class are looked for."""

KEPT = 400
"""The most cases of a validator that are chosen, all of different fingerprints."""

PER_RULE = 80
"""The most of them that end by the same rule; a legal move counts as one more rule."""

COST_FACTOR = 20
"""A mutant may cost this many times what the costliest run of the original does: a sixtieth of a
block and more is left over, and a program without an end is found in milliseconds."""


class JudgedCase(msgspec.Struct, frozen=True, gc=False):
    """One call of a validator. `result` is what the rules say that it returns: `()` for an
    illegal move, None where the evidence does not fit and the program has to raise."""

    arguments: bytes
    result: Value | None
    ends: bool = False
    """A legal end of the game, where absent items of the result count as `()`."""


def differs(program: bytes, case: JudgedCase, limit: int) -> bool:
    """True if the program's outcome differs from the rules', within this cost limit.

    A validator that raises on a legal or an illegal move, or goes beyond the limit, differs.
    """
    try:
        result = run_chia_program(program, case.arguments, limit, STRICT)[1]
    except ValueError as error:
        return case.result is not None or "cost exceeded" in str(error)
    if case.result is None:
        return True
    return not matches(result, case.result, case.ends)


def fresh(
    target: Target, seed: str, number: int, names: Collection[str]
) -> dict[str, list[JudgedCase]]:
    """One chunk of cases, by validator; only of those that are wanted.

    Chunks are numbered from 0, after those of `diverse`; the games of a family take turns.
    """
    cases: dict[str, list[JudgedCase]] = {name: [] for name in names}
    games = _games(target, names)
    turn, at = divmod(_first_chunks(games) + number, len(games))
    for name, _rule, case in _judged(games[at], seed, turn, names):
        cases[name].append(case)
    return cases


def diverse(
    target: Target, seed: str, names: Collection[str]
) -> tuple[dict[str, list[JudgedCase]], dict[str, int], dict[str, float]]:
    """A few hundred cases of each wanted validator that differ in the rule that decides or in the
    cost of the run, rule by rule in turn; the cost up to which a mutant is run; and the average
    number of cases in a chunk.

    They come from the first chunks, numbered from 0.
    """
    kept: dict[str, dict[str, dict[int, JudgedCase]]] = {name: defaultdict(dict) for name in names}
    most, counts = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    seen: set[bytes] = set()
    games = _games(target, names)
    for number in range(_first_chunks(games)):
        turn, at = divmod(number, len(games))
        for name, rule, case in _judged(games[at], seed, turn, names):
            counts[name] += 1
            if case.arguments in seen:
                continue
            seen.add(case.arguments)
            cost = cost_of(target.programs[name].serialized, case.arguments)
            most[name] = max(most[name], cost)
            by_cost = kept[name][rule]
            if len(by_cost) < PER_RULE:
                by_cost.setdefault(cost or len(by_cost), case)
    chosen = {}
    for name, by_rule in kept.items():
        turns = zip_longest(*(by_cost.values() for by_cost in by_rule.values()))
        chosen[name] = [case for turn in turns for case in turn if case is not None][:KEPT]
    limits = {name: COST_FACTOR * cost for name, cost in most.items()}
    return chosen, limits, {name: count / _first_chunks(games) for name, count in counts.items()}


def _games(target: Target, names: Collection[str]) -> tuple[Target, ...]:
    """The games of the family that use one of these programs."""
    return tuple(game for game in target.family if not game.programs.keys().isdisjoint(names))


def _first_chunks(games: Sequence[Target]) -> int:
    return max(FIRST_CHUNKS, 2 * len(games))


def _judged(
    target: Target, seed: str, number: int, names: Collection[str]
) -> Iterator[tuple[str, str, JudgedCase]]:
    """The cases of a chunk with the rule that decides each."""
    hashes = target.hashes
    for site, called in _calls(target, seed, number, names):
        for call, blob in called:
            verdict = site.rules_say(target, *call)
            if isinstance(verdict, Valid):
                rule = verdict.rule or "valid"
                result = result_value(verdict.next, hashes, verdict.conditions)
                ends = verdict.next is None and not verdict.conditions
                prepared = JudgedCase(blob, result, ends)
            elif isinstance(verdict, Raise):
                rule, prepared = verdict.rule, JudgedCase(blob, None)
            else:
                rule, prepared = verdict.rule, JudgedCase(blob, NIL)
            yield site.validator, rule, prepared


def _calls(
    target: Target, seed: str, number: int, names: Collection[str]
) -> Iterator[tuple[Site, Iterator[tuple[Call, bytes]]]]:
    """The sites of a chunk and the calls that are tried there."""
    deep = number % 4 == 0
    chance = FastChance(derive(seed.encode(), "duels", number))
    meetings = Meetings(target)
    for trial in trials(target, seed, number, DEEP if deep else WIDE):
        site = trial.site
        if site.validator not in names:
            continue
        calls = ((case.call, case.arguments) for case in trial.cases)
        yield site, chain(calls, _written(site, _with_same_points(target, site)))
        if deep or target.rules is None:  # duels and other secrets need a game
            continue
        for place in _variants(target, site, chance):
            fought = (call for _ in range(DUELS) for call in duel(target, place, chance))
            yield place, _written(place, chain(fought, meetings.calls(place)))
        for _ in range(DEALS if meetings.at(site) else 0):
            if (other := recommitted(target, site, chance, fresh=True)) is not None:
                yield other, _written(other, meetings.calls(other))


def _with_same_points(target: Target, site: Site) -> Iterator[Call]:
    """The honest call with other scalars in its move that give the same points."""
    program, play = target.programs[site.validator], site.play
    if GROUP_ORDER in constants(program):
        for move in with_same_point(play.move, (0, *lengths(program).cuts)):
            yield move, play.share, play.evidence


def _written(site: Site, calls: Iterable[Call]) -> Iterator[tuple[Call, bytes]]:
    return ((call, site.environment(*call)) for call in calls)


def _variants(target: Target, site: Site, chance: FastChance) -> Iterator[Site]:
    """A site, and variants with other values behind its commitments and in its lists."""
    yield site
    if next(duel(target, site, chance), None) is None:
        return
    for _ in range(VARIANTS):
        other = recommitted(target, site, chance)
        if other is None:
            continue
        yield other
        if (laid_out := patterned(target, other, chance)) is not None:
            yield laid_out


def stored(target: Target, folder: Path) -> dict[str, list[JudgedCase]]:
    """The calls of a stored corpus, by program, each with the result that the original gives.

    Raises `UsageError` for a file that cannot be read, and for a case on which the original differs
    from what the file expects.
    """
    cases: dict[str, list[JudgedCase]] = defaultdict(list)
    for entry in corpus.read(target, folder):
        if entry.differs is not None:
            raise UsageError(f"--corpus {folder}: {entry.program}: {entry.id}: {entry.differs}")
        cases[entry.program].append(as_decided(target, entry.program, entry.arguments))
    return dict(cases)


def recorded(target: Target) -> dict[str, list[JudgedCase]]:
    """The cases of honest play, by program, each with the result that the original gives.

    Raises `UsageError` for a case on which the original differs from what the file expects.
    """
    cases: dict[str, list[JudgedCase]] = defaultdict(list)
    runs = corpus.CaseRuns(target)
    for case in target.honest:
        entry = runs.stored(case)
        if entry.differs is not None:
            raise UsageError(f"{target.name}: {entry.program}: {entry.id}: {entry.differs}")
        cases[entry.program].append(as_decided(target, entry.program, entry.arguments))
    return dict(cases)


def as_decided(target: Target, name: str, arguments: bytes) -> JudgedCase:
    """A call of a program, with the result that the original gives."""
    match run_serialized(target.with_referee[name].serialized, arguments):
        case ProgramValid(value):
            return JudgedCase(arguments, value, value in _ENDS)
        case ProgramSlash():
            return JudgedCase(arguments, NIL)
        case _:
            return JudgedCase(arguments, None)


_ENDS = tuple(to_list([NIL] * items) for items in (1, 2, 3))
"""The results that end a game."""


def cost_of(program: bytes, arguments: bytes) -> int:
    """The cost of a run; 0 where it raises, which reports none."""
    try:
        return run_chia_program(program, arguments, MAX_COST, STRICT)[0]
    except ValueError:
        return 0
