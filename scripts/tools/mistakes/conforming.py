"""`channelsim conform` on the programs of a mistake, as its author would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import msgspec

from channelsim.channel.documents.conform import ConformDocument, Status
from channelsim.channel.documents.document_files import read_document
from channelsim.channel.errors import UsageError
from scripts.tools.mistakes.listed import ROOT, mistakes
from scripts.tools.mistakes.planting import planted


class Conformance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The checks of `conform` that fail on a mistake's programs, and those of so many that were
    made; `seconds` are those of the clock."""

    id: str
    failed: tuple[str, ...]
    checks: int
    seconds: float


def conform_of(name: str, jobs: int, seed: str) -> Conformance:
    """Check the programs of the mistake of this id with the game's rules, in another process.

    Raises `UsageError` where the command does not end with a document.
    """
    mistake = next(mistake for mistake in mistakes() if mistake.id == name)
    with (
        planted(mistake.game, mistake, with_rules=True) as target,
        TemporaryDirectory(prefix="conform-") as folder,
    ):
        arguments = (target.source, "--jobs", str(jobs), "--seed", seed, "--json", "--quiet")
        start = monotonic()
        run = subprocess.run(
            [sys.executable, "-m", "channelsim", "conform", *arguments],
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        seconds = monotonic() - start
        if run.returncode not in (0, 1):
            raise UsageError(f"{name}: conform: {run.stderr.decode().strip()}")
        file = Path(folder) / "conform.json"
        file.write_bytes(run.stdout)
        document = read_document(file)
    assert isinstance(document, ConformDocument)
    return Conformance(
        id=name,
        failed=tuple(row.check for row in document.checks if row.result is Status.FAILED),
        checks=sum(row.result is not Status.NOT_CHECKED for row in document.checks),
        seconds=round(seconds, 1),
    )
