"""Try all values within bounds, of evidence for example, in a call of which all else is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import Any

from channelsim.channel.prove.arguments import Steps, replaced
from channelsim.channel.prove.executor import SymbolicProgram
from channelsim.channel.prove.inputs import Domain
from channelsim.channel.prove.judged import Judged, judged
from channelsim.channel.prove.path import Path, explore
from channelsim.channel.prove.solver import make_solver
from channelsim.channel.prove.symbols import Undecided
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value

SECONDS = 20.0
"""The longest that all values in one call are tried."""


def every_value(
    program: Program,
    call: Value,
    free: Sequence[Steps],
    ended_so: Callable[[Judged], bool],
    pairs: int,
    atom: int,
) -> bool | None:
    """True if the program ends so on a call whatever is at these places; None if nobody can tell.

    Where the program looks at values as large as the bounds, nobody can: there are larger ones.
    """
    inputs = Domain((program.hash,), None, 0, pairs=pairs, atom=atom).environment(0)
    environment: Any = call
    for number, steps in enumerate(free):
        environment = replaced(environment, steps, inputs.any_value(f"value {number}"))
    side = SymbolicProgram("any value", program)

    def run(path: Path) -> bool:
        return ended_so(judged(path, side.run(path, environment)))

    bounded = False
    try:
        for path, ended in explore(run, make_solver(), thread_time() + SECONDS):
            if not ended:
                return False
            bounded = bounded or path.bounded
    except Undecided:
        return None
    return None if bounded else True
