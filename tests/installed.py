"""Packages as if they were installed, and commands that run with them in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.channel.command import Ran
from tests.paths import ROOT

EXAMPLES = ROOT / "examples"

_RUN = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from channelsim.channel.cli import main

if __name__ == "__main__":
    ran = []
    for arguments in json.load(sys.stdin):
        sys.argv = ["channelsim", *arguments]
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            try:
                main()
            except SystemExit as ended:
                code = ended.code
        ran.append((code, out.getvalue(), err.getvalue()))
    print(json.dumps(ran))
"""


def install(site: Path, package: str, entry_points: Mapping[str, Iterable[str]]) -> Path:
    """Write the metadata of a package with these entry points by group; its folder."""
    folder = site / f"{package.replace('-', '_')}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    sections = [
        "\n".join((f"[channelsim.{group}]", *entries)) for group, entries in entry_points.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(sections) + "\n")
    return folder


def run(
    paths: Sequence[Path], commands: Iterable[Sequence[object]], **environment: str
) -> list[Ran]:
    """Run commands one after the other in one process that finds packages in these folders."""
    asked = [[str(word) for word in command] for command in commands]
    done = subprocess.run(
        [sys.executable, "-c", _RUN],
        input=json.dumps(asked),
        cwd=paths[0],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [Ran(*one) for one in json.loads(done.stdout.splitlines()[-1])]
