"""The process that compiles one source, within limits. It imports the compiler and nothing of ours.

Its arguments are ANSWER, SECONDS, MEMORY, SOURCE, OUTPUT and any folder for includes. ANSWER
becomes a JSON file: the compiler's `symbols`, or an `error`; OUTPUT the program in hex.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

LARGEST_FILE = 16 << 20
"""The compiler writes no file of more bytes."""


def main(answer: str, seconds: str, memory: str, source: str, output: str, *include: str) -> None:
    """Compile within these limits (of processor time, and bytes), and write the answer."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, int(seconds))
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _limit(resource.RLIMIT_AS, int(memory))
    Path(answer).write_text(json.dumps(_compiled(source, output, list(include))), "utf-8")


def _compiled(source: str, output: str, include: list[str]) -> dict[str, object]:
    from chialisp import compile_clvm

    try:
        answer = compile_clvm(source, output, include, True)
    except Exception as error:  # the compiler raises bare ones too
        return {"error": str(error)}
    except BaseException as error:  # and panics, which are no `Exception`
        return {"error": f"the compiler failed: {error}"}
    return {"symbols": answer["symbols"] if isinstance(answer, dict) else {}}


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process, unless it is lower already."""
    hard = resource.getrlimit(what)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


if __name__ == "__main__":
    main(*sys.argv[1:])
