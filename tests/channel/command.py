"""The command line, called in this process: what it printed, and its exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from channelsim.channel.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def channelsim(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run `channelsim` with these arguments."""
    before = sys.argv
    sys.argv = ["channelsim", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    captured = capsys.readouterr()
    code = ended.value.code
    assert isinstance(code, int)
    return Ran(code, captured.out, captured.err)
