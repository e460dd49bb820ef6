"""The campaign of `explore`: a search for each moment of honest play, and what they find together.

Each search is a shard: one side stops playing by the rules at one moment of honest play, or two
honest peers lose connections and are killed. All of it is done with the keyed hash, and each broken
promise is walked again with real signatures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.engine import CampaignRun
from channelsim.channel.campaign.job import (
    Counts,
    Reporter,
    ShardWork,
    check_plugins,
    decoded,
    plugin_inputs,
)
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto.keyed_hash import WARNING, fast_signatures
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.dispute_world import DisputeWorld
from channelsim.channel.explore.lossy_world import MOST_FAULTS, LossyWorld
from channelsim.channel.explore.search import Search, World, mistake_of, walked
from channelsim.channel.explore.search_tree import Tree, Visited
from channelsim.channel.explore.signed_play import moments
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, THEFT, Finding
from channelsim.channel.session.setup import NAMES
from channelsim.channel.system.durable_files import replace_file, unwritable
from channelsim.clsp import run
from channelsim.games import registry
from channelsim.games.errors import UnknownGame

FORMAT = "channelsim explored path 1"

MOST_NUMBER = 6
"""The number of the last state of honest play before a side stops."""

SAVE_AFTER = 120.0
"""Seconds after which a search under way is stored again."""

SEVERITY = {"safety": THEFT, "money": THEFT, "exception": EXCEPTION}
"""The severity of a broken promise, if another one."""


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One search: these games at once, from a moment of honest play on, with a side that stops.

    Without a `thief` both are honest, from their first message on, and so many `faults` happen.
    """

    games: tuple[str, ...]
    seed: str
    moment: int = 0
    thief: int | None = None
    faults: int = MOST_FAULTS

    def world(self) -> World[Any, Any]:
        """The world, by the signatures of now. Raises `UsageError` for a moment that is not."""
        if self.thief is None:
            return LossyWorld(self.games, self.seed, self.faults)
        for number, moment in enumerate(moments(self.games, self.seed, MOST_NUMBER)):
            if number == self.moment:
                return DisputeWorld(self.games, self.seed, moment, self.thief)
        raise UsageError(f"honest play has no moment {self.moment}")

    @property
    def text(self) -> str:
        """The search as people read it."""
        played = " and ".join(self.games)
        if self.thief is None:
            return f"{played}, two honest peers"
        return f"{played}, the {NAMES[self.thief]} stops at moment {self.moment}"


class ExploredPath(msgspec.Struct, frozen=True, tag_field="format", tag=FORMAT):
    """A path to a broken promise: where it begins, its choices, and what it breaks."""

    root: Root
    path: tuple[str, ...]
    how: str = ""


class ExploredTotals(msgspec.Struct):
    """Totals of several searches; `whole` are those that have no frontier.

    `counts` are states, steps, steps to known states, ends, and states of the frontier; `kinds` the
    choices by kind; `longest` the choices of the longest path.
    """

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    longest: int = 0
    broken: list[ExploredPath] = msgspec.field(default_factory=list)

    def add(self, visited: Visited) -> None:
        """Count a search."""
        self.counts.update(
            searches=1,
            whole=int(not visited.frontier),
            states=visited.states,
            steps=visited.steps,
            merged=visited.merged,
            ends=visited.ends,
            frontier=visited.frontier,
        )
        self.kinds.update(visited.counts)
        self.longest = max(self.longest, visited.longest)

    def merge(self, other: ExploredTotals) -> None:
        """Add the totals of other searches."""
        self.counts.update(other.counts)
        self.kinds.update(other.kinds)
        self.longest = max(self.longest, other.longest)
        self.broken += other.broken


@dataclass(frozen=True)
class ExploreReport:
    """The results of a campaign, added up, and how it ran."""

    configuration: Configuration
    totals: ExploredTotals
    done: CampaignRun[ExploredTotals]

    @property
    def interrupted(self) -> bool:
        """True if not all searches were done, or some end early because of that."""
        return self.done.interrupted

    @property
    def lost(self) -> tuple[Shard, ...]:
        """The searches that crashed their workers."""
        return tuple(self.done.lost)

    @cached_property
    def digest(self) -> str | None:
        """The SHA-256 of configuration and totals; None if it was interrupted."""
        if self.interrupted:
            return None
        data = msgspec.json.encode(self.totals, order="deterministic")
        return sha256(self.configuration.digest.encode() + data).hexdigest()

    @cached_property
    def findings(self) -> list[Finding]:
        """Each mistake once, by a shortest path."""
        return findings(self.totals.broken)


@dataclass(frozen=True)
class Explorations:
    """The campaign: these searches. `most_states` are the states of each, None for all; none is
    begun after the time `until`, and those under way end with a frontier.

    A search under way is stored in the given folder now and then, and when it is interrupted, and
    goes on from there.
    """

    configuration: Configuration
    roots: tuple[Root, ...]
    most_states: int | None = None
    until: float | None = None
    folder: Path | None = None

    returns_early = True
    unit, units = "search", "searches"

    @property
    def plan(self) -> Plan:
        """The work in searches."""
        return Plan(self.configuration.digest, len(self.roots), unit=1)

    def worker(self) -> ShardWork:
        """Get ready to search. Raises `UsageError` where a plug-in is another one."""
        check_plugins(self.configuration.inputs)
        return self._run

    def decode(self, data: bytes) -> ExploredTotals:
        """The totals in the JSON of a shard."""
        return decoded(data, ExploredTotals)

    def _run(self, shard: Shard) -> bytes:
        totals, reporter = ExploredTotals(), Reporter()
        for number in shard.seeds:
            root = self.roots[number]
            with fast_signatures(), run.remembered():
                visited = self._searched(number, totals.counts["states"], reporter)
            totals.add(visited)
            for broken in visited.broken:
                path = ExploredPath(root, broken.path, broken.how)
                if any(mistake_of(how) == mistake_of(path.how) for how in broken_by(path)):
                    totals.broken.append(path)
                else:
                    totals.counts["not confirmed"] += 1
        return msgspec.json.encode(totals, order="deterministic")

    def _searched(self, number: int, before: int, reporter: Reporter) -> Visited:
        """Search from a root, or go on with that search. Raises `UsageError`, with the file."""
        root = self.roots[number]
        path = None if self.folder is None else self.folder / f"{number}.search"
        name = f"{root.text}, {self.configuration.digest}"
        search = Search[Any, Any](root.world(), _left(path, name))
        saved, asked = time(), False

        def stops(visited: Visited) -> bool:
            """Tell how many states were visited; true once there is no more time."""
            nonlocal saved, asked
            asked = reporter(0, lambda: {"states": before + visited.states})
            if path is not None and (asked or time() - saved > SAVE_AFTER):
                saved = time()
                _save(path, search.tree.encode(name, visited))
            return asked or (self.until is not None and time() > self.until)

        try:
            visited = search.run(self.most_states, stops)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        if path is not None and not asked:
            path.unlink(missing_ok=True)
        return visited

    def run(self, place: Place) -> ExploreReport:
        """Run all searches; an interrupt ends it early, with the totals so far."""
        states = 0
        so_far: list[ExploredPath] = []

        def count(part: ExploredTotals) -> tuple[Counts, Iterable[Finding]]:
            """Count states, and the different findings so far."""
            nonlocal states
            states += part.counts["states"]
            so_far.extend(part.broken)
            mistakes = findings(so_far)
            return {"states": states, "findings": len(mistakes)}, mistakes

        done = run_shards(self, place, count)
        totals = ExploredTotals()
        for part in in_order({**done.partial, **done.results}):
            totals.merge(part)
        return ExploreReport(self.configuration, totals, done)


def explorations(
    menus: tuple[tuple[str, ...], ...],
    seed: str,
    most_states: int | None = None,
    seconds: float | None = None,
    folder: Path | None = None,
) -> Explorations:
    """The campaign of all searches with each of these menus of games, which are played at once."""
    roots: list[Root] = []
    with fast_signatures():
        for games in menus:
            roots.append(Root(games, seed))
            for number, _ in enumerate(moments(games, seed, MOST_NUMBER)):
                roots += (Root(games, seed, number, thief) for thief in (0, 1))
    names = dict.fromkeys(name for games in menus for name in games)
    inputs = {
        **{
            f"game {name}": sha256(
                b"".join(program.hash for _, program in sorted(registry.get(name).programs.items()))
            ).hexdigest()
            for name in names
        },
        **plugin_inputs(lambda group, name: group in ("games", "policies")),
    }
    target = ", ".join("+".join(games) for games in menus)
    options: dict[str, Any] = {"signatures": WARNING, "states": most_states, "seconds": seconds}
    configuration = Configuration("explore", __version__, target, seed, inputs, options)
    until = None if seconds is None else time() + seconds
    return Explorations(configuration, tuple(roots), most_states, until, folder)


def _left(path: Path | None, name: str) -> tuple[Tree, Visited] | None:
    """The search that a file has; None if there is none. Raises `UsageError`."""
    if path is None or not path.exists():
        return None
    try:
        return Tree.decode(path.read_bytes(), name)
    except (OSError, UsageError) as error:
        raise UsageError(f"{path}: {error}; delete it to begin this search again") from None


def _save(path: Path, data: bytes) -> None:
    """Store a search. Raises `UsageError`."""
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, data, sync=False)
    except OSError as error:
        raise UsageError(unwritable(path, error)) from None


BOUNDS = {
    "state of honest play in which a side stops, at most": MOST_NUMBER,
    "bundles of the thief in a block": 1,
    "spends in one of its bundles": 2,
    "blocks replaced": 1,
    "lost connections and kills": MOST_FAULTS,
}
"""The bounds of all searches."""

SYMMETRIES = (
    "heights are relative to the tip",
    "unspent coins past all timeouts have the same age",
    "what is deeper than a block that is replaced has the same age",
    "what a side knows of coins that a replaced block took away is the same",
    "stores that lead to the same state are the same",
)
"""States that differ in these alone are visited once."""


def broken_by(path: ExploredPath) -> list[str]:
    """The promises that a path breaks now, with real signatures. Raises `UsageError`."""
    return walked(path.root.world(), path.path)


def is_path(scenario: dict[str, Any] | None) -> bool:
    """True if the scenario of a finding is an explored path."""
    return scenario is not None and scenario.get("format") == FORMAT


def replayed(file: Path, scenario: dict[str, Any]) -> dict[str, str]:
    """The promises that the path of a finding breaks now, each with the first line about it.

    Raises `UsageError`, with the file.
    """
    try:
        path = msgspec.convert(scenario, ExploredPath)
        for name in path.root.games:
            registry.get(name)
        lines = broken_by(path)
    except (msgspec.ValidationError, UsageError, UnknownGame) as error:
        raise UsageError(f"{file}: no explored path: {error}") from None
    broken: dict[str, str] = {}
    for line in lines:
        rule, _, text = line.partition(": ")
        broken.setdefault(rule, text)
    return broken


def findings(broken: Iterable[ExploredPath]) -> list[Finding]:
    """Each mistake once, by its shortest path, with its frequency."""
    shortest: dict[str, tuple[ExploredPath, int]] = {}
    for path in broken:
        mistake = mistake_of(path.how)
        known, times = shortest.get(mistake, (path, 0))
        shortest[mistake] = min(known, path, key=lambda one: len(one.path)), times + 1
    return [_finding(mistake, path, times) for mistake, (path, times) in shortest.items()]


def _finding(mistake: str, path: ExploredPath, times: int) -> Finding:
    rule, _, text = path.how.partition(": ")
    return Finding(
        rule=rule,
        place=f"{path.root.text}: {'; '.join(path.path)}",
        severity=SEVERITY.get(rule, BROKEN_PROMISE),
        text=f"{text} (found in fast mode, confirmed with real signatures)",
        times=times,
        scenario=msgspec.to_builtins(path),
        mistake=mistake,
    )
