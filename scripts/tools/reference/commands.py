"""The page of all commands, from typer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from channelsim.channel.cli.app import commands
from scripts.tools import table

ABOUT_COMMANDS = (
    "Every command with its arguments, options and defaults, and an example."
    " [The command line](../command-line.md) says what each is for."
)


def command_sections(
    tree: Mapping[str, Any] = commands.commands, before: str = ""
) -> Iterator[str]:
    for name, command in tree.items():
        whole = f"{before}{name.replace('_', '-')}"
        inside = getattr(command, "commands", None)
        if inside is None:
            yield f"## {whole}\n\n{_unwrapped(command.help)}"
            yield table(("", "", "default"), map(_parameter, command.params))
        else:
            yield from command_sections(inside, f"{whole} ")


def _unwrapped(help: str) -> str:
    """A help text in Markdown: paragraphs, and the example as code."""
    text = "\n\n".join(" ".join(part.split()) for part in help.split("\n\n"))
    return re.sub(r"^Example: (.+)$", r"Example: `\1`", text, flags=re.MULTILINE)


def _parameter(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        return (
            f"`{parameter.name.upper()}`",
            parameter.help or "",
            "" if parameter.default is None else f"{parameter.default}",
        )
    value = f" {parameter.metavar}" if parameter.metavar else ""
    default = "" if parameter.is_flag or parameter.default in (None, ()) else f"{parameter.default}"
    return f"`{parameter.opts[-1]}{value}`", parameter.help or "", default
