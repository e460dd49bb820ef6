"""The sessions of a guided campaign on the right product, and the faults that each would reach.

A fault that a session does not reach changes nothing in it, so such sessions are run once for all
faults. The scripts are those of `attack` with this seed, which the faults do not guide.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import msgspec

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import default_games
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.generations import GENERATION, Discovery, Pool, discovery, script
from channelsim.channel.attack.kinds import KINDS
from channelsim.channel.attack.world import run
from scripts.tools.attack_faults.planting import Fault, Reach


class Probed(msgspec.Struct, frozen=True):
    """A session without any fault: its script, what it discovers, and the faults it would reach.

    It is silent but for what it has `broken`.
    """

    attack: Attack
    reached: frozenset[str]
    broken: tuple[str, ...] = ()
    discovery: Discovery | None = None


class _Head(msgspec.Struct, frozen=True):
    """The first line of the file: what all sessions depend on."""

    seed: str
    kinds: tuple[str, ...]
    faults: tuple[str, ...]


class Stream:
    """The sessions of a seed, one after another; they are stored in a file, one a line."""

    def __init__(self, faults: Sequence[Fault], seed: str, path: Path, *, fast: bool) -> None:
        self._faults, self._seed, self._path, self._fast = faults, seed, path, fast
        self._head = _Head(seed, tuple(KINDS), tuple(sorted(fault.name for fault in faults)))
        self._sessions: list[Probed] = []
        self._pool, self._new = Pool(), list[Discovery]()
        self._read = 0

    def session(self, number: int) -> Probed:
        """The session of this number, from 0; it is run if the file lacks it.

        Raises `ValueError` for a file of another seed, of other kinds of actions, or other faults.
        """
        while number >= len(self._sessions):
            with self._file():
                if number >= len(self._sessions):
                    session = self._probe()
                    self._add(session)
                    line = msgspec.json.encode(session, order="deterministic") + b"\n"
                    with self._path.open("ab") as file:
                        file.write(line)
                    self._read += len(line)
        return self._sessions[number]

    @contextmanager
    def _file(self) -> Iterator[None]:
        """Hold the file, with what others have added to it."""
        with self._path.open("a+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            file.seek(self._read)
            lines = file.read().splitlines(keepends=True)
            if not self._read:
                head = msgspec.json.encode(self._head) + b"\n"
                if not lines:
                    file.write(head)
                    file.flush()
                elif lines.pop(0) != head:
                    raise ValueError(f"{self._path}: other sessions: name a new file")
                self._read = len(head)
            for line in lines:
                self._add(msgspec.json.decode(line, type=Probed))
                self._read += len(line)
            yield

    def _add(self, session: Probed) -> None:
        self._sessions.append(session)
        if session.discovery is not None:
            self._new.append(session.discovery)
        if len(self._sessions) % GENERATION == 0:
            self._pool, self._new = self._pool.adding(self._new), []

    def _probe(self) -> Probed:
        """Run the next session with a probe for each fault."""
        attack = script(self._pool, default_games(), self._seed, len(self._sessions))
        reaches = {fault.name: Reach(probes=True) for fault in self._faults}
        with ExitStack() as stack:
            stack.enter_context(fast_mode() if self._fast else nullcontext())
            for fault in self._faults:
                fault.plant(stack, reaches[fault.name])
            session = run(attack)
        names = frozenset(name for name, reach in reaches.items() if reach.reached)
        new = discovery(attack, session.done, session.situations, set(self._pool.known))
        broken = tuple(f"{one.monitor}: {one.text}" for one in session.violations)
        return Probed(attack, names, broken, new)
