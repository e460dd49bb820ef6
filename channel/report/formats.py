"""Formats of reports: plug-ins that turn a command's JSON document into text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from channelsim.channel.errors import UsageError
from channelsim.games.names import nearest, quoted
from channelsim.plugins import Group, PluginError, called, kind

Format: TypeAlias = Callable[[dict[str, Any]], str]
"""Takes a document, as `--json` prints it or as a finding is stored, and returns its text."""


def names() -> tuple[str, ...]:
    """The names of the installed formats, sorted. Loads none of them."""
    return _PLUGINS.names()


def get(name: str) -> Format:
    """The format of this name. Raises `UsageError` with the reason."""
    known = names()
    if name not in known:
        there = f"there are {', '.join(known)}" if known else "none is installed"
        raise UsageError(f"no report is called {quoted(name)}{nearest(name, known)}; {there}")
    try:
        return _PLUGINS.get(name)
    except PluginError as error:
        raise UsageError(str(error)) from None


def _check(name: str, plugin: object) -> Format:
    if not callable(plugin):
        raise ValueError(f"it is {kind(plugin)}, not a function of a document")
    return called(plugin, f"the report {name}", _problem)


def _problem(text: object) -> str:
    return "" if isinstance(text, str) else "not text"


_PLUGINS = Group("reports", "the report", _check, lambda name: False)
