"""Pages of docs/reference.

Everything on these pages is read from the code: commands from typer, games and laws from their
registries, the rest from definitions and docstrings. A test compares the pages with the code.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import cleandoc, getdoc
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from channelsim.channel.cli.app import commands
from channelsim.channel.lab.laws import laws
from channelsim.channel.system.file_kinds import Kind
from channelsim.clsp.run import ProgramValid, run_serialized
from channelsim.games import contract, registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.dealing import deal
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
    length,
    parts,
)
from channelsim.games.vectors import arguments, read
from scripts.tools import ROOT, VECTORS, faults_page, rules, table
from scripts.tools.mistakes import page as mistakes_page

FORMATS = {
    Kind.TARGET: ("channel.lab.targets.loading", "TargetFile", "[Targets](../lab.md#targets)"),
    Kind.CASES: ("games.vectors", "Case", "[Conformance vectors](../spec/vectors.md)"),
    Kind.FINDING: ("channel.findings.finding", "Finding", "[Fuzz](../fuzz.md#fuzz)"),
    Kind.SPENDS: (
        "channel.lab.cases.corpus",
        "RefereeSpend",
        "[Coverage](../coverage.md#coverage)",
    ),
    Kind.COSTS: ("channel.lab.costs.snapshot", "Snapshot", "[Costs](../coverage.md#costs)"),
    Kind.REASONS: ("channel.lab.mutants.reasons", "_File", "[Mutants](../checking.md#mutants)"),
    Kind.UNREACHABLE: (
        "channel.lab.coverage.coverage",
        "_File",
        "[Coverage](../coverage.md#coverage)",
    ),
    Kind.SCRIPT: ("channel.session.script", "Script", "[Scripts](../scripts.md)"),
    Kind.TRANSCRIPT: ("channel.session.transcript", "_Header", "[Transcripts](../transcripts.md)"),
    Kind.PROGRAM: ("clsp.programs", "", "[Targets](../lab.md#targets)"),
    Kind.SOURCE: ("clsp.compiler", "", "[Targets](../lab.md#targets)"),
}
"""For each kind of file: the module that reads it, the type of its keys if it has any (of a
transcript, those of its first line), and the page about it."""

MODULES = {
    "clsp.values": "CLVM values: bytes and pairs, and integers as atoms.",
    "clsp.programs": "Compiled programs.",
    "clsp.compiler": "Compiling Chialisp.",
    "clsp.run": "Running programs.",
    "channel.kit.driver": "Drivers, for `channelsim record`.",
    "games.referee": "The game coin, and its spends.",
    "games.vectors": "Conformance vectors.",
    "channel.lab.targets.loading": "Load a target by its name or file.",
    "channel.lab.targets.target": "Targets of the lab.",
    "channel.lab.testing.strategies": "Hypothesis strategies for test suites.",
    "channel.lab.testing.checking": "Checks for test suites, without pytest.",
}
"""The modules besides the contract that authors use."""


DEFINITION = re.compile(
    r"((?:^ *;[^\n]*\n)*)^  \((defun-inline|defun|defmac|defconstant) (\S+)(?: \(?([^()\n]*))?",
    re.MULTILINE,
)
"""A definition of a library: the comment above it, its kind, its name, its arguments or value."""


def pages() -> dict[str, str]:
    """The text of each generated page, by its path in `docs`."""
    return {
        "rules.md": rules.page(),
        "faults.md": faults_page.page(),
        "found.md": mistakes_page.page(),
        "reference/commands.md": _page("Commands", _commands(), ABOUT_COMMANDS),
        "reference/games.md": _page("Games", map(_family, registry.families())),
        "reference/laws.md": _page("Laws", _laws()),
        "reference/files.md": _page("File formats", _files()),
        "reference/python.md": _page("The Python interface", _python()),
        "reference/chialisp.md": _page("Chialisp to include", _libraries()),
    }


def _page(title: str, sections: Iterator[str], about: str = "") -> str:
    note = "(`python -m scripts.tools` writes this page from the code.)"
    parts = (f"# {title}", about, *(section.strip() for section in sections), note)
    return "\n\n".join(part for part in parts if part) + "\n"


ABOUT_COMMANDS = (
    "Every command with its arguments, options and defaults, and an example."
    " [The command line](../command-line.md) says what each is for."
)


# --- commands ----------------------------------------------------------------------------------


def _commands(tree: Mapping[str, Any] = commands.commands, before: str = "") -> Iterator[str]:
    for name, command in tree.items():
        whole = f"{before}{name.replace('_', '-')}"
        inside = getattr(command, "commands", None)
        if inside is None:
            yield f"## {whole}\n\n{_unwrapped(command.help)}"
            yield table(("", "", "default"), map(_parameter, command.params))
        else:
            yield from _commands(inside, f"{whole} ")


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


# --- games -------------------------------------------------------------------------------------


def _family(games: tuple[Game, ...]) -> str:
    """A section about games that share their programs."""
    titles = [game.title.partition(": ")[0] for game in games]
    texts = {rule: text for game in games for rule, text in game.rules.items()}
    sections = [
        f"## {titles[0] if len(games) == 1 else games[0].family.capitalize()}",
        *(
            f"`{game.name}`: {game.title.partition(': ')[2] if len(games) == 1 else game.title}."
            " Policies: "
            + ", ".join(f"`{name}`" for name in game.policies)
            + f". A player needs {game.entropy_size} secret bytes."
            for game in games
        ),
        f"[The specification](../spec/{games[0].family}.md) says what each field means.",
        table(
            ("validator", "state", "move", "bytes", "limit", "share", "highest cost"),
            _validators(games),
        ),
        "The limit is MAX_MOVE_SIZE. Bytes and costs are those of the legal moves among the stored"
        " conformance vectors; a cost is that of the program alone.",
        "The states, and the records inside of them:",
        table(("record", "field", "form"), _records(games)),
        table(("rule", ""), ((f"`{rule}`", text) for rule, text in texts.items())),
    ]
    return "\n\n".join(sections)


def _validators(games: tuple[Game, ...]) -> Iterator[tuple[str, ...]]:
    """Each validator with its state, and the moves and costs of the stored vectors."""
    limits: dict[str, set[int]] = defaultdict(set)
    sizes: dict[str, set[int]] = defaultdict(set)
    costs: dict[str, int] = defaultdict(int)
    for game in games:
        terms, _ = deal(game, game.terms(game.default_parameters(100, 20)), Chance(b""))
        first = game.initial(terms)
        limits[first.validator].add(first.max_move_size)
        _measure(game, limits, sizes, costs)
    for name, validator in registry.validators_of(games).items():
        judge = validator.judge
        state = judge.__annotations__["state"]
        described = getdoc(getattr(import_module(judge.__module__), state)) or ""
        yield (
            f"`{name}`",
            described.partition("\n\n")[0],
            (getdoc(judge) or "").partition("\n\n")[0],
            _range(sizes[name]),
            _range(limits[name]),
            _share_rule(games, name),
            f"{costs[name]:,}",
        )


def _records(games: tuple[Game, ...]) -> Iterator[tuple[str, ...]]:
    """The forms of the fields of each state, then of the records inside of states."""
    validators = registry.validators_of(games)
    states = {
        name: validator.form
        for name, validator in validators.items()
        if isinstance(validator.form, Record)
    }
    inner = [part for form in states.values() for part in parts(form) if isinstance(part, Record)]
    records = {part.kind.__name__: part for part in inner if part not in states.values()}
    for name, record in (*states.items(), *records.items()):
        for field, form in record.fields:
            yield f"`{name}`", f"`{field}`", form_text(form)
        if record.checked:
            yield f"`{name}`", "", "checked as a whole"


def form_text(form: Form) -> str:
    """A form in words."""
    match form:
        case Atom(size):
            return counted(size, "byte")
        case Integer(least, most):
            return f"an integer from {_number(least)} to {_number(most)}"
        case ByteIn(_, noun):
            return f"a byte that is {noun}"
        case HashOf(validator):
            return f"the hash of the program {validator}"
        case Pair(first, second):
            return f"a pair of {form_text(first)} and {form_text(second)}"
        case Optional(inner):
            return f"{form_text(inner)}, or ()"
        case ListOf(inner, _, _, ascending):
            order = ", ascending" if ascending else ""
            return f"a list of {length(form)}{order}: {form_text(inner)}"
        case Record(kind, _, checked):
            return f"{kind.__name__}{', checked as a whole' if checked else ''}"
        case Opaque(_, _, text):
            return text


def _number(number: int) -> str:
    """A bound; a great power of two, or one less, is shown as such."""
    for less in (0, 1):
        power = number + less
        if power >= 1 << 16 and power.bit_count() == 1:
            return f"2^{power.bit_length() - 1}{' - 1' if less else ''}"
    return f"{number:,}"


def _measure(
    game: Game, limits: dict[str, set[int]], sizes: dict[str, set[int]], costs: dict[str, int]
) -> None:
    """Add the limits, sizes and costs of the stored vectors of a game."""
    with (VECTORS / f"{game.name}.jsonl").open("rb") as lines:
        for case in read(lines):
            program = game.programs[case.validator].serialized
            outcome = run_serialized(program, arguments(case, game.name, game.programs))
            if isinstance(outcome, ProgramValid) and case.expect == "valid":
                sizes[case.validator].add(len(case.move) // 2)
                costs[case.validator] = max(costs[case.validator], outcome.cost)
                if case.next is not None:
                    limits[case.next.validator].add(case.next.max_move_size)


def _range(numbers: set[int]) -> str:
    few, many = min(numbers), max(numbers)
    return f"{few}" if few == many else f"{few} to {many}"


def _share_rule(games: tuple[Game, ...], validator: str) -> str:
    """The rule about the share that a move declares, if there is one."""
    part = validator.upper().removesuffix("_ROUND")
    texts = (
        text
        for game in games
        for rule, text in game.rules.items()
        if rule.split("-")[1] == part and "share" in text.lower()
    )
    return next(texts, "any")


# --- laws, files, Python -----------------------------------------------------------------------


def _laws() -> Iterator[str]:
    yield (
        "A law is tried at one site in *every*; more often where something new happened. The"
        " targets to which it applies have what it *needs*."
    )
    for law in laws():
        text = cleandoc(import_module(type(law).__module__).__doc__ or "")
        what = re.sub(r"^Law(?: for targets without rules)?: ", "", text)
        about = f"Every {law.every}. Needs {law.needs.value}."
        yield f"## {law.name.capitalize()}\n\n{what[0].upper()}{what[1:]}\n\n{about}"


def _files() -> Iterator[str]:
    yield "What each file is, the command that reads it, and how the code describes it."
    for kind, (module_name, type_name, page) in FORMATS.items():
        module = import_module(f"channelsim.{module_name}")
        title = kind.title.removeprefix("a ")
        yield (
            f"## {title[0].upper()}{title[1:]}\n\nUse: {kind.use}. See {page}.\n\n"
            f"```text\n{cleandoc(module.__doc__ or '')}\n```"
        )
        if kind is Kind.TRANSCRIPT:
            yield "The first line of a session:"
        if type_name:
            rows = _keys(inspect.type_info(getattr(module, type_name)))
            yield table(("key", "value", "default"), rows)


def _keys(type_: inspect.Type, before: str = "") -> Iterator[tuple[str, str, str]]:
    """The keys of an object, and of objects inside of it: `[]` is each of a list, `*` any key."""
    match type_:
        case inspect.StructType(fields=fields) | inspect.DataclassType(fields=fields):
            for field in fields:
                default = "required" if field.required else _field_default(field)
                path = f"{before}{field.encode_name}"
                yield f"`{path}`", _value(field.type), default
                yield from _keys(field.type, f"{path}.")
        case inspect.UnionType(types=types):
            for one_of in types:
                yield from _keys(one_of, before)
        case inspect.DictType(value_type=inside):
            yield from _keys(inside, f"{before}*.")
        case inspect.ListType(item_type=inside) | inspect.VarTupleType(item_type=inside):
            yield from _keys(inside, f"{before[:-1]}[].")
        case _:
            pass


def _value(type_: inspect.Type) -> str:
    """What JSON or TOML has for a type, in words."""
    match type_:
        case inspect.LiteralType(values=values):
            return " or ".join(f"`{value}`" for value in values)
        case inspect.UnionType(types=types):
            words = [_value(kind) for kind in types if not isinstance(kind, inspect.NoneType)]
            return " or ".join(words)
        case inspect.ListType(item_type=inside) | inspect.VarTupleType(item_type=inside):
            return f"list: {_value(inside)}"
        case inspect.TupleType(item_types=items):
            return f"list of {len(items)}: {', '.join(map(_value, items))}"
        case inspect.DictType(value_type=inside):
            return f"object: {_value(inside)}"
        case inspect.StructType() | inspect.DataclassType():
            return "object"
        case _:
            return _PLAIN[type(type_)]


_PLAIN: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "true or false",
    inspect.BytesType: "text",
    inspect.AnyType: "value",
}


def _field_default(field: inspect.Field) -> str:
    default = field.default
    if default is msgspec.NODEFAULT and field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    return "" if default is None else f"`{json.dumps(msgspec.to_builtins(default))}`"


def _python() -> Iterator[str]:
    yield (
        "All names of the contract can be imported from `channelsim.games.contract`. Each entry is"
        " the first paragraph of the docstring; `help(...)` in Python shows the whole."
    )
    yield f"## channelsim.games.contract\n\n{_entries(_contract())}"
    for module, title in MODULES.items():
        path = ROOT / f"{module.replace('.', '/')}.py"
        yield f"## channelsim.{module}\n\n{title}\n\n{_entries(_definitions(path))}"


def _entries(definitions: Mapping[str, tuple[str, str]]) -> str:
    rows = ((f"`{name}`", f"`{shape}`", text) for name, (shape, text) in definitions.items())
    return table(("name", "", ""), rows)


def _contract() -> dict[str, tuple[str, str]]:
    """The names of the contract, from the modules that define them."""
    path = Path(contract.__file__)
    definitions = _definitions(path)
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("channelsim.games."):
            source = (
                ROOT / f"{(node.module or '').removeprefix('channelsim.').replace('.', '/')}.py"
            )
            definitions.update(_definitions(source))
    return {name: definitions[name] for name in contract.__all__}


def _definitions(path: Path) -> dict[str, tuple[str, str]]:
    """The public definitions of a module: their shape, and the first paragraph about them."""
    body = ast.parse(path.read_text("utf-8")).body
    definitions = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node, after:
            case (ast.ClassDef(name=name), _):
                shape, text = f"class {name}{_made_of(node)}", ast.get_docstring(node)
            case (ast.FunctionDef(name=name, args=args, returns=returns), _):
                result = f" -> {ast.unparse(returns)}" if returns else ""
                shape, text = f"{name}({ast.unparse(args)}){result}", ast.get_docstring(node)
            case (ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value), _):
                shape, text = ast.unparse(value), _text_of(after)
            case _:
                continue
        if not name.startswith("_"):
            definitions[name] = shape, (text or "").partition("\n\n")[0]
    return definitions


def _made_of(node: ast.ClassDef) -> str:
    """The fields of a class with their types and defaults, or the methods of a protocol."""
    if any(ast.unparse(base).startswith("Protocol") for base in node.bases):
        methods = [
            f"{method.name.replace('__call__', '')}({_after_self(method.args)})"
            for method in node.body
            if isinstance(method, ast.FunctionDef) and method.name != "__hash__"
        ]
        return f": {'; '.join(methods)}" if methods else ""
    fields = []
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(name), annotation=kind, value=value):
                if "ClassVar" in ast.unparse(kind) or "init=False" in ast.unparse(statement):
                    continue
                default = "" if value is None else f" = {_default(value)}"
                fields.append(f"{name}: {ast.unparse(kind)}{default}")
    return f"({', '.join(fields)})" if fields else ""


def _after_self(args: ast.arguments) -> str:
    return ", ".join(
        argument.arg for argument in (*args.posonlyargs, *args.args) if argument.arg != "self"
    )


def _default(value: ast.expr) -> str:
    """A default that is a constant or a name; any other one is made anew, and left out."""
    return ast.unparse(value) if isinstance(value, ast.Constant | ast.Name | ast.Tuple) else "…"


def _libraries() -> Iterator[str]:
    """The files of Chialisp to include, each with its comments."""
    yield (
        "A source includes these files of channelsim by the path shown; nothing has to be copied,"
        " and a file of the same path beside the source or in a folder of `include` wins."
    )
    yield (
        '`(include "hashes/NAME.clinc")` defines `NAME_HASH`, in capital letters: the tree hash of'
        " the validator NAME of the same game or target. A validator that leads to itself needs no"
        " include: its own hash is the first item of its environment, PROGRAM_HASH."
    )
    for path in sorted((ROOT / "clsp" / "source" / "lib").glob("*.clinc")):
        text = path.read_text("utf-8")
        head, _, body = text.partition("\n(\n")
        rows = (
            (f"`{name}`", shape)
            if kind == "defconstant"
            else (f"`({' '.join(filter(None, (name, shape)))})`", _comment(comment))
            for comment, kind, name, shape in DEFINITION.findall(body)
        )
        about = _comment(head)
        yield f"## lib/{path.name}\n\n{about}\n\n{table(('', ''), rows)}"


def _comment(text: str) -> str:
    """Comments of Chialisp as one paragraph."""
    return " ".join(line.strip().lstrip("; ") for line in text.splitlines() if line.strip())


def _text_of(node: ast.stmt | None) -> str:
    """The string that stands by itself after a definition."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return cleandoc(text)
        case _:
            return ""
