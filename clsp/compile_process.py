"""The process that runs the compiler, on a copy of a source, and what it leaves behind.

The compiler numbers the names that it makes up across all sources of one process, and orders
functions by these names: so a process compiles one source only, and the same source is always the
same program. A process may also crash, or be stopped. Importing this module loads no compiler.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from channelsim.clsp.programs import Program

SECONDS = 30
"""The limit of processor time; validators of poker compile in less than one second."""

MEMORY = 1 << 30
"""The limit of memory in bytes: validators of poker take 50 million."""

_PATIENCE = 10
"""The factor by which a busy machine may take longer than the processor time."""

_LONGEST = 300
"""The most characters of a reason that are shown."""

_CHILD = Path(__file__).with_name("compile_child.py")

_NUMBERED = re.compile(r"_\$_\d+")


class CompileError(Exception):
    """The source does not compile; the message is one line, with the compiler's reason."""


def compile_copy(
    copy: Path,
    output: Path,
    search: Sequence[Path],
    source: Path | None = None,
    seconds: int = SECONDS,
) -> Program:
    """Compile `copy`, in a temporary folder; errors name `source`, of which it is a copy.

    Raises `CompileError`.
    """
    before = set(copy.parent.iterdir())
    with tempfile.TemporaryDirectory(prefix="clsp-") as scratch:
        answer = Path(scratch) / "answer.json"
        paths = map(os.path.abspath, (copy, output, *search))
        ended = _run_child([answer, seconds, MEMORY, *paths], seconds)
        try:
            said = json.loads(answer.read_text("utf-8"))
        except (OSError, ValueError):
            said = {"error": ended}
    if "error" in said:
        reason = _one_line(said["error"], copy)
        raise CompileError(f"{source or copy}: {reason}")
    symbols = tidy(said["symbols"])
    written = {
        path.stem.removeprefix(copy.stem).lstrip("_"): _read(path, symbols)
        for path in set(copy.parent.iterdir()) - before
        if path.suffix == ".hex"
    }
    # Beside <stem>_<name>.hex the compiler writes the program's hash, as <stem>_<name>_hash.hex.
    exports = {
        name: program
        for name, program in written.items()
        if name.removesuffix("_hash") == name or name.removesuffix("_hash") not in written
    }
    if not exports:
        return _read(output, symbols)
    if "" in exports or len(exports) == 1:
        return exports.get("") or next(iter(exports.values()))
    exported = ", ".join(sorted(exports))
    raise CompileError(f"{source or copy}: exports {exported}, and no main")


def tidy(symbols: Mapping[str, str]) -> dict[str, str]:
    """Make the compiler's symbols reproducible: sorted, without its counters and paths.

    The compiler numbers generated names across all sources of one process, and adds the path of
    its copy of the source.

    >>> tidy({"ab": "letbinding_$_7", "ab_arguments": "((a) b_$_6)", "source_file": "/tmp/x"})
    {'ab': 'letbinding', 'ab_arguments': '((a) b)'}
    """
    return {
        key: _NUMBERED.sub("", symbols[key])
        for key in sorted(symbols)
        if key != "source_file" and not key.endswith("_left_env")
    }


def _read(path: Path, symbols: Mapping[str, str]) -> Program:
    return Program(bytes.fromhex(path.read_text("ascii").strip()), symbols)


def _run_child(arguments: Sequence[object], seconds: int) -> str:
    """Run the compiler's process; return how it ended, for the case that it gave no answer."""
    # Without the `site` module it starts sooner; what that adds to the path is here already.
    command = [sys.executable, "-S", "-P", str(_CHILD), *map(str, arguments)]
    path = os.pathsep.join(map(os.path.abspath, sys.path))
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
        return f"the compiler was stopped after {seconds * _PATIENCE} s"
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"the compiler needs more than {seconds} s: does a macro never end?"
    return (
        "the compiler crashed: it needs too much memory"
        f" (more than {MEMORY >> 20} MB), or too deep a stack"
    )


def _one_line(error: str, copy: Path) -> str:
    """A reason as one line that is safe to print, of at most `_LONGEST` characters."""
    line = " ".join(error.replace(str(copy.parent) + "/", "").split())
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
