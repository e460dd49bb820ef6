"""Compiling somebody's source in a process of its own, with bounded time and memory.

The compiler may crash (a segmentation fault, out of memory), and a macro may never end. Here that
is an error of the source, in one line. Run as a module, this is that process.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from clsp.compiler import CompileError, compile_source

SECONDS = 30
"""Of processor time: validators of poker take less than one."""

MEMORY = 1 << 30
"""Bytes: validators of poker take 50 million."""

_PATIENCE = 10
"""A busy machine may take so many times longer than the processor time."""

_OUTPUT = 16 << 20


class Made(msgspec.Struct, frozen=True):
    """A compiled program in hex, and the compiler's names for its functions."""

    program: str
    symbols: dict[str, str]


class _Answer(msgspec.Struct, frozen=True):
    made: Made | None = None
    error: str = ""


def compile_apart(source: Path, include: Sequence[Path], seconds: int = SECONDS) -> Made:
    """What a source compiles to. Raises `CompileError` with the compiler's reason alone."""
    with tempfile.TemporaryDirectory(prefix="compile-") as scratch:
        answer = Path(scratch) / "answer.json"
        ended = _run([answer, seconds, source.resolve(), *map(Path.resolve, include)], seconds)
        try:
            said = msgspec.json.decode(answer.read_bytes(), type=_Answer)
        except (OSError, msgspec.DecodeError):
            said = _Answer(error=ended)
    if said.made is None:
        raise CompileError(said.error)
    return said.made


def _run(arguments: Sequence[object], seconds: int) -> str:
    """Run the process; how it ended, if it did not answer."""
    command = [sys.executable, "-P", "-m", __name__, *map(str, arguments)]
    path = os.pathsep.join(os.path.abspath(one) for one in sys.path)
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            timeout=seconds * _PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the compiler was stopped after {seconds * _PATIENCE} seconds"
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"the compiler needs more than {seconds} seconds: does a macro never end?"
    return (
        "the compiler crashed on it: it may need too much memory"
        f" (more than {MEMORY >> 20} MB), or be nested too deep"
    )


def _answer(source: Path, include: Sequence[Path]) -> _Answer:
    try:
        made = compile_source(source, include)
    except CompileError as error:
        return _Answer(error=str(error).removeprefix(f"{source}: "))
    except MemoryError:
        return _Answer(error=f"it needs more than {MEMORY >> 20} MB to compile")
    except BaseException as error:  # a panic of the compiler is no `Exception`
        return _Answer(error=f"the compiler failed: {' '.join(str(error).split())}")
    return _Answer(Made(made.program.serialized.hex(), dict(made.symbols)))


def _main(answer: str, seconds: str, source: str, *include: str) -> None:
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, int(seconds))
    _limit(resource.RLIMIT_FSIZE, _OUTPUT)
    _limit(resource.RLIMIT_AS, MEMORY)
    made = _answer(Path(source), [Path(one) for one in include])
    Path(answer).write_bytes(msgspec.json.encode(made))


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process, unless it is lower already."""
    hard = resource.getrlimit(what)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


if __name__ == "__main__":
    _main(*sys.argv[1:])
