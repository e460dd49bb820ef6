"""The target of a command, with what its author should know of its sources."""

from __future__ import annotations

from channelsim.channel.cli.messages import complain
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.source_warnings import source_warnings
from channelsim.channel.lab.targets.target import Target


def load_target(text: str) -> Target:
    """A target as the command line names it; it may lack programs. Raises `UsageError`.

    Each warning about its sources is a line on stderr.
    """
    target = load(text, partial=True)
    for warning in source_warnings(target):
        complain(f"warning: {warning}")
    return target
