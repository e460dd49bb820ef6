"""Compile an author's Chialisp for a target: in the order of need, cached by content.

A source names another program of its target by tree hash with `(include "hashes/NAME.clinc")`
(the last part of the path is the program's name), as this package's own sources do. That file
is made while compiling; these includes give the order.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.target import chialisp
from channelsim.channel.lab.target.chialisp import BadForm
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.clsp.compiler import (
    Compiled,
    CompileError,
    compile_source,
    described_cycle,
    write_hash,
)
from channelsim.clsp.programs import Program
from channelsim.clsp.values import BadValue, Value, deserialize
from channelsim.games.names import printable

_HASH = re.compile(r"(?:.*/)?hashes/(?:.*/)?([^/]+)\.clinc")
_PLACED = re.compile(r"(\S+?)\((\d+)\):(\d+)(?:-\S+\(\d+\):\d+)?: ")
_OPERATOR = re.compile(r"can't compile \(\"?([^\s\")]+)\"?.*")
_WORD = re.compile(r"Invalid character .* in '([^']+)'")
_CACHED = "program and symbols, 1: "
"""The content and format of a cached file, as part of the key in its name."""
DEEPEST = 10_000
"""Pairs inside one another in a program; a list is as deep as it is long."""

_SUFFIXES = ("", ".clinc", ".clsp", ".clib")


class _CachedProgram(msgspec.Struct, frozen=True):
    program: str
    symbols: dict[str, str]


@dataclass
class _Reached:
    """The files that a source may read, by path, and the includes of which there is no file."""

    files: dict[Path, bytes] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """A file's text."""
        return self.files[path].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Sources:
    """The source of each program of a target, and the folders that are searched for includes."""

    programs: Mapping[str, Path]
    include: tuple[Path, ...]

    def compile(self) -> dict[str, Compiled]:
        """Every program, with the names of its functions; those of a .hex file have none.

        Raises `UsageError`, naming the file that is at fault.
        """
        made: dict[str, Compiled] = {}
        with (
            tempfile.TemporaryDirectory(prefix="lab-") as scratch,
            as_file(files("channelsim.clsp") / "source") as own,
        ):
            folder = Path(scratch)
            for name in self._order(own):
                made[name] = self._one(self.programs[name], folder, own)
                write_hash(folder, name, made[name].program)
        return {name: made[name] for name in self.programs}

    def texts(self, name: str) -> dict[Path, str]:
        """The text of each file that a program's source may read, its own first.

        The path of a file of this package's libraries is relative. Empty for a .hex file, and for
        sources that can no longer be read.
        """
        path = self.programs.get(name)
        if path is None or path.suffix == ".hex":
            return {}
        with as_file(files("channelsim.clsp") / "source") as own:
            try:
                reached = self._reached(path, own)
            except UsageError:
                return {}
            library = own.resolve()
        return {
            file.relative_to(library) if file.is_relative_to(library) else file: reached.text(file)
            for file in reached.files
        }

    def _order(self, own: Path) -> list[str]:
        needs: dict[str, list[str]] = {}
        for name, path in self.programs.items():
            seen = _Reached() if path.suffix == ".hex" else self._reached(path, own)
            needs[name] = sorted({need for need, _ in self._named(seen)})
        try:
            return list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            raise UsageError(f"[programs] a cycle: {described_cycle(error.args[1])}") from None

    def _named(self, reached: _Reached) -> Iterator[tuple[str, str]]:
        """The programs of this target that a source names by their hash, and how."""
        for path in reached.files:
            for token in chialisp.words(reached.text(path)):
                found = _HASH.fullmatch(token.text)
                if found and found[1] in self.programs:
                    yield found[1], token.text

    def _one(self, path: Path, folder: Path, own: Path) -> Compiled:
        if path.suffix == ".hex":
            return Compiled(read_hex(path), {})
        reached = self._reached(path, own)
        key = sha256(_CACHED.encode() + version("chialisp").encode())
        for file, text in reached.files.items():
            key.update(sha256(str(file.name).encode()).digest() + sha256(text).digest())
        for hashed in sorted((folder / "hashes").rglob("*.clinc")):
            key.update(sha256(hashed.name.encode() + hashed.read_bytes()).digest())
        cached = _cache() / f"{key.hexdigest()}.json"
        if (found := _read_cached(cached)) is not None:
            return found
        # What our own sources include as hashes/game/name is, here, the target's own program.
        aliases = folder / "aliases"
        for name, token in self._named(reached):
            alias = aliases / token.lstrip("/")
            alias.parent.mkdir(parents=True, exist_ok=True)
            alias.write_bytes((folder / "hashes" / f"{name}.clinc").read_bytes())
        try:
            made = compile_source(path, [aliases, *self.include])
            check_program(path, made.program)
        except CompileError as error:
            reason = str(error).removeprefix(f"{path}: ")
            raise UsageError(_located(path, reached, reason)) from None
        _write_cached(cached, made)
        return made

    def _reached(self, path: Path, own: Path) -> _Reached:
        """The source and all files that it may read. Raises `UsageError`.

        Every word of a source that is a file's name counts, whatever form includes it: one too
        many only costs a compilation, one too few would bring back a program that is gone.
        """
        search = (path.parent, *self.include, own)
        found = _Reached()
        includes: dict[Path, list[Path]] = {}
        # A file, who names it, and whether it is Chialisp.
        waiting = [(path, "", True)]
        while waiting:
            file, namer, is_source = waiting.pop()
            if file in found.files and (file in includes or not is_source):
                continue
            try:
                found.files[file] = input_files.read(file, input_files.SOURCE)
                if is_source:
                    _check_source(file, found.files[file])
            except UsageError as error:
                raise UsageError(f"{namer}{error}") from None
            text = found.text(file)
            if is_source:
                includes[file] = []
                for token in chialisp.included(text):
                    near = _find(token.text, search, _SUFFIXES)
                    here = f"{file}: {input_files.place(text, token.at)}: "
                    if near is None:
                        found.missing.setdefault(token.text, here)
                    else:
                        includes[file].append(near)
                        waiting.append((near, f"{here}includes ", True))
            for token in chialisp.words(text):
                if "." in token.text or "/" in token.text:
                    near = _find(token.text, search)
                    if near is not None:
                        here = f"{file}: {input_files.place(text, token.at)}: "
                        waiting.insert(0, (near, f"{here}names ", False))
        try:
            TopologicalSorter(includes).prepare()
        except CycleError as error:
            ring = " includes ".join(file.name for file in reversed(error.args[1]))
            raise UsageError(f"{path}: a cycle: {ring}") from None
        return found


def _check_source(path: Path, data: bytes) -> None:
    """Check that a file is Chialisp. Raises `UsageError` with line and column."""
    text = input_files.decoded(path, data)
    try:
        chialisp.check(text)
    except BadForm as error:
        check_kind(path, data, Kind.SOURCE)
        raise UsageError(f"{path}: {input_files.place(text, error.at)}: {error}") from None


def _located(path: Path, reached: _Reached, reason: str) -> str:
    """The compiler's reason, with the file, line and column that it is about; without a better one,
    of the beginning of the program."""
    for name, here in reached.missing.items():
        if name in reason or name.replace(".", "/") in reason:
            return f"{here}there is no file {name} to include"
    placed = _PLACED.match(reason)
    if placed is not None:
        name = Path(placed[1]).name
        file = next((one for one in reached.files if one.name == name), path)
        return f"{file}: line {placed[2]}, column {placed[3]}: {printable(reason[placed.end() :])}"
    said = printable(reason.removeprefix("error ").removesuffix(" compiling ()"))
    operator, word = _OPERATOR.search(reason), _WORD.search(reason)
    for file in reached.files:
        text = reached.text(file)
        before = ""
        for token in chialisp.tokens(text):
            called = operator and before == "(" and token.text == operator[1]
            if called or (word and token.text.endswith(word[1])):
                return f"{file}: {input_files.place(text, token.at)}: does not compile: {said}"
            before = token.text
    # Nothing in the reason says where: the program begins here.
    text = reached.text(path)
    start = next((token.at for token in chialisp.tokens(text)), 0)
    return f"{path}: {input_files.place(text, start)}: does not compile: {said}"


def read_hex(path: Path) -> Program:
    """The program in a file of hex. Raises `UsageError`."""
    data = input_files.read(path, input_files.HEX)
    text = input_files.decoded(path, data)
    if not text.strip():
        raise UsageError(f"{path}: is empty, so no program in hex")
    no_hex = re.search(r"[^0-9a-fA-F\s]", text)
    if no_hex is not None:
        check_kind(path, data, Kind.PROGRAM)
        where = input_files.place(text, no_hex.start())
        raise UsageError(f"{path}: {where}: {no_hex[0]!a} is no hex digit")
    try:
        program = Program(bytes.fromhex("".join(text.split())))
        deserialize(program.serialized)
    except BadValue as error:
        raise UsageError(f"{path}: not a CLVM program in hex ({error})") from None
    except ValueError:
        raise UsageError(f"{path}: an odd number of hex digits: one is missing") from None
    check_program(path, program)
    return program


def check_program(path: Path, program: Program) -> None:
    """Check that a program can judge: it is no atom, no quoted value, and not nested too deep.

    Raises `UsageError`.
    """
    value = program.value
    if depth(value) > DEEPEST:
        raise UsageError(f"{path}: a program nested deeper than {DEEPEST:,}")
    match value:
        case bytes(atom):
            what = f"0x{atom[:32].hex()}" if atom else "()"
            raise UsageError(f"{path}: no program, but the atom {what}")
        case (b"\x01", _):
            raise UsageError(f"{path}: a constant: it answers the same whatever it is asked")
        case _:
            pass


def depth(value: Value) -> int:
    """The depth of a value: the most pairs inside one another.

    >>> depth(b""), depth((b"", ((b"", b""), b"")))
    (0, 3)
    """
    most = 0
    waiting = [(value, 0)]
    while waiting:
        here, above = waiting.pop()
        if isinstance(here, tuple):
            waiting += [(here[0], above + 1), (here[1], above + 1)]
        most = max(most, above)
    return most


def _find(word: str, search: Sequence[Path], suffixes: Sequence[str] = ("",)) -> Path | None:
    """The file that a word names, in the first folder that has it."""
    if "\0" in word:
        return None
    names = [word + suffix for suffix in suffixes]
    names += [word.replace(".", "/") + suffix for suffix in suffixes[1:]]
    for folder in search:
        for name in names:
            near = folder / name
            try:
                if near.exists() and not near.is_dir():
                    return near.resolve()
            except OSError:  # too long for a name, or not ours to look at
                continue
    return None


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "channelsim" / "programs"


def _read_cached(path: Path) -> Compiled | None:
    """Read a cached program; None for one that is missing or damaged, to be compiled again."""
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_CachedProgram)
        program = Program(bytes.fromhex(stored.program))
        deserialize(program.serialized)
    except (OSError, ValueError):
        return None
    return Compiled(program, stored.symbols)


def _write_cached(path: Path, made: Compiled) -> None:
    """Write a program to the cache, whole or not at all. Failures only make the next run slower."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        stored = _CachedProgram(made.program.serialized.hex(), dict(made.symbols))
        half.write_bytes(msgspec.json.encode(stored))
        half.replace(path)
    except OSError:
        return
