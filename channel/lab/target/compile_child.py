"""The process that compiles one source. It imports little: every source of a target starts it once.

Its arguments are ANSWER, SECONDS, MEMORY, SOURCE and any INCLUDE.

ANSWER becomes a JSON file: `program` (hex) and `symbols`, or `error`.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from channelsim.clsp.compiler import CompileError, compile_source

OUTPUT = 16 << 20
"""The compiler writes no file of more bytes."""


def main(answer: str, seconds: str, memory: str, source: str, *include: str) -> None:
    """Compile within these limits, and write the answer."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, int(seconds))
    _limit(resource.RLIMIT_FSIZE, OUTPUT)
    _limit(resource.RLIMIT_AS, int(memory))
    Path(answer).write_text(json.dumps(_compiled(Path(source), [*map(Path, include)])), "ascii")


def _compiled(source: Path, include: list[Path]) -> dict[str, object]:
    try:
        made = compile_source(source, include)
    except CompileError as error:
        return {"error": str(error).removeprefix(f"{source}: ")}
    except BaseException as error:  # a panic of the compiler is no `Exception`
        return {"error": f"the compiler failed: {' '.join(str(error).split())}"}
    return {"program": made.program.serialized.hex(), "symbols": dict(made.symbols)}


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process, unless it is lower already."""
    hard = resource.getrlimit(what)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


if __name__ == "__main__":
    main(*sys.argv[1:])
