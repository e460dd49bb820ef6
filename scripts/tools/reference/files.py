"""The page of file formats, from the types that read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc

import msgspec
from msgspec import inspect

from channelsim.channel.system.file_kinds import Kind
from scripts.tools import table

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


def file_sections() -> Iterator[str]:
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
    """The value of a type in JSON or TOML, in words."""
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
