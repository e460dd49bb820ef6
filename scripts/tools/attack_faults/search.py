"""The search for the first session that notices a fault, and the file of its results."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.kinds import KINDS
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.system.durable_files import replace_file
from scripts.tools.attack_faults.planting import Fault, Reach
from scripts.tools.attack_faults.stream import Stream


class Result(msgspec.Struct, frozen=True):
    """The results of the sessions with a fault.

    Of `sessions` those were run in which it would be `reached`: in all others it changes nothing.
    `noticed` is the number of the first session (from 1) that broke a `monitor` which it keeps
    without the fault: 0 if none has. `script` is that session, shrunk if that was asked for. `seed`
    is that of the sessions, if it is another one than that of the file.
    """

    fault: str
    sessions: int = 0
    reached: int = 0
    noticed: int = 0
    monitor: str = ""
    text: str = ""
    script: Attack | None = None
    seed: str = ""


class Results(msgspec.Struct, frozen=True):
    """The results of one seed, by fault; `kinds` are those of actions that were drawn."""

    seed: str
    kinds: tuple[str, ...]
    results: dict[str, Result] = {}


@dataclass(frozen=True, slots=True)
class Search:
    """The extent of a search for faults: at most so many `runs` each, of the sessions of `stream`.

    Of those at most `tries` are run that reach the fault. A script is shrunk in at most so many
    sessions. `fast`: with a keyed hash for signatures; a session that notices something is then
    run again with real ones.
    """

    runs: int
    stream: Stream
    shrinking: int = 0
    fast: bool = False
    tries: int = 1_000_000


def examine(fault: Fault, before: Result, search: Search) -> Result:
    """Go on with the sessions of a fault, until one notices it or there are so many."""
    sessions, reached = before.sessions, before.reached
    while sessions < search.runs and reached < search.tries:
        session = search.stream.session(sessions)
        script = session.attack
        sessions += 1
        if fault.name not in session.reached:
            continue
        reached += 1
        with fast_mode() if search.fast else nullcontext():
            broken = _planted(fault, script)
            known = _broken_without(script, search.fast) if broken else {}
        if search.fast and {*broken} - {*known}:
            broken = _planted(fault, script)
            known = _broken_without(script, False) if broken else {}
        if known:
            print(f"without any fault, too: {known} in {script}", file=sys.stderr)
        new = [monitor for monitor in broken if monitor not in known]
        if not new:
            continue
        monitor = new[0]
        script = _plainest(fault, script, monitor, search)
        text = broken[monitor]
        return Result(fault.name, sessions, reached, sessions, monitor, text[:200], script)
    return Result(fault.name, sessions, reached)


def _plainest(fault: Fault, script: Attack, monitor: str, search: Search) -> Attack:
    """A script with fewer actions that still breaks a monitor with the fault, and not without.

    What is found with a keyed hash for signatures has to hold with real ones, too.
    """

    def tells(plainer: Attack) -> bool:
        return monitor in _planted(fault, plainer) and monitor not in broken_by(plainer)

    with fast_mode() if search.fast else nullcontext():
        plainest = shrunk(script, tells, search.shrinking)
    return plainest if plainest == script or not search.fast or tells(plainest) else script


def _planted(fault: Fault, script: Attack) -> dict[str, str]:
    """The monitors that a session with a fault breaks."""
    with ExitStack() as stack:
        fault.plant(stack, Reach())
        return broken_by(script)


@lru_cache(maxsize=1000)
def _broken_without(script: Attack, fast: bool) -> dict[str, str]:
    """The monitors that a session breaks without any fault, in fast mode or with signatures."""
    return broken_by(script)


# --- the file ------------------------------------------------------------------------------------


class ResultFile:
    """A file of results, on which several processes may work at once, each on other faults."""

    def __init__(self, path: Path, seed: str) -> None:
        self._path, self._seed = path, seed
        self._locks = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)

    def read(self) -> Results:
        """Read it. Raises `ValueError` for results of another seed, or of other kinds."""
        if not self._path.exists():
            return Results(self._seed, tuple(KINDS))
        results = msgspec.json.decode(self._path.read_bytes(), type=Results)
        if results.seed != self._seed:
            raise ValueError(f"{self._path}: results of the seed {results.seed!r}")
        if results.kinds != tuple(KINDS):
            raise ValueError(f"{self._path}: results of other kinds of actions: name a new file")
        return results

    def write(self, result: Result) -> None:
        """Add or replace a result."""
        with self._locked(0):
            results = self.read()
            all_results = sorted({**results.results, result.fault: result}.items())
            lines = (msgspec.json.encode({name: known})[1:-1] for name, known in all_results)
            head = msgspec.json.encode({"seed": self._seed, "kinds": results.kinds})[:-1]
            data = head + b',"results":{\n' + b",\n".join(lines) + b"\n}}\n"
            replace_file(self._path, data, sync=False)

    def claimed(self, faults: Sequence[Fault]) -> Iterator[Fault]:
        """The faults that no other process works on, each held until the next one."""
        for place, fault in enumerate(faults, 1):
            with suppress(BlockingIOError), self._locked(place, wait=False):
                yield fault

    @contextmanager
    def _locked(self, place: int, *, wait: bool = True) -> Iterator[None]:
        fcntl.lockf(self._locks, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, place)
        try:
            yield
        finally:
            fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, place)
