"""Compile Chialisp: always a temporary copy, and in a process of its own.

The compiler writes the programs of a module (`include` and `export` at top level) beside their
source. So a source is copied first, and nothing new appears in its author's folder. It numbers the
names that it makes up across all sources of one process, and orders functions by these names: so a
process compiles one source only, and the same source is always the same program. A process may also
crash, or be stopped. Importing this module loads no compiler.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from types import MappingProxyType

from channelsim.clsp import program_cache
from channelsim.clsp.chialisp import BadForm, Mention, check, included, reached
from channelsim.clsp.programs import SOURCE, Program, digest_of_all, load, names

NONE: Mapping[str, Program] = MappingProxyType({})

SECONDS = 30
"""The limit of processor time; validators of poker compile in less than one second."""

MEMORY = 1 << 30
"""The limit of memory in bytes: validators of poker take 50 million."""

_PATIENCE = 10
"""The factor by which a busy machine may take longer than the processor time."""

_CACHED = "program and symbols, 2"
"""The content and format of a cached file, as part of its key."""

_LARGEST_SOURCE = 1 << 20
"""Larger files are compiled without the cache."""

_CHILD = Path(__file__).with_name("compile_child.py")

_NAMED_HASH = re.compile(r'\(include\s+"hashes/([^"]+)\.clinc"\)')
_NUMBERED = re.compile(r"_\$_\d+")


class CompileError(Exception):
    """The source does not compile; the message is one line, with the compiler's reason."""


def compile_source(
    source: Path,
    include_dirs: Sequence[Path] = (),
    others: Mapping[str, Program] = NONE,
    seconds: int = SECONDS,
) -> Program:
    """Compile a source file of any author; nothing is written beside it.

    The result is the source's own program (of a module: its unnamed export, or its only one),
    with its symbols. It takes at most these seconds of processor time, and `MEMORY` bytes.

    It may include files of its own folder and of `include_dirs`, this package's libraries
    (`lib/masks.clinc`) and hashes of programs (`hashes/spacepoker/end.clinc`); and the hash of
    each of the `others` as `hashes/<name>.clinc`.

    The result is cached on disk (`program_cache`). Raises `CompileError`.
    """
    with tempfile.TemporaryDirectory(prefix="clsp-") as scratch:
        search = [source.parent.resolve(), *include_dirs, SOURCE]
        key = _cache_key(source, search, others)
        if key is not None and (cached := program_cache.read(key)) is not None:
            return cached
        folder = Path(scratch)
        copy = folder / "source" / source.name
        copy.parent.mkdir()
        try:
            copyfile(source, copy)
        except OSError as error:
            raise CompileError(f"{source}: {error.strerror or error}") from error
        hashes = folder / "hashes-of-programs"
        for name, named in ({name: load(name) for name in names()} | dict(others)).items():
            write_hash(hashes / f"hashes/{name}.clinc", named)
        program = compile_copy(copy, folder / "out.hex", [*search, hashes], source, seconds)
        # A source that was saved meanwhile may be another one than its key says.
        if key is not None and key == _cache_key(source, search, others):
            program_cache.write(key, program)
        return program


def _cache_key(source: Path, search: Sequence[Path], others: Mapping[str, Program]) -> str | None:
    """A digest of all that a program is compiled from; None if not all of it can be read."""
    try:
        files = reached(source, search, _read_plain).files
    except (OSError, ValueError):
        return None
    key = sha256(f"{_CACHED}, chialisp {version('chialisp')}".encode() + digest_of_all())
    for path, data in files.items():
        key.update(sha256(path.name.encode()).digest() + sha256(data).digest())
    for name, program in sorted(others.items()):
        key.update(sha256(name.encode()).digest() + program.hash)
    return key.hexdigest()


def _read_plain(path: Path, is_source: bool, mention: Mention | None) -> bytes:
    """A plain file of at most `_LARGEST_SOURCE` bytes. Raises `OSError` for any other."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_SOURCE:
            raise OSError(f"{path}: no plain file, or too large")
        return file.read(_LARGEST_SOURCE)


def compile_programs(folder: Path, names: Iterable[str]) -> dict[str, Program]:
    """Compile the source `<name>.clsp` of each name, for a game that brings its sources along.

    A source names another one of them by its tree hash: `(include "hashes/guess.clinc")` defines
    `GUESS_HASH`; folders between `hashes/` and the name do not matter. The programs keep the
    names of their functions, and the paths of their sources.

    Raises `CompileError`, also for sources that need each other's hash.
    """
    sources = {name: folder / f"{name}.clsp" for name in names}
    needs = {name: _needed(source, sources) for name, source in sources.items()}
    programs: dict[str, Program] = {}
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise CompileError(f"{folder}: {described_cycle(error.args[1])}") from None
    for name in order:
        others = {path: programs[other] for other, path in needs[name].items()}
        try:
            program = compile_source(sources[name], others=others)
        except CompileError as error:
            raise _located(sources[name], error) from None
        programs[name] = replace(program, source=str(sources[name]))
    return {name: programs[name] for name in sources}


def described_cycle(names: Sequence[str]) -> str:
    """What is wrong with programs that need each other's hash, last one first, and what to do."""
    ring = " needs the hash of ".join(reversed(names))
    return f"{ring}; let one of them pass its PROGRAM_HASH on in the state"


def _place(text: str, at: int) -> str:
    """The line and column of an index in a text."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _located(source: Path, error: CompileError) -> CompileError:
    """The error, at the place of the include that is missing, if one is."""
    text = source.read_text("utf-8")
    said = str(error)
    missing = any(words in said for words in ("could not find", "Failed to read file"))
    for token in included(text) if missing else ():
        if token.text in said:
            where = _place(text, token.at)
            return CompileError(f"{source}: {where}: there is no file {token.text} to include")
    return error


def _needed(source: Path, known: Container[str]) -> dict[str, str]:
    """The known programs whose hashes a source includes, with the path of each include."""
    try:
        text = source.read_text("utf-8")
        check(text)
        paths = named_hashes(text)
    except BadForm as error:
        raise CompileError(f"{source}: {_place(text, error.at)}: {error}") from None
    except OSError as error:
        raise CompileError(f"{source}: {error.strerror or error}") from error
    except ValueError as error:
        raise CompileError(f"{source}: not a text file (not UTF-8)") from error
    named = {path.rpartition("/")[2]: path for path in paths}
    return {name: path for name, path in named.items() if name in known}


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
        raise CompileError(f"{source or copy}: {_one_line(said['error'], copy)}")
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
    raise CompileError(f"{source or copy}: exports {', '.join(sorted(exports))}, and no main")


def write_hash(path: Path, program: Program) -> None:
    """Write a file that sources include to name a program by its tree hash.

    `hashes/spacepoker/begin_round.clinc` defines `BEGIN_ROUND_HASH`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    constant = f"{path.stem.upper()}_HASH"
    path.write_text(f"((defconstant {constant} 0x{program.hash.hex()}))\n", "ascii")


def named_hashes(text: str) -> list[str]:
    """The programs that a source names by their tree hash, such as `spacepoker/end`.

    >>> named_hashes('(include "lib/masks.clinc") (include "hashes/spacepoker/end.clinc")')
    ['spacepoker/end']
    """
    return _NAMED_HASH.findall(text)


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
    return " ".join(error.replace(str(copy.parent) + "/", "").split())
