"""Compile Chialisp of any author, alone or as programs that name each other.

The compiler writes the programs of a module (`include` and `export` at top level) beside their
source, and those of each module that it imports beside that one. So all that a source may read is
copied first, and nothing new appears in an author's folder.

A program names another one of its game by its tree hash, in one of two ways. It includes
`hashes/NAME.clinc`, which is made while compiling; these includes give the order. Or, as a module,
it imports the other's `program_hash`: the compiler then compiles the other one by itself, in some
dialects to other bytes than alone, and the hash that it embeds is the one that counts on chain.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from channelsim.clsp import program_cache
from channelsim.clsp.chialisp import BadForm, Link, check, place, references, tokens
from channelsim.clsp.compile_process import SECONDS, compile_copy
from channelsim.clsp.compile_process import CompileError as CompileError
from channelsim.clsp.error_places import located
from channelsim.clsp.programs import SOURCE, Program, digest_of_all, load, names
from channelsim.clsp.run import evaluate
from channelsim.clsp.source_files import IncludeCycle, Mention, Reached, below, reached
from channelsim.clsp.values import NIL, serialize

NONE: Mapping[str, Program] = MappingProxyType({})

DIALECTS = ("*standard-cl-21*", "*standard-cl-22*", "*standard-cl-23*", "*standard-cl-24*")
"""Dialects that compile the same source to different bytes."""

_CACHED = "program and symbols, 3"
"""The content and format of a cached file, as part of its key."""

_LARGEST_FILE = 16 << 20
"""The most bytes of a source, or of a file that it embeds."""

_NAMED_HASH = re.compile(r"(?:.*/)?hashes/(?:.*/)?([^/]+)\.clinc")
_DIALECT = re.compile(r"\*(?:standard|strict)-cl-[0-9.]+\*")


def compile_source(
    source: Path,
    include_dirs: Sequence[Path] = (),
    others: Mapping[str, Program] = NONE,
    seconds: int = SECONDS,
) -> Program:
    """Compile a source file of any author; nothing is written beside it.

    The result is the source's own program (of a module: its unnamed export, or its only one),
    with its symbols. It takes at most these seconds of processor time, and
    `compile_process.MEMORY` bytes.

    It may include files of its own folder and of `include_dirs`, this package's libraries
    (`lib/masks.clinc`) and hashes of programs (`hashes/spacepoker/end.clinc`); and the hash of
    each of the `others` as `hashes/<name>.clinc`.

    The result is cached on disk (`program_cache`). Raises `CompileError`.
    """
    named = {f"hashes/{name}.clinc": program for name, program in others.items()}
    read = _read_files(source, [source.parent.resolve(), *include_dirs])
    return _compiled(source, read, include_dirs, named, seconds)


def compile_programs(folder: Path, names: Iterable[str]) -> dict[str, Program]:
    """Compile the source `<name>.clsp` of each name, for a game that brings its sources along.

    A source names another one of them by its tree hash: `(include "hashes/guess.clinc")` defines
    `GUESS_HASH`; folders between `hashes/` and the name do not matter. The programs keep the
    names of their functions, and the paths of their sources.

    Raises `CompileError`, also for sources that need each other's hash.
    """
    return compile_set({name: folder / f"{name}.clsp" for name in names}).programs


@dataclass(frozen=True, slots=True)
class Embedding:
    """A program that its importer embeds in other bytes than it has when compiled alone."""

    name: str
    importer: str
    hash_alone: bytes


@dataclass(frozen=True, slots=True)
class CompiledSet:
    """Programs that were compiled together, by name, and where an import changed one."""

    programs: dict[str, Program]
    embeddings: tuple[Embedding, ...]


def compile_set(
    sources: Mapping[str, Path],
    include_dirs: Sequence[Path] = (),
    ready: Mapping[str, Program] = NONE,
) -> CompiledSet:
    """Compile programs that may name each other, and those that are `ready`, by their hashes.

    One that another one of them imports is the program whose hash that import embeds. Raises
    `CompileError`, with the place, also for sources that need each other's hash.
    """
    reads = {name: _checked(source, include_dirs) for name, source in sources.items()}
    known = sources.keys() | ready.keys()
    named = {name: _needed(read, known) for name, read in reads.items()}
    needs = {name: sorted({*others.values()} - ready.keys()) for name, others in named.items()}
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        ring = " needs the hash of ".join(reversed(error.args[1]))
        raise CompileError(
            f"a cycle: {ring}; let one of them pass its PROGRAM_HASH on in the state"
        ) from None
    programs = dict(ready)
    embeddings = []
    for name in order:
        source = sources[name]
        others = {path: programs[other] for path, other in named[name].items()}
        try:
            program = _compiled(source, reads[name], include_dirs, others)
        except CompileError as error:
            reason = str(error).removeprefix(f"{source}: ")
            raise CompileError(located(source, reads[name], reason)) from None
        for importer, read in reads.items():
            word = read.imports.get(source.resolve())
            if word is not None:
                folders = [sources[importer].parent.resolve(), *include_dirs]
                embedded = _embedded(program, source, word, folders, others)
                if embedded != program:
                    embeddings.append(Embedding(name, importer, program.hash))
                    program = embedded
        programs[name] = replace(program, source=str(source))
    return CompiledSet({name: programs[name] for name in sources}, tuple(embeddings))


def in_dialect(
    source: Path,
    dialect: str,
    include_dirs: Sequence[Path] = (),
    known: Mapping[str, Program] = NONE,
) -> Program | None:
    """The program of a source in another of the `DIALECTS`; None where it has no such form.

    It may name the `known` programs by their hashes.
    """
    try:
        needed = _needed(_read_files(source, [source.parent.resolve(), *include_dirs]), known)
    except CompileError:
        return None
    others = {path: known[name] for path, name in needed.items()}
    return _in_dialect(source, dialect, include_dirs, others)


def _in_dialect(
    source: Path, dialect: str, include_dirs: Sequence[Path], others: Mapping[str, Program]
) -> Program | None:
    text = source.read_text("utf-8", "replace")
    if not _DIALECT.search(text):
        return None
    with tempfile.TemporaryDirectory(prefix="dialect-") as folder:
        copy = Path(folder) / source.name
        copy.write_text(_DIALECT.sub(dialect, text), "utf-8")
        try:
            folders = [source.parent.resolve(), *include_dirs]
            return _compiled(copy, _read_files(copy, folders), folders, others)
        except CompileError:
            return None


def _embedded(
    alone: Program,
    source: Path,
    word: str,
    folders: Sequence[Path],
    others: Mapping[str, Program],
) -> Program:
    """The program that a module embeds which imports `source` as `word`.

    It is `alone`, or another one, with the names of functions that a dialect tells.
    """
    export = _export(source.read_text("utf-8", "replace"))
    with tempfile.TemporaryDirectory(prefix="import-") as folder:
        asking = Path(folder) / "asking.clsp"
        asking.write_text(
            f"(include *standard-cl-23*)\n(import {word} exposing {export})\n"
            f"(export () {export})\n",
            "utf-8",
        )
        try:
            asked = _compiled(asking, _read_files(asking, folders), folders, others)
        except CompileError:
            return alone  # whatever is wrong, the importer's own error names its place
    program = Program(serialize(evaluate(asked, NIL)))
    if program == alone:
        return alone
    for dialect in DIALECTS:
        same = _in_dialect(source, dialect, folders, others)
        if same == program:
            return same
    return replace(program, symbols=alone.symbols)


def _export(text: str) -> str:
    """The name of a source's program in an import of it: its only export's, or `program`.

    >>> _export("(export (x) x)"), _export("(defun f (x) x) (export f)"), _export("(mod (x) x)")
    ('program', 'f', 'program')
    """
    before = ["", ""]
    exports = []
    for token in tokens(text):
        if before == ["(", "export"]:
            exports.append(token.text)
        before = [before[1], token.text]
    return "program" if "(" in exports or not exports else exports[0]


def _needed(read: Reached, known: Container[str]) -> dict[str, str]:
    """The known programs whose hashes a source includes, by the path of each include."""
    named = {}
    for path in read.sources:
        for _, token in references(read.text(path)):
            match = _NAMED_HASH.fullmatch(token.text)
            if match and match[1] in known:
                named[token.text] = match[1]
    return named


def _checked(source: Path, include_dirs: Sequence[Path]) -> Reached:
    """The files that a source may read, all of whole forms. Raises `CompileError`."""
    read = _read_files(source, [source.parent.resolve(), *include_dirs])
    for path in (path for path in read.files if path in read.sources):
        try:
            text = read.files[path].decode("utf-8")
            check(text)
        except BadForm as error:
            raise CompileError(f"{path}: {place(text, error.at)}: {error}") from None
        except UnicodeDecodeError:
            raise CompileError(f"{path}: not a text file (not UTF-8)") from None
    return read


def _read_files(source: Path, folders: Sequence[Path]) -> Reached:
    """The files that a source may read. Raises `CompileError`."""
    try:
        return reached(source, [*folders, SOURCE], _read_plain)
    except OSError as error:
        file = Path(error.filename or source)
        named = f"{source}: " if file != source else ""
        raise CompileError(f"{named}{file}: {error.strerror or error}") from error
    except IncludeCycle as error:
        raise CompileError(f"{source}: {error}") from None


def _read_plain(path: Path, is_source: bool, mention: Mention | None) -> bytes:
    """A plain file of at most `_LARGEST_FILE` bytes. Raises `OSError` for any other."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
            raise OSError(None, "no plain file, or too large", str(path))
        return file.read(_LARGEST_FILE)


def _compiled(
    source: Path,
    read: Reached,
    include_dirs: Sequence[Path],
    others: Mapping[str, Program],
    seconds: int = SECONDS,
) -> Program:
    """Compile a source of which all files are read, or take its program from the cache.

    `others` are the programs that it names, by the paths of their hashes. Raises `CompileError`.
    """
    key = _cache_key(read, others)
    if (cached := program_cache.read(key)) is not None:
        return cached
    with tempfile.TemporaryDirectory(prefix="clsp-") as scratch:
        root, copy = Path(scratch) / "files", Path(scratch) / "source" / source.name
        copy.parent.mkdir()
        copy.write_bytes(read.copied(source, root))
        read.copy_below(root)
        near, *far = (
            below(root, path) for path in [source.parent.resolve(), *include_dirs, SOURCE]
        )
        # Below several folders, for a path that begins with some `../`.
        hashes, ours = Path(scratch) / "hashes/a/b/c/d", Path(scratch) / "ours"
        hashes.mkdir(parents=True)
        for path, program in others.items():
            file = Path(os.path.normpath(hashes / path))
            if file.is_relative_to(scratch):
                write_hash(file, program)
        for name in names():
            write_hash(ours / f"hashes/{name}.clinc", load(name))
        search = [near, hashes, *far, ours]
        try:
            program = compile_copy(copy, Path(scratch) / "out.hex", search, source, seconds)
        except CompileError as error:
            raise CompileError(str(error).replace(str(root), "")) from None
    program_cache.write(key, program)
    return program


def _cache_key(read: Reached, others: Mapping[str, Program]) -> str:
    """A digest of all that a program is compiled from."""
    key = sha256(f"{_CACHED}, chialisp {version('chialisp')}".encode() + digest_of_all())
    for path, data in read.files.items():
        key.update(sha256(path.name.encode()).digest() + sha256(data).digest())
    for name, program in sorted(others.items()):
        key.update(sha256(name.encode()).digest() + program.hash)
    return key.hexdigest()


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
    start, end = "hashes/", ".clinc"
    return [
        token.text.removeprefix(start).removesuffix(end)
        for link, token in references(text)
        if link is Link.INCLUDE and token.text.startswith(start) and token.text.endswith(end)
    ]
