"""Findings as commands write them, for tests of what reads them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from channelsim.channel.findings.finding import Finding


def finding(text: str = "a loss", severity: str = "theft", **fields: Any) -> Finding:
    """A finding of a law at a validator."""
    usual = {"rule": "a law", "place": "e"}
    return Finding(text=text, severity=severity, **(usual | fields))


def written(**fields: Any) -> str:
    """A finding's file, with fields of any shape."""
    return json.dumps(msgspec.to_builtins(finding()) | fields)
