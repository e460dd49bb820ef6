"""The files that a source may read, and a copy of them for the compiler to write into.

The compiler writes the programs of every module that it meets beside that module's source, also of
one on the search path. So it sees copies only, at their own paths below another root.

Every word of a source that is a file's name counts as a file that it may read, whatever form
names it. One too many only costs a compilation; one too few would bring back a cached program that
is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import TypeAlias

from channelsim.clsp.chialisp import Link, is_module, references

_PRELUDE = "std.prelude"
"""The compiler imports it into every module."""

_IMPORTED = (".clsp", ".clinc")
"""The kinds of files that an import looks for: in all folders for a program, then for a library."""


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
    """The files that a source may read, by path, and the includes of which there is no file.

    `lookups` are the paths at which the compiler finds them: through links, and folders of the
    search path. `imports` are the programs that it imports, with the names in the imports;
    `sources` the files that are Chialisp.
    """

    files: dict[Path, bytes] = field(default_factory=dict)
    missing: dict[str, Mention] = field(default_factory=dict)
    lookups: dict[Path, Path] = field(default_factory=dict)
    imports: dict[Path, str] = field(default_factory=dict)
    sources: set[Path] = field(default_factory=set)

    def text(self, path: Path) -> str:
        """A file's text."""
        return self.files[path].decode("utf-8", "replace")

    def copied(self, file: Path, root: Path) -> bytes:
        """The content of a file's copy: a source names copies where it names absolute paths."""
        text = self.text(file)
        changed = _rerooted(text, root) if file in self.sources else text
        return self.files[file] if changed == text else changed.encode()

    def copy_below(self, root: Path) -> None:
        """Write every file that the source names at its own path below `root`."""
        for lookup, file in self.lookups.items():
            copy = below(root, lookup)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(self.copied(file, root))


def below(root: Path, path: Path) -> Path:
    """The path of a copy below `root`."""
    return root / path.absolute().relative_to(path.absolute().anchor)


def _rerooted(text: str, root: Path) -> str:
    """A source that names the copies below `root` where it names files by absolute paths.

    >>> _rerooted("(include /dev/null) (/ 4 2)", Path("/copies"))
    '(include /copies/dev/null) (/ 4 2)'
    """
    for link, token in reversed(list(references(text))):
        if token.text.startswith("/") and _find(link, token.text, [Path("/")]) is not None:
            at = token.at + (token.kind == "string")
            text = text[:at] + str(root) + text[at:]
    return text


def reached(source: Path, search: Sequence[Path], read: Read) -> Reached:
    """The source and all files that it may read, each from the first folder that has it.

    Raises `IncludeCycle`, and what `read` does.
    """
    seen = Reached()
    includes: dict[Path, list[Path]] = {}
    waiting: list[tuple[Path, bool, Mention | None]] = [(source, True, None)]
    while waiting:
        file, is_source, mention = waiting.pop()
        if file in seen.files and (file in includes or not is_source):
            continue
        seen.files[file] = read(file, is_source, mention)
        text = seen.text(file)
        if is_source:
            seen.sources.add(file)
            includes[file] = []
            if is_module(text) and (lookup := _find(Link.IMPORT, _PRELUDE, search)) is not None:
                seen.lookups[lookup] = lookup.resolve()
                waiting.insert(0, (lookup.resolve(), True, None))
        for link, token in references(text):
            link = link if is_source else Link.DATA
            lookup = _find(link, token.text, search)
            includes_it = link in (Link.INCLUDE, Link.IMPORT)
            mention = Mention(file, text, token.at, includes_it)
            if lookup is None:
                if includes_it:
                    seen.missing.setdefault(token.text, mention)
                continue
            near = seen.lookups[lookup] = lookup.resolve()
            if link is Link.DATA:
                waiting.insert(0, (near, False, mention))
                continue
            includes[file].append(near)
            waiting.append((near, True, mention))
            if link is Link.IMPORT and lookup.suffix == _IMPORTED[0]:
                seen.imports[near] = token.text
    try:
        TopologicalSorter(includes).prepare()
    except CycleError as error:
        ring = " includes ".join(file.name for file in reversed(error.args[1]))
        raise IncludeCycle(f"a cycle: {ring}") from None
    return seen


def _find(link: Link, word: str, search: Sequence[Path]) -> Path | None:
    """The path at which the compiler finds what a word names; None if no folder has it."""
    if "\0" in word:
        return None
    names = [word]
    if link is Link.IMPORT:
        names = [word.replace(".", "/") + suffix for suffix in _IMPORTED]
    for name, folder in product(names, search):
        lookup = folder / name
        try:
            if lookup.exists() and not lookup.is_dir():
                return lookup
        except OSError:  # too long for a name, or not ours to look at
            continue
    return None
