"""Programs, and the compiled ones that come with the package.

`clsp/compiled/<name>.hex` is what `clsp/source/<name>.clsp` compiles to; the files are
committed, so that running needs no compiler, and a test keeps them fresh. So are the names of
their functions, in `clsp/compiled/symbols.json`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from channelsim.clsp.values import Value, deserialize, tree_hash

PACKAGE = Path(__file__).resolve().parent
SOURCE, COMPILED = PACKAGE / "source", PACKAGE / "compiled"
"""The folders of Chialisp, and of what it compiles to."""

SYMBOLS = "symbols.json"


class UnknownProgram(LookupError):
    """The package has no program of this name."""


@dataclass(frozen=True)
class Program:
    """A CLVM program, known by its serialized bytes.

    `symbols` are the compiler's names for its functions, where they came along: they map the tree
    hash of each function, in hex, to its name, and `<hash>_arguments` to its arguments. `source`
    is the path of its source, for a program of a game that brings its sources along.

    >>> Program(b"\\x01").value
    b'\\x01'
    """

    serialized: bytes
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False)
    source: str = field(default="", compare=False)

    @cached_property
    def hash(self) -> bytes:
        """The tree hash, 32 bytes: the puzzle hash, or the name in an infohash."""
        return _hash_of(self.serialized)

    @property
    def value(self) -> Value:
        """The program as a value. Only the last few that were read are remembered."""
        return _value_of(self.serialized)

    def __repr__(self) -> str:
        return f"Program({len(self.serialized)} bytes, {self.hash.hex()[:8]})"


@lru_cache(maxsize=16)
def _value_of(serialized: bytes) -> Value:
    return deserialize(serialized)


@lru_cache(maxsize=1024)
def _hash_of(serialized: bytes) -> bytes:
    return tree_hash(deserialize(serialized))


@cache
def load(name: str) -> Program:
    """The compiled program of this name, for example `spacepoker/end`.

    >>> len(load("channel/unroll").hash)
    32
    >>> load("spacepoker/start")
    Traceback (most recent call last):
    channelsim.clsp.programs.UnknownProgram: no program 'spacepoker/start'; there are ...
    """
    if name not in names():
        raise UnknownProgram(f"no program {name!r}; there are {', '.join(names())}")
    return Program(bytes.fromhex((COMPILED / f"{name}.hex").read_text("ascii").strip()))


@cache
def digest_of_all() -> bytes:
    """A digest of all compiled programs, 32 bytes, whose hashes any source may include."""
    digest = sha256()
    for name in names():
        text = (COMPILED / f"{name}.hex").read_bytes()
        digest.update(sha256(name.encode()).digest() + sha256(text).digest())
    return digest.digest()


@cache
def names() -> tuple[str, ...]:
    """The names of all compiled programs, sorted."""
    files = (path.relative_to(COMPILED) for path in COMPILED.rglob("*.hex"))
    return tuple(sorted(file.with_suffix("").as_posix() for file in files))


def symbols(program: Program) -> Mapping[str, str]:
    """The compiler's names for a program's functions, by tree hash, if they came along or the
    program is one of ours.

    >>> "draw" in symbols(load("spacepoker/end")).values(), symbols(Program(b"\\x01"))
    (True, {})
    """
    return program.symbols or _symbols().get(_name_of(program), {})


def with_symbols(program: Program) -> Program:
    """The program with its symbols, if they came along or it is one of ours."""
    return replace(program, symbols=symbols(program))


def source_of(program: Program) -> Path | None:
    """The file that a program was compiled from, or that one of ours comes from; None if unknown.

    >>> source_of(load("spacepoker/end")).name, source_of(Program(b"\\x01"))
    ('end.clsp', None)
    """
    if program.source:
        return Path(program.source)
    path = SOURCE / f"{_name_of(program)}.clsp"
    return path if path.is_file() else None


def _name_of(program: Program) -> str:
    """The name of a program of ours; empty for any other."""
    return next((name for name in names() if load(name) == program), "")


@cache
def _symbols() -> dict[str, dict[str, str]]:
    data = (COMPILED / SYMBOLS).read_bytes()
    return msgspec.json.decode(data, type=dict[str, dict[str, str]])
