"""Compile an author's source in a process of its own, with bounded time and memory.

The compiler may crash (a segmentation fault, out of memory), and a macro may never end. Here that
is an error of the source, in one line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import channelsim
from channelsim.clsp.compiler import Compiled, CompileError
from channelsim.clsp.programs import Program
from channelsim.games.amounts import counted

SECONDS = 30
"""The limit of processor time; poker validators compile in less than one second."""

MEMORY = 1 << 30
"""Bytes: validators of poker take 50 million."""

_PATIENCE = 10
"""On a busy machine the processor time may take this many times longer."""


def compile_apart(source: Path, include: Sequence[Path], seconds: int = SECONDS) -> Compiled:
    """Compile a source in its own process. Raises `CompileError` with the compiler's reason."""
    with tempfile.TemporaryDirectory(prefix="compile-") as scratch:
        answer = Path(scratch) / "answer.json"
        paths = map(os.path.abspath, (source, *include))
        ended = _run([answer, seconds, MEMORY, *paths], seconds)
        try:
            said = json.loads(answer.read_text("ascii"))
        except (OSError, ValueError):
            said = {"error": ended}
    if "error" in said:
        raise CompileError(said["error"])
    return Compiled(Program(bytes.fromhex(said["program"])), said["symbols"])


def _run(arguments: Sequence[object], seconds: int) -> str:
    """Run the process; how it ended, in case it did not answer."""
    # Without the `site` module it starts sooner; what that adds to the path is here already.
    command = [
        sys.executable,
        "-S",
        "-m",
        "channelsim.channel.lab.target.compile_child",
        *map(str, arguments),
    ]
    ours = Path(channelsim.__file__).parent.parent
    path = os.pathsep.join(os.path.abspath(one) for one in (str(ours), *sys.path))
    try:
        ended = subprocess.run(
            command,
            cwd=Path(str(arguments[0])).parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            timeout=seconds * _PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the compiler was stopped after {counted(seconds * _PATIENCE, 'second')}"
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"the compiler needs more than {counted(seconds, 'second')}: does a macro never end?"
    return (
        "the compiler crashed: it needs too much memory"
        f" (more than {MEMORY >> 20} MB), or too deep a stack"
    )
