"""The work of `channelsim dispute list`."""

from __future__ import annotations

from channelsim.channel.adversaries.base import get, names
from channelsim.channel.cli.disputes import able_in, menu_of
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.channel.simulation.scenario import adversaries_for


def list_adversaries(game: str | None) -> int:
    """List the adversaries, with what each does."""
    shown = names() if game is None else adversaries_for([menu_of(game)])
    show_table(console(), (), [(name, get(name).about) for name in shown], left=2)
    say(console(), able_in(() if game is None else menu_of(game)))
    return 0
