"""The files that a Chialisp source may read: its includes, and whatever else it names.

Every word of a source that is a file's name counts, whatever form includes it. One too many only
costs a compilation; one too few would bring back a cached program that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeAlias

from channelsim.clsp import chialisp

_SUFFIXES = ("", ".clinc", ".clsp", ".clib")


class IncludeCycle(ValueError):
    """Sources include each other; the message names them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The place where a file is named: the index of its name in the text of `file`."""

    file: Path
    text: str
    at: int
    includes: bool


Read: TypeAlias = Callable[[Path, bool, Mention | None], bytes]
"""Reads a file, given whether it is Chialisp, and who names it (None for the source itself)."""


@dataclass
class Reached:
    """The files that a source may read, by path, and the includes of which there is no file."""

    files: dict[Path, bytes] = field(default_factory=dict)
    missing: dict[str, Mention] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """A file's text."""
        return self.files[path].decode("utf-8", "replace")


def reached(source: Path, search: Sequence[Path], read: Read) -> Reached:
    """The source and all files that it may read, the includes from the first folder that has them.

    Raises `IncludeCycle`, and what `read` does.
    """
    found = Reached()
    includes: dict[Path, list[Path]] = {}
    waiting: list[tuple[Path, bool, Mention | None]] = [(source, True, None)]
    while waiting:
        file, is_source, mention = waiting.pop()
        if file in found.files and (file in includes or not is_source):
            continue
        found.files[file] = read(file, is_source, mention)
        text = found.text(file)
        if is_source:
            includes[file] = []
            for token in chialisp.included(text):
                near = _find(token.text, search, _SUFFIXES)
                mention = Mention(file, text, token.at, includes=True)
                if near is None:
                    found.missing.setdefault(token.text, mention)
                else:
                    includes[file].append(near)
                    waiting.append((near, True, mention))
        for token in chialisp.words(text):
            if "." in token.text or "/" in token.text:
                near = _find(token.text, search)
                if near is not None:
                    mention = Mention(file, text, token.at, includes=False)
                    waiting.insert(0, (near, False, mention))
    try:
        TopologicalSorter(includes).prepare()
    except CycleError as error:
        ring = " includes ".join(file.name for file in reversed(error.args[1]))
        raise IncludeCycle(f"a cycle: {ring}") from None
    return found


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
