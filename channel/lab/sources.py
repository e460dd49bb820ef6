"""Compiling somebody's Chialisp for a target: in the order of need, cached by content.

A source names another program of its target by tree hash with `(include "hashes/NAME.clinc")`
(the last part of the path is the program's name), as this package's own sources do. That file
is made while compiling; these includes give the order.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from channel.errors import UsageError
from clsp.compiler import Compiled, CompileError, compile_source, write_hash
from clsp.programs import Program
from clsp.values import BadValue, deserialize

_TOKENS = re.compile(r'"([^"\n]+)"|([^\s()"\']+)')
_INCLUDED = re.compile(r'\(\s*(?:include|import)\s+"?([^\s()"]+)"?')
_COMMENT = re.compile(r";.*")
_HASH = re.compile(r"(?:.*/)?hashes/(?:.*/)?([^/]+)\.clinc")
_CACHED = "program and symbols, 1: "
"""What a cached file holds, and how: part of its name."""
_SUFFIXES = ("", ".clinc", ".clsp", ".clib")


class _Kept(msgspec.Struct, frozen=True):
    program: str
    symbols: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sources:
    """What each program of a target is made from, and where its includes are looked for."""

    programs: Mapping[str, Path]
    include: tuple[Path, ...]

    def compile(self) -> dict[str, Compiled]:
        """Every program, with the names of its functions; those of a .hex file have none.

        Raises `UsageError`, naming the file that is at fault.
        """
        made: dict[str, Compiled] = {}
        with (
            tempfile.TemporaryDirectory(prefix="lab-") as scratch,
            as_file(files("clsp") / "source") as own,
        ):
            folder = Path(scratch)
            for name in self._order(own):
                made[name] = self._one(self.programs[name], folder, own)
                write_hash(folder, name, made[name].program)
        return {name: made[name] for name in self.programs}

    def _order(self, own: Path) -> list[str]:
        needs: dict[str, list[str]] = {}
        for name, path in self.programs.items():
            seen = {} if path.suffix == ".hex" else self._reached(path, own)
            needs[name] = sorted({need for text in seen.values() for need in self._named(text)})
        try:
            return list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            ring = " needs the hash of ".join(reversed(error.args[1]))
            raise UsageError(f"[programs] a cycle: {ring}") from None

    def _named(self, text: bytes) -> Iterator[str]:
        """The programs of this target that a source names by their hash."""
        for token in _tokens(text):
            found = _HASH.fullmatch(token)
            if found and found[1] in self.programs:
                yield found[1]

    def _one(self, path: Path, folder: Path, own: Path) -> Compiled:
        if path.suffix == ".hex":
            return Compiled(read_hex(path), {}, {})
        reached = self._reached(path, own)
        key = sha256(_CACHED.encode() + version("chialisp").encode())
        for file, text in reached.items():
            key.update(sha256(str(file.name).encode()).digest() + sha256(text).digest())
        for hashed in sorted((folder / "hashes").rglob("*.clinc")):
            key.update(sha256(hashed.name.encode() + hashed.read_bytes()).digest())
        cached = _cache() / f"{key.hexdigest()}.json"
        if (kept := _kept(cached)) is not None:
            return kept
        # What our own sources include as hashes/game/name is, here, the target's own program.
        aliases = folder / "aliases"
        for text in reached.values():
            for token in _tokens(text):
                found = _HASH.fullmatch(token)
                if found and found[1] in self.programs:
                    alias = aliases / token.lstrip("/")
                    alias.parent.mkdir(parents=True, exist_ok=True)
                    alias.write_bytes((folder / "hashes" / f"{found[1]}.clinc").read_bytes())
        try:
            made = compile_source(path, [aliases, *self.include])
        except CompileError as error:
            raise UsageError(str(error)) from None
        except (UnicodeError, BadValue) as error:
            raise UsageError(f"{path}: does not compile ({error})") from None
        _keep(cached, made)
        return made

    def _reached(self, path: Path, own: Path) -> dict[Path, bytes]:
        """The source and all files that it may read, by path. Raises `UsageError`.

        Every word of a source that is a file's name counts, whatever form includes it: one too
        many only costs a compilation, one too few would bring back a program that is gone.
        """
        search = (path.parent, *self.include, own)
        found: dict[Path, bytes] = {}
        includes: dict[Path, list[Path]] = {}
        waiting = [path]
        while waiting:
            file = waiting.pop()
            if file in found:
                continue
            found[file] = read_bytes(file)
            text = found[file]
            named = _INCLUDED.findall(_text(text))
            includes[file] = [near for word in named if (near := _find(word, search, _SUFFIXES))]
            others = (word for word in _tokens(text) if "." in word or "/" in word)
            waiting += (near for word in others if (near := _find(word, search)))
            waiting += includes[file]
        try:
            TopologicalSorter(includes).prepare()
        except CycleError as error:
            ring = " includes ".join(file.name for file in reversed(error.args[1]))
            raise UsageError(f"{path}: a cycle: {ring}") from None
        return found


def read_hex(path: Path) -> Program:
    """The program in a file of hex. Raises `UsageError`."""
    try:
        blob = bytes.fromhex(read_bytes(path).decode("ascii").strip())
        deserialize(blob)
    except ValueError as error:
        raise UsageError(f"{path}: not a CLVM program in hex ({error})") from None
    return Program(blob)


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises `UsageError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None


def _text(text: bytes) -> str:
    return _COMMENT.sub("", text.decode("utf-8", "replace"))


def _tokens(text: bytes) -> list[str]:
    return [quoted or word for quoted, word in _TOKENS.findall(_text(text))]


def _find(word: str, search: Sequence[Path], suffixes: Sequence[str] = ("",)) -> Path | None:
    """The file that a word names, in the first folder that has it."""
    if len(word) > 200 or "\0" in word:
        return None
    names = [word + suffix for suffix in suffixes]
    names += [word.replace(".", "/") + suffix for suffix in suffixes[1:]]
    for folder in search:
        for name in names:
            near = folder / name
            if near.is_file():
                return near.resolve()
    return None


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "channelsim" / "programs"


def _kept(path: Path) -> Compiled | None:
    """A cached program; what is not there, or is broken, is compiled again."""
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        program = Program(bytes.fromhex(kept.program))
        deserialize(program.serialized)
    except (OSError, ValueError):
        return None
    return Compiled(program, {}, kept.symbols)


def _keep(path: Path, made: Compiled) -> None:
    """Write a cached program whole or not at all; without a cache all is only slower."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        kept = _Kept(made.program.serialized.hex(), dict(made.symbols))
        half.write_bytes(msgspec.json.encode(kept))
        half.replace(path)
    except OSError:
        return
