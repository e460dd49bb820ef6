"""Compile an author's Chialisp for a target: in the order of need.

A source names another program of its target by tree hash with `(include "hashes/NAME.clinc")`
(the last part of the path is the program's name), as this package's own sources do. That file
is made while compiling; these includes give the order.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.clsp import chialisp
from channelsim.clsp.chialisp import BadForm, IncludeCycle, Mention, Reached, reached
from channelsim.clsp.compiler import (
    CompileError,
    compile_source,
    described_cycle,
    write_hash,
)
from channelsim.clsp.programs import SOURCE, Program
from channelsim.clsp.values import BadValue, Value, deserialize
from channelsim.games.names import printable

_HASH = re.compile(r"(?:.*/)?hashes/(?:.*/)?([^/]+)\.clinc")
_PLACED = re.compile(r"(\S+?)\((\d+)\):(\d+)(?:-\S+\(\d+\):\d+)?: ")
_OPERATOR = re.compile(r"can't compile \(\"?([^\s\")]+)\"?.*")
_WORD = re.compile(r"Invalid character .* in '([^']+)'")
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
        programs: dict[str, Program] = {}
        with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
            aliases = Path(scratch) / "aliases"
            reads = {
                name: Reached() if path.suffix == ".hex" else self._reached(path)
                for name, path in self.programs.items()
            }
            for name in self._order(reads):
                path = self.programs[name]
                if path.suffix == ".hex":
                    programs[name] = read_hex(path)
                    continue
                # What our own sources include as hashes/game/name is the target's own program here.
                for need, token in self._named(reads[name]):
                    write_hash(aliases / token.lstrip("/"), programs[need])
                programs[name] = self._compiled(path, aliases, reads[name])
        return {name: programs[name] for name in self.programs}

    def texts(self, name: str) -> dict[Path, str]:
        """The text of each file that a program's source may read, its own first.

        The path of a file of this package's libraries is relative. Empty for a .hex file, and for
        sources that can no longer be read.
        """
        path = self.programs.get(name)
        if path is None or path.suffix == ".hex":
            return {}
        try:
            read = self._reached(path)
        except UsageError:
            return {}
        return {
            file.relative_to(SOURCE) if file.is_relative_to(SOURCE) else file: read.text(file)
            for file in read.files
        }

    def _order(self, reads: Mapping[str, Reached]) -> list[str]:
        """The programs, each after those that it names."""
        needs = {
            name: sorted({need for need, _ in self._named(read)}) for name, read in reads.items()
        }
        try:
            return list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            raise UsageError(f"[programs] a cycle: {described_cycle(error.args[1])}") from None

    def _named(self, read: Reached) -> Iterator[tuple[str, str]]:
        """The programs of this target that a source names by their hash, and how."""
        for path in read.files:
            for token in chialisp.words(read.text(path)):
                named = _HASH.fullmatch(token.text)
                if named and named[1] in self.programs:
                    yield named[1], token.text

    def _compiled(self, path: Path, aliases: Path, read: Reached) -> Program:
        try:
            program = compile_source(path, [aliases, *self.include])
        except CompileError as error:
            reason = str(error).removeprefix(f"{path}: ")
            raise UsageError(_located(path, read, reason)) from None
        check_program(path, program)
        return program

    def _reached(self, path: Path) -> Reached:
        """The source and all files that it may read. Raises `UsageError`."""
        try:
            return reached(path, (path.parent, *self.include, SOURCE), _read)
        except IncludeCycle as error:
            raise UsageError(f"{path}: {error}") from None


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
        raise UsageError(f"{_place(mention)}: {verb} {error}") from None
    return data


def _place(mention: Mention) -> str:
    """The file, line and column of a name."""
    return f"{mention.file}: {input_files.place(mention.text, mention.at)}"


def _check_source(path: Path, data: bytes) -> None:
    """Check that a file is Chialisp. Raises `UsageError` with line and column."""
    text = input_files.decoded(path, data)
    try:
        chialisp.check(text)
    except BadForm as error:
        check_kind(path, data, Kind.SOURCE)
        raise UsageError(f"{path}: {input_files.place(text, error.at)}: {error}") from None


def _located(path: Path, read: Reached, reason: str) -> str:
    """The compiler's reason, with the file, line and column that it is about; without a better one,
    of the beginning of the program."""
    for name, mention in read.missing.items():
        if name in reason or name.replace(".", "/") in reason:
            return f"{_place(mention)}: there is no file {name} to include"
    placed = _PLACED.match(reason)
    if placed is not None:
        name = Path(placed[1]).name
        file = next((file for file in read.files if file.name == name), path)
        return f"{file}: line {placed[2]}, column {placed[3]}: {printable(reason[placed.end() :])}"
    said = printable(reason.removeprefix("error ").removesuffix(" compiling ()"))
    operator, word = _OPERATOR.search(reason), _WORD.search(reason)
    for file in read.files:
        text = read.text(file)
        before = ""
        for token in chialisp.tokens(text):
            called = operator and before == "(" and token.text == operator[1]
            if called or (word and token.text.endswith(word[1])):
                return f"{file}: {input_files.place(text, token.at)}: does not compile: {said}"
            before = token.text
    # Nothing in the reason says where: the program begins here.
    text = read.text(path)
    start = next((token.at for token in chialisp.tokens(text)), 0)
    return f"{path}: {input_files.place(text, start)}: does not compile: {said}"


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
