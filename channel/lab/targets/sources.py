"""The programs of a target: Chialisp that its author wrote, or hex.

A source names another program of its target by tree hash, as `channelsim.clsp.compiler` says: with
`(include "hashes/NAME.clinc")` (the last part of the path is the program's name), or by an import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.clsp import chialisp
from channelsim.clsp.chialisp import BadForm
from channelsim.clsp.compile_process import CompileError
from channelsim.clsp.compiler import Embedding, compile_set
from channelsim.clsp.error_places import mention_place
from channelsim.clsp.programs import SOURCE, Program
from channelsim.clsp.source_files import IncludeCycle, Mention, Reached, reached
from channelsim.clsp.values import BadValue, Value, deserialize

DEEPEST = 10_000
"""Pairs inside one another in a program; a list is as deep as it is long."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The source of each program of a target, and the folders that are searched for includes."""

    programs: Mapping[str, Path]
    include: tuple[Path, ...]

    def compile(self) -> dict[str, Program]:
        """Every program, with its symbols; that of a .hex file has none.

        Raises `UsageError`, naming the file that is at fault.
        """
        ready = {name: read_hex(path) for name, path in self.programs.items() if _is_hex(path)}
        sources = {name: path for name, path in self.programs.items() if name not in ready}
        for path in sources.values():
            self._reached(path)  # a file that is no Chialisp is refused
        try:
            programs = ready | compile_set(sources, self.include, ready).programs
        except CompileError as error:
            raise UsageError(str(error)) from None
        for name, path in sources.items():
            check_program(path, programs[name])
        return {name: programs[name] for name in self.programs}

    def embeddings(self) -> tuple[Embedding, ...]:
        """The programs that another one imports, and so embeds in other bytes. It compiles, if any
        program imports another one. Raises `UsageError`."""
        sources = {name: path for name, path in self.programs.items() if not _is_hex(path)}
        files = {path.resolve() for path in sources.values()}
        if not any(files & self._reached(path).imports.keys() for path in sources.values()):
            return ()
        ready = {name: read_hex(path) for name, path in self.programs.items() if _is_hex(path)}
        try:
            return compile_set(sources, self.include, ready).embeddings
        except CompileError as error:
            raise UsageError(str(error)) from None

    def texts(self, name: str) -> dict[Path, str]:
        """The text of each file that a program's source may read, its own first.

        The path of a file of this package's libraries is relative. Empty for a .hex file, and for
        sources that can no longer be read.
        """
        path = self.programs.get(name)
        if path is None or _is_hex(path):
            return {}
        try:
            read = self._reached(path)
        except UsageError:
            return {}
        return {
            file.relative_to(SOURCE) if file.is_relative_to(SOURCE) else file: read.text(file)
            for file in read.files
        }

    def _reached(self, path: Path) -> Reached:
        """The source and all files that it may read. Raises `UsageError`."""
        try:
            return reached(path, (path.parent, *self.include, SOURCE), _read)
        except IncludeCycle as error:
            raise UsageError(f"{path}: {error}") from None


def _is_hex(path: Path) -> bool:
    return path.suffix == ".hex"


def _read(path: Path, is_source: bool, mention: Mention | None) -> bytes:
    """A file that a source names, checked if it is one itself. Raises `UsageError`."""
    try:
        data = input_files.read(path, input_files.SOURCE)
        if is_source:
            _check_source(path, data)
    except UsageError as error:
        if mention is None:
            raise
        verb = "includes" if mention.includes else "names"
        raise UsageError(f"{mention_place(mention)}: {verb} {error}") from None
    return data


def _check_source(path: Path, data: bytes) -> None:
    """Check that a file is Chialisp. Raises `UsageError` with line and column."""
    text = input_files.decoded(path, data)
    try:
        chialisp.check(text)
    except BadForm as error:
        check_kind(path, data, Kind.SOURCE)
        raise UsageError(f"{path}: {input_files.place(text, error.at)}: {error}") from None


def read_hex(path: Path) -> Program:
    """The program in a file of hex. Raises `UsageError`."""
    data = input_files.read(path, input_files.HEX)
    text = input_files.decoded(path, data)
    if not text.strip():
        raise UsageError(f"{path}: is empty: not a program in hex")
    no_hex = re.search(r"[^0-9a-fA-F\s]", text)
    if no_hex is not None:
        check_kind(path, data, Kind.PROGRAM)
        where = input_files.place(text, no_hex.start())
        raise UsageError(f"{path}: {where}: {no_hex[0]!a} is not a hex digit")
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
            raise UsageError(f"{path}: a constant: it returns the same for all arguments")
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
