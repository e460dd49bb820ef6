"""Sessions without a change, and with one: which functions they run, and which way they go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.world import run
from scripts.tools.engine_mutants.changes import Mutant


@dataclass(frozen=True, slots=True)
class RightSession:
    """A session of the right engine: its digest, and the functions that it runs, by their files.

    One that breaks something is of no use here.
    """

    attack: Attack
    digest: str
    functions: frozenset[tuple[str, str]]
    is_broken: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of a mutant: the numbers of sessions in which it was `tried` and `reached`.

    In so many it went a `different` way, before the last one `noticed` it by a line.
    """

    mutant: Mutant
    tried: int
    reached: int
    different: int
    noticed: str


def right_session(attack: Attack) -> RightSession:
    """Run a session, and follow which functions it runs."""
    functions: set[tuple[str, str]] = set()

    def follow(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    with fast_mode():
        sys.setprofile(follow)
        try:
            session = run(attack)
        finally:
            sys.setprofile(None)
    return RightSession(attack, session.digest, frozenset(functions), bool(session.violations))


@dataclass
class _Reach:
    """A mark that the session that is running has come to the changed statement."""

    reached: bool = False

    def mark(self) -> None:
        self.reached = True


def trial(mutant: Mutant, sessions: Sequence[RightSession], most: int) -> Trial:
    """Change the engine in this process, and run at most so many sessions that run the function.

    An error of the harness itself counts as noticed: no session ends like that.
    """
    reach, reached, different, noticed = _Reach(), 0, 0, ""
    file = str(sys.modules[mutant.module].__file__)
    chosen = [one for one in sessions if (file, mutant.function) in one.functions][:most]
    mutant.plant(reach.mark)
    for number, right in enumerate(chosen, 1):
        reach.reached = False
        digest = ""
        with fast_mode():
            try:
                session = run(right.attack)
            except Exception as error:
                noticed = f"harness: {type(error).__name__}"
            else:
                digest = session.digest
                for violation in session.violations[:1]:
                    noticed = f"{violation.monitor}: {violation.text}"
        reached += reach.reached
        if noticed:
            return Trial(mutant, number, reached, different, noticed[:160])
        different += reach.reached and digest != right.digest
    return Trial(mutant, len(chosen), reached, different, "")
