"""Warnings about a target's sources: where they compile to something else than they seem to."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.zero_literals import lost_zeros

_MOST_PLACES = 5
"""The most lines that one warning names."""


def source_warnings(target: Target) -> list[str]:
    """A line for each thing that an author should know before any program runs."""
    return [*_embeddings(target), *_lost_zeros(target)]


def _embeddings(target: Target) -> Iterator[str]:
    """The programs that are not those of their sources alone, but what a module imports."""
    if target.sources is None:
        return
    try:
        embeddings = target.sources.embeddings()
    except UsageError:  # a source that was changed since the target was loaded
        return
    for embedding in embeddings:
        program = target.programs[embedding.name]
        yield (
            f"{target.name}: {embedding.importer} imports {embedding.name} and so embeds the hash"
            f" {program.hash.hex()[:16]}…, but its source alone compiles to"
            f" {embedding.hash_alone.hex()[:16]}…; what is tried here is the program that is"
            " embedded"
        )


def _lost_zeros(target: Target) -> Iterator[str]:
    """The literals of zero bytes that the compiler turns into `()`."""
    places = {
        target.shown_line(place): None
        for name in target.with_referee
        for place in lost_zeros(target.source_texts(name))
    }
    if places:
        shown = ", ".join(list(places)[:_MOST_PLACES])
        more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
        yield (
            f"{target.name}: {shown}{more}: this zero byte, inside `if`, `list` or a macro, is"
            " compiled to (), the empty atom; name it outside with (defconstant ZERO 0x00)"
        )
