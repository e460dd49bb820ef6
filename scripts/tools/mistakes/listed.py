"""The lists of mistakes, read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from channelsim.channel.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
"""The top of the repository, from which lists name files."""

Kind: TypeAlias = Literal[
    "money",
    "length",
    "encoding",
    "hand ranking",
    "evidence",
    "commitment",
    "state",
    "hidden",
]
"""What a mistake is about; `hidden`: a value that only a later move shows."""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A count over cases of random play: those on which right and wrong program differ."""

    cases: int
    differing: int


class Mistake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of one source; the keys are described in the package's docstring."""

    id: str
    game: str
    validator: str
    file: str
    kind: Kind
    gain: str
    old: str
    new: str
    also: tuple[str, ...] = ()
    rare: bool = False
    measured: Measured | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The validators in which a finding counts."""
        return (self.validator, *self.also)

    @property
    def path(self) -> Path:
        """The source that it changes."""
        return ROOT / self.file

    def changed(self) -> str:
        """The text of the source with the mistake. Raises `UsageError`."""
        text = self.path.read_text("utf-8")
        if text.count(self.old) != 1:
            raise UsageError(
                f"{self.id}: its old text occurs {text.count(self.old)} times in {self.file},"
                " not once"
            )
        return text.replace(self.old, self.new)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mistake: tuple[Mistake, ...]


def mistakes() -> tuple[Mistake, ...]:
    """All mistakes of all lists. Raises `UsageError` for a malformed list, or an id used twice."""
    listed = tuple(mistake for path in _lists() for mistake in _read(path))
    for name, times in Counter(mistake.id for mistake in listed).items():
        if times > 1:
            raise UsageError(f"{name}: the id of {times} mistakes")
    return listed


def _lists() -> Iterator[Path]:
    yield from sorted(Path(__file__).with_name("lists").glob("*.toml"))
    yield from sorted(ROOT.glob("examples/*/mistakes.toml"))


def _read(path: Path) -> tuple[Mistake, ...]:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_File).mistake
    except msgspec.DecodeError as error:
        raise UsageError(f"{path.relative_to(ROOT)}: {error}") from None
