"""The page of the Python interface, from definitions and docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path

from channelsim.games import contract
from scripts.tools import ROOT, table

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


def python_sections() -> Iterator[str]:
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


def _text_of(node: ast.stmt | None) -> str:
    """The string that stands by itself after a definition."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return cleandoc(text)
        case _:
            return ""
