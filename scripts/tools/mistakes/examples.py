"""The examples, and the games of `games`, as plug-ins of this process and of those that it starts,
without installing them."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from scripts.tools.mistakes.listed import ROOT

GAMES = Path(__file__).with_name("games")
"""The games that only lists of mistakes use."""


@contextmanager
def available() -> Iterator[None]:
    """Let the registry find the games of `examples`; those that are installed stay as they are.

    The registry must not have been asked for a game before in this process.
    """
    with tempfile.TemporaryDirectory(prefix="examples-") as scratch:
        folders = [scratch]
        for project in sorted(ROOT.glob("examples/*/pyproject.toml")):
            table = tomllib.loads(project.read_text("utf-8"))["project"]
            groups = table.get("entry-points", {})
            if "channelsim.games" not in groups or _is_installed(table["name"]):
                continue
            folders.append(str(project.parent))
            _write_metadata(Path(scratch), table["name"], groups)
        names = [path.parent.name for path in sorted(GAMES.glob("*/__init__.py"))]
        # Packages of their own: calls of a plug-in's package are bounded, this tool is not.
        folders.append(str(GAMES))
        own = {name: f"{name}:GAME" for name in names}
        _write_metadata(Path(scratch), "mistake-games", {"channelsim.games": own})
        before, python_path = list(sys.path), os.environ.get("PYTHONPATH")
        sys.path[:0] = folders
        os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [python_path])])
        try:
            yield
        finally:
            sys.path[:] = before
            os.environ.pop("PYTHONPATH")
            if python_path is not None:
                os.environ["PYTHONPATH"] = python_path


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _write_metadata(site: Path, package: str, groups: dict[str, dict[str, str]]) -> None:
    folder = site / f"{package.replace('-', '_')}-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0\n")
    sections = [
        "\n".join((f"[{group}]", *(f"{name} = {entry}" for name, entry in entries.items())))
        for group, entries in groups.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(sections) + "\n")
