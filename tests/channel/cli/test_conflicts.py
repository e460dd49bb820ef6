"""Options that do not go together: the whole table, on the commands that have the options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from channelsim.channel.cli.app import commands
from channelsim.channel.cli.conflicts import CONFLICTS, Conflict, check_conflicts
from channelsim.channel.errors import UsageError


def declared(group: Any = commands, *path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each command, with its parameters by the names that the table has."""
    for name, command in getattr(group, "commands", {}).items():
        yield from declared(command, *path, name)
    if not hasattr(group, "commands"):
        yield " ".join(path), {max(p.opts, key=len).removeprefix("--"): p for p in group.params}


COMMANDS = dict(declared())


def rows() -> Iterator[tuple[str, Conflict, str]]:
    """Each row of the table, on each command and for each option that it refuses there."""
    for row in CONFLICTS:
        for command, options in COMMANDS.items():
            if not f"{command} ".startswith(row.command and f"{row.command} "):
                continue
            for refused in row.refused.split():
                if refused in options and (row.beside or row.without) in options:
                    yield command, row, refused


def test_each_row_is_of_options_that_some_command_has() -> None:
    tried = {(row, refused) for _, row, refused in rows()}
    assert tried == {(row, refused) for row in CONFLICTS for refused in row.refused.split()}
    assert all(bool(row.beside) != bool(row.without) for row in CONFLICTS)


def verdict(command: str, *given: str) -> str | None:
    """The error where these options are given, and no others."""
    options = COMMANDS[command]
    values: dict[str, Any] = {options[name].name: 0 for name in given}
    none = {option.name: None for option in options.values()}
    try:
        check_conflicts(command, options.values(), {**none, **values})
    except UsageError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("command", "row", "refused"),
    [
        pytest.param(*row, id=f"{row[0]} {row[2]} {row[1].beside or row[1].without}")
        for row in rows()
    ],
)
def test_an_option_is_refused_beside_or_without_another(
    command: str, row: Conflict, refused: str
) -> None:
    """An earlier row may refuse it as well, with a reason of its own."""
    other = [row.beside] if row.beside else []
    said = verdict(command, refused, *other)
    assert said is not None
    assert said.startswith(f"--{refused}: ")
    firsts = [first for _, first, name in rows() if name == refused and first is not row]
    assert said.endswith(row.reason) or any(said.endswith(first.reason) for first in firsts)
    assert verdict(command, *other) is None


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("fuzz", ("seconds",)),
        ("fuzz", ("work", "resume", "out")),
        ("fuzz", ("watch", "out", "corpus", "update-corpus")),
        ("dispute run", ("name", "at", "weather", "transcript")),
        ("dispute run", ("all", "seeds", "jobs", "junit")),
        ("dispute run", ("old-copy", "weather", "hands", "transcript")),
        ("watch", ("fee-key", "max-fee")),
        ("peer connect", ("node", "cert", "key")),
        ("close", ("cert", "key")),
        ("play", ("adversary", "hands")),
        ("report", ("format",)),
    ],
)
def test_options_that_go_together(command: str, given: tuple[str, ...]) -> None:
    assert verdict(command, *given) is None
