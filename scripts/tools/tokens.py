"""Print the size of the product: tokens without comments, docstrings and imports, by package.

Only the standard library is used: the sizes of any commit can be counted.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tarfile
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scripts.tools import ROOT

LAYERS = ("clsp", "games", "channel", "channelsim", "tools")
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


class Size(NamedTuple):
    """Tokens of code, files, and definitions with and without a docstring."""

    tokens: int = 0
    files: int = 0
    described: int = 0
    defined: int = 0


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes."""
    return Size(*map(sum, zip(Size(), *sizes, strict=True)))


def size_of(source: str) -> Size:
    """The size of one file."""
    tree = ast.parse(source)
    left_out: set[int] = set()
    described = defined = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = getattr(node, "name", "")
            if not name.startswith("_"):
                defined += 1
                described += ast.get_docstring(node) is not None
        # A string below an attribute describes it.
        body = getattr(node, "body", None)
        for item in body if isinstance(body, list) else ():
            match item:
                case ast.Expr(value=ast.Constant(value=str())):
                    left_out.update(range(item.lineno, (item.end_lineno or item.lineno) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    count = sum(one.type not in LAYOUT and one.start[0] not in left_out for one in tokens)
    return Size(count, 1, described, defined)


def package_of(path: str) -> str:
    """The layer of a file, or its package in `channel`."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "channel" and len(parts) > 2 else parts[0]


def sizes(files: Iterator[tuple[str, str]]) -> dict[str, Size]:
    """The sizes by package."""
    packages: dict[str, Size] = {}
    for path, source in files:
        if "/template/" not in path:
            name = package_of(path)
            packages[name] = total((packages.get(name, Size()), size_of(source)))
    return packages


def here(folders: list[str]) -> Iterator[tuple[str, str]]:
    """The files of the working tree."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.is_symlink() and not (ROOT / folder).is_symlink():
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def at(commit: str, folders: list[str]) -> Iterator[tuple[str, str]]:
    """The files of a commit."""
    data = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            inside = member.name.split("/")[0] in folders
            if file is not None and inside and member.name.endswith(".py"):
                yield member.name, file.read().decode("utf-8")


def show_sizes(since: str | None, folders: list[str]) -> None:
    """Print a line for each package, and the sum; with a commit, also by how much its differ."""
    now = sizes(here(folders))
    before = sizes(at(since, folders)) if since else {}
    for name in sorted({*now, *before}):
        _show(name, now.get(name, Size()), before.get(name) if since else None)
    sums = [total(packages.values()) for packages in (now, before)]
    _show("all", sums[0], sums[1] if since else None)


def _show(name: str, now: Size, before: Size | None) -> None:
    share = now.described / now.defined if now.defined else 1.0
    line = f"{name:24} {now.tokens:>9,} tokens {now.files:>5} files, docstrings {share:.1%}"
    if before is not None:
        grown = (now.tokens - before.tokens) / before.tokens if before.tokens else 1.0
        line += f"  ({now.tokens - before.tokens:+,}, {grown:+.2%})"
    print(line)
