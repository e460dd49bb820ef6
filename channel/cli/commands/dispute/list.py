"""`channelsim dispute list`."""

from __future__ import annotations

from channelsim.channel.adversaries.base import get, names
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console


def command() -> int:
    """List the adversaries, with what each does.

    Example: channelsim dispute list
    """
    rows = [(name, get(name).about) for name in names()]
    show_table(console(), (), rows, left=2)
    return 0
