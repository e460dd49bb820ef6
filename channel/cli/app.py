"""The tree of commands, built from the files in `channelsim.channel.cli.commands`.

A command's module is imported when the command is first used, so that a short command does not
wait for the imports of all the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from importlib import import_module
from importlib.machinery import FileFinder
from inspect import Parameter, cleandoc, getdoc, signature
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from channelsim.channel import __version__, cli
from channelsim.channel.cli.conflicts import check_conflicts
from channelsim.games.names import DEFAULT

Command = TyperCommand | TyperGroup
T = TypeVar("T")

_DOCSTRING = re.compile(r'\A"""(.*?)"""', re.DOTALL)
_COMMAND = re.compile(r'^def command\(.*?\) -> int:\n    """(.*?)"""', re.DOTALL | re.MULTILINE)


class Folder(Mapping[str, Command]):
    """The commands and groups in a package, by name, each built on first access."""

    def __init__(self, package: ModuleType) -> None:
        self._package = package
        self._modules = {
            module.name.replace("_", "-"): module for module in iter_modules(package.__path__)
        }
        self._built: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._built:
            module = self._modules[name]
            build = _group if module.ispkg else build_command
            full_name = f"{self._package.__name__}.{module.name}"
            self._built[name] = build(import_module(full_name), name)
        return self._built[name]

    def summary(self, name: str) -> str:
        """The first paragraph of a command's help, read from its file without importing it."""
        module = self._modules[name]
        folder = Path(cast(FileFinder, module.module_finder).path)
        file = (
            folder / module.name / "__init__.py" if module.ispkg else folder / f"{module.name}.py"
        )
        match = (_DOCSTRING if module.ispkg else _COMMAND).search(file.read_text("utf-8"))
        return "" if match is None else _summary(_with_game(cleandoc(match[1])))

    @property
    def headings(self) -> dict[str, list[str]]:
        """The names of all commands by heading, in the order of a list of commands."""
        table: Mapping[str, Sequence[str]] = getattr(self._package, "HEADINGS", {})
        listed = {name for names in table.values() for name in names}
        headings = {
            title: [name for name in names if name in self._modules]
            for title, names in table.items()
        }
        rest = [name for name in self if name not in listed]
        return {**headings, **({"Commands": rest} if rest else {})}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._modules))

    def __len__(self) -> int:
        return len(self._modules)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments, and say which command an error is about.

        Options of a command with a target that are not given may be set in files. Raises
        `UsageError` for options that do not go together.
        """
        with _located(ctx):
            rest = super().parse_args(ctx, args)
        outermost = ctx.parent is None or ctx.parent.parent is None
        if outermost and {"target", "game"} & ctx.params.keys():
            from channelsim.channel.cli.defaults import set_defaults

            set_defaults(self, ctx)
        check_conflicts(ctx.command_path.partition(" ")[2], self.params, ctx.params)
        return rest


class _Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> Any:
        """The option `--help`, which is false unless it is given: None would have to be read."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments, and say which command an error is about."""
        with _located(ctx):
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under their headings, without importing any of them."""
        folder = cast(Folder, self.commands)
        for heading, names in folder.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name, folder.summary(name)) for name in names])


@contextmanager
def _located(context: Any) -> Iterator[None]:
    """Say which command an error is about, where typer leaves that out."""
    try:
        yield
    except TyperException as error:
        if getattr(error, "ctx", None) is None:
            vars(error)["ctx"] = context
        raise


def _typer() -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def build_command(module: ModuleType, name: str) -> Command:
    """The command that a module's function `command` declares."""
    app = _typer()
    help = _help(module.command)
    declare = app.command(name, cls=_Command, help=help, short_help=_summary(help))
    declare(_with_options(module.command))
    command = cast(TyperCommand, get_command(app))
    for option in command.params:
        option.secondary_opts = []  # typer adds `--no-NAME` to flags
    return command


def _with_options(command: Callable[..., T]) -> Callable[..., T]:
    """A callable with an option for each field of the dataclasses that it takes, also of theirs."""
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation):
            group = _with_options(parameter.annotation)
            fields = signature(group).parameters
            groups[parameter.name] = group, list(fields)
            parameters += fields.values()
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> T:
        """Collect the fields of each dataclass, and run the command."""
        for name, (group, fields) in groups.items():
            given[name] = group(**{field: given.pop(field) for field in fields})
        return command(**given)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(run)["__signature__"] = signature(run).replace(parameters=parameters)
    return run


def _no_options() -> None:
    pass


def _group(package: ModuleType, name: str, callback: Any = _no_options) -> TyperGroup:
    """The group of the commands in a package, described by its docstring."""
    app = _typer()
    help = _help(package)
    app.callback(cls=_Group, no_args_is_help=True, help=help, short_help=_summary(help))(callback)
    group = cast(TyperGroup, get_command(app))
    group.name = name
    group.commands = cast(Any, Folder(package))
    return group


def _help(described: Any) -> str:
    """A docstring in which `{game}` is replaced by the name of a game."""
    return _with_game(getdoc(described) or "")


def _with_game(text: str) -> str:
    return text.replace("{game}", DEFAULT)


def _summary(help: str) -> str:
    """The first paragraph of a help text, which lists of commands show whole."""
    return " ".join(help.partition("\n\n")[0].split())


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"channelsim {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


commands = _group(import_module(f"{cli.__name__}.commands"), "channelsim", _main)
"""The whole command line."""
