"""Nodes of syntax that call the helpers."""

from __future__ import annotations

import ast
from typing import Any

HELPER = "__prove__"
"""The name of the helpers in the rules' modules."""


def helper_node(name: str) -> ast.Attribute:
    """The name of a helper, in the rules' modules."""
    return ast.Attribute(ast.Name(HELPER, ast.Load()), name, ast.Load())


def call_node(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a helper."""
    return ast.Call(helper_node(name), list(arguments), [])


def lambda_node(body: ast.expr) -> ast.Lambda:
    """A function without arguments that returns an expression."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(nothing, body)


def fits_lambda(*nodes: ast.expr) -> bool:
    """True if expressions mean the same inside of a lambda."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await):
                return False
            if isinstance(part, ast.Name) and part.id in ("super", "locals", "__class__"):
                return False
    return True


def statements(visited: Any) -> list[ast.stmt]:
    """Statements of which each was rewritten as one or several."""
    body: list[ast.stmt] = []
    for part in visited:
        body += part if isinstance(part, list) else [part]
    return body
