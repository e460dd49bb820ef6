"""A `match` as `if`s with a test of each pattern."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from channelsim.channel.prove.rules.nodes import HELPER, call_node, statements


class Patterns:
    """Rewrites the patterns of a module, with names that nothing else has."""

    def __init__(self) -> None:
        self._fresh = 0
        self._names: dict[str, str] = {}

    def rewritten(self, node: ast.Match, visit: Callable[[ast.AST], Any]) -> list[ast.stmt]:
        """The same as `if`s; `visit` rewrites what is no pattern."""
        self._fresh += 1
        subject = f"{HELPER}subject{self._fresh}"
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            self._names = {}
            tests = self._pattern(case.pattern, ast.Name(subject, ast.Load()))
            # Names get their values only if the whole pattern fits.
            for name, found in self._names.items():
                tests += _binding(name, ast.Name(found, ast.Load()))
            if case.guard is not None:
                tests.append(visit(case.guard))
            body = statements(visit(part) for part in case.body)
            test = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]
            chain = [ast.copy_location(ast.If(test, body, chain), case.pattern)]
        start = ast.Assign([ast.Name(subject, ast.Store())], visit(node.subject))
        return [ast.copy_location(start, node), *chain]

    def _pattern(self, pattern: ast.pattern, value: ast.expr) -> list[ast.expr]:
        """The tests of a pattern, in order; names are bound by tests that are true."""
        match pattern:
            case ast.MatchValue(expected):
                return [ast.Compare(value, [ast.Eq()], [expected])]
            case ast.MatchSingleton(constant):
                return [call_node("identical", value, ast.Constant(constant))]
            case ast.MatchAs(inner, name):
                tests = self._pattern(inner, value) if inner is not None else []
                return tests + (self._found(name, value) if name is not None else [_true()])
            case ast.MatchOr(patterns):
                each = [self._pattern(part, value) for part in patterns]
                return [ast.BoolOp(ast.Or(), [ast.BoolOp(ast.And(), [_true(), *t]) for t in each])]
            case ast.MatchSequence(patterns):
                return self._sequence(patterns, value)
            case ast.MatchClass(kind, patterns, names, inner):
                keys = ast.List([ast.Constant(name) for name in names], ast.Load())
                call = self._name()
                tests = [
                    ast.NamedExpr(
                        ast.Name(call, ast.Store()),
                        call_node("class_parts", value, kind, ast.Constant(len(patterns)), keys),
                    ),
                ]
                return tests + self._parts([*patterns, *inner], call)
        return [call_node("no_model_of_match")]

    def _sequence(self, patterns: Sequence[ast.pattern], value: ast.expr) -> list[ast.expr]:
        stars = [at for at, part in enumerate(patterns) if isinstance(part, ast.MatchStar)]
        star = stars[0] if stars else -1
        parts = self._name()
        call: ast.expr = ast.NamedExpr(
            ast.Name(parts, ast.Store()),
            call_node("sequence_parts", value, ast.Constant(len(patterns)), ast.Constant(star)),
        )
        return [call, *self._parts(patterns, parts)]

    def _parts(self, patterns: Sequence[ast.pattern], found: str) -> list[ast.expr]:
        """The tests of patterns against the parts in a box that was found."""
        tests = []
        for at, part in enumerate(patterns):
            inside = ast.Attribute(ast.Name(found, ast.Load()), "parts", ast.Load())
            item = ast.Subscript(inside, ast.Constant(at), ast.Load())
            if isinstance(part, ast.MatchStar):
                tests += self._found(part.name, item) if part.name is not None else []
            else:
                tests += self._pattern(part, item)
        return tests

    def _found(self, name: str, value: ast.expr) -> list[ast.expr]:
        """A test that is true, and keeps the value of a name in a pattern."""
        if name not in self._names:
            self._names[name] = self._name()
        return _binding(self._names[name], value)

    def _name(self) -> str:
        self._fresh += 1
        return f"{HELPER}part{self._fresh}"


def _true() -> ast.expr:
    return ast.Constant(True)


def _binding(name: str, value: ast.expr) -> list[ast.expr]:
    """A test that is true, and binds a name."""
    return [call_node("bound", ast.NamedExpr(ast.Name(name, ast.Store()), value))]
