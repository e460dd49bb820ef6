"""A pass over the syntax tree of rules: it rewrites what Python does not let a stand-in intercept.

| Python | becomes a call of |
|---|---|
| `a and b`, `a or b`, `x if c else y` | both sides without a fork, where these merge |
| `not x`, `x in y`, `x is y` | a truth value that is not decided yet |
| `low < x < high` | the same of several comparisons |
| `all(f(x) for x in xs)`, `any(…)` | one truth value, if going through them changes nothing |
| `match` | `if` with a test of each pattern |
| a change of an object | the same, after a check that no two sides are tried |
| `except` | the same, but not for what the prover raises, or a stand-in without a model |
| `with`, `except*`, a `finally` that is left | undecided: they could hide what the prover raises |
| `raise Error(f"…")` | the same; a text of inputs may not be looked at |
| attributes with two underscores at both ends, or of stand-ins alone | undecided, but for a few |
| a syntax without a row in `known_syntax` | undecided |

What would mean something else inside of a lambda (`:=`, `yield`, `await`, `super()`) stays as it
is: it then forks the path. So do loops and `if` statements.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeGuard

from channelsim.channel.prove.rules.known_syntax import (
    ANNOTATION,
    IN_A_CLASS,
    NODES,
    OF_THE_FRAME,
    OF_THE_MODULE,
    PLAIN,
    REFUSED,
    REWRITTEN,
    is_special,
)
from channelsim.channel.prove.rules.nodes import (
    HELPER,
    call_node,
    fits_lambda,
    helper_node,
    lambda_node,
    statements,
)
from channelsim.channel.prove.rules.patterns import Patterns
from channelsim.channel.prove.rules.standins.names import OF_STAND_INS

CHANGING = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
        *("add", "discard", "update", "setdefault", "popitem", "difference_update"),
        *("intersection_update", "symmetric_difference_update", "send", "throw", "close", "write"),
        *("appendleft", "extendleft", "popleft", "rotate", "subtract", "move_to_end"),
    }
)
"""Methods that change their object."""

GIVEN = frozenset({"join", "startswith", "endswith", "count", "get"})
"""Methods of bytes and dictionaries that get stand-ins as arguments."""

NEW_ITERATORS = frozenset({"range", "zip", "enumerate", "reversed", "map", "filter", "sorted"})
"""Functions whose result nobody else has."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def rewritten(source: str, file: str) -> ast.Module:
    """The syntax tree of a module of rules, ready to run on stand-ins. Raises SyntaxError."""
    tree = ast.parse(source, file)
    changed: ast.Module = _Pass().visit(tree)
    return ast.fix_missing_locations(changed)


def _is_generator(node: ast.expr) -> TypeGuard[ast.GeneratorExp]:
    return (
        isinstance(node, ast.GeneratorExp)
        and not any(part.is_async for part in node.generators)
        and all(_has_plain_target(part) for part in node.generators)
        and fits_lambda(node)
    )


def _has_plain_target(loop: ast.comprehension) -> bool:
    """True for a loop that only gives values to names."""
    return not any(
        isinstance(part, ast.Attribute | ast.Subscript) for part in ast.walk(loop.target)
    )


class _Pass(ast.NodeTransformer):
    """Rewrites functions: what modules and classes do when they are imported stays as it is."""

    def __init__(self) -> None:
        self._depth = 0
        self._patterns = Patterns()

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; outside of functions only look for functions."""
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return self._function(node)
        if isinstance(node, ast.ClassDef):
            return self._class(node)
        if not self._depth and not isinstance(node, ast.AsyncFunctionDef):
            return self.generic_visit(node)
        row = NODES.get(type(node).__name__, REFUSED)
        if row not in (PLAIN, REWRITTEN):
            return self._without_model(node)
        changed = super().visit(node)
        if isinstance(changed, ast.AST) and isinstance(node, ast.expr | ast.stmt):
            ast.copy_location(changed, node)
        return changed

    def _without_model(self, node: ast.AST) -> Any:
        """Undecided, where a run reaches a node that is not followed."""
        name = f"`{type(node).__name__}`"
        if isinstance(node, ast.expr):
            return ast.copy_location(call_node("no_model_of", ast.Constant(name)), node)
        if isinstance(node, ast.stmt):
            return self._refused(node, name)
        raise SyntaxError(f"no model of {name}")

    def _function(self, node: Any) -> Any:
        # Decorators, defaults and annotations are evaluated outside.
        if getattr(node, "type_params", None):
            return self._refused(node, "parameters of types")
        self._depth += 1
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = statements(self.visit(part) for part in node.body)
        self._depth -= 1
        if not self._depth:
            return node
        arguments = node.args
        arguments.defaults = [self.visit(value) for value in arguments.defaults]
        arguments.kw_defaults = [value and self.visit(value) for value in arguments.kw_defaults]
        if isinstance(node, ast.Lambda):
            return node
        if not all(map(_is_annotation, _annotations(node))):
            return self._refused(node, "an annotation that is evaluated")
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        return self._in_function(node) if node.decorator_list else node

    def _class(self, node: ast.ClassDef) -> Any:
        """A class; within a function, its body is a scope that lambdas cannot see."""
        if any(isinstance(part, ast.FunctionDef) and part.name == "__del__" for part in node.body):
            return [self._refused(node, "`__del__`"), node]
        if not self._depth:
            self.generic_visit(node)
            node.bases = [call_node("base", base) for base in node.bases]
            return node
        if getattr(node, "type_params", None):
            return self._refused(node, "parameters of types")
        for part in node.body:
            if not _is_simple_in_a_class(part):
                return self._refused(node, "this body of a class in a function")
        node.body = statements(self.visit(part) for part in node.body)
        node.bases = [call_node("base", self.visit(base)) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        return self._in_function(node)

    def _in_function(self, node: Any) -> Any:
        """A class, or a function with decorators: within a function, what makes it may change
        something."""
        return [self._check(node, call_node("before_a_change")), node]

    # --- expressions -----------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Rewrite `and` and `or`."""
        self.generic_visit(node)
        if not fits_lambda(*node.values):
            return node
        name = "chosen_by_and" if isinstance(node.op, ast.And) else "chosen_by_or"
        return call_node(name, *map(lambda_node, node.values))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Rewrite `x if c else y`."""
        self.generic_visit(node)
        if not fits_lambda(node.body, node.orelse):
            return node
        return call_node(
            "chosen_by_if", node.test, lambda_node(node.body), lambda_node(node.orelse)
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Rewrite `not`."""
        self.generic_visit(node)
        return call_node("opposite", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite `in` and `is`, and several comparisons in a row."""
        self.generic_visit(node)
        if len(node.ops) == 1:
            match node.ops[0]:
                case ast.In() | ast.NotIn():
                    call = call_node("has", node.comparators[0], node.left)
                case ast.Is() | ast.IsNot():
                    call = call_node("identical", node.left, node.comparators[0])
                case _:
                    return node
            positive = isinstance(node.ops[0], ast.In | ast.Is)
            return call if positive else call_node("opposite", call)
        if not fits_lambda(*node.comparators):
            return node
        pairs: list[ast.expr] = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pairs += (ast.Constant(type(operator).__name__), lambda_node(right))
        return call_node("compared", node.left, *pairs)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite calls: `all`, `any`, methods that change objects or get stand-ins, all others."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("all" | "any" as name), [items], []) if _is_generator(items):
                given = ast.Name(name, ast.Load())
                plain = ast.Call(helper_node("call"), [given, deepcopy(items)], [])
                return ast.IfExp(call_node("is_model", given), _lazy(name, items), plain)
            case ast.Call(ast.Name(name)) if name in OF_THE_FRAME:
                return node
            case ast.Call(ast.Attribute(of, name)) if name in CHANGING:
                of = call_node("changed", of, ast.Constant(name))
                node.func = ast.Attribute(of, name, ast.Load())
            case ast.Call(ast.Attribute(of, name)) if name in GIVEN:
                node.func = call_node("method", of, ast.Constant(name))
        return ast.Call(helper_node("call"), [node.func, *node.args], node.keywords)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        """Rewrite `{a, b}`, whose items may not be known."""
        self.generic_visit(node)
        return call_node("set_of", ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        """Rewrite `{f(x) for x in xs}`."""
        self.generic_visit(node)
        node.generators[0].iter = _in_any_order(node.generators[0].iter)
        return call_node("set_of", ast.ListComp(node.elt, node.generators))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Refuse names of the module that are others in its twin."""
        if node.id in OF_THE_MODULE and isinstance(node.ctx, ast.Load):
            return call_node("no_model_of", ast.Constant(f"`{node.id}`"))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite attributes that Python gives a meaning, and what stand-ins alone have."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = call_node("settable", node.value, ast.Constant(node.attr))
        elif node.attr in OF_STAND_INS or is_special(node.attr):
            return call_node("attribute", node.value, ast.Constant(node.attr))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite `container[key]`, where the key of a dictionary may not be known."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _has_slice(node.slice):
            return node
        return call_node("item", node.value, node.slice)

    # --- statements ------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Check before an assignment to a part of an object, or to several names."""
        self.generic_visit(node)
        if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            node.value = _iterated(node.value)
        return self._checked(node, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Check before an assignment to a part of an object."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return self._checked(node, [node.target])

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Check before a part is taken away."""
        self.generic_visit(node)
        return self._checked(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Check before an object may change in place."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            loaded = ast.Name(node.target.id, ast.Load())
            return [self._check(node, call_node("may_change", loaded)), node]
        return self._checked(node, [node.target])

    def visit_Global(self, node: ast.Global) -> Any:
        """Refuse to try a function that assigns to names of others."""
        return [node, self._check(node, call_node("before_a_change"))]

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        """Refuse to try a function that assigns to names of others."""
        return [node, self._check(node, call_node("before_a_change"))]

    def visit_For(self, node: ast.For) -> Any:
        """Do not use up an iterator of others while two sides are tried."""
        self.generic_visit(node)
        node.iter = _items(node.target, _iterated(node.iter))
        node.body.insert(0, self._check(node, call_node("turned")))
        return self._checked(node, [node.target])

    def visit_While(self, node: ast.While) -> ast.While:
        """Bound the time of a loop."""
        self.generic_visit(node)
        node.body.insert(0, self._check(node, call_node("turned")))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """Do not use up an iterator of others while two sides are tried."""
        self.generic_visit(node)
        node.iter = _items(node.target, _iterated(node.iter))
        if self._checked(node.iter, [node.target]) is not node.iter:
            node.iter = call_node("changed", node.iter)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.YieldFrom:
        """Do not use up an iterator of others by `yield from`."""
        self.generic_visit(node)
        node.value = _iterated(node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.Starred:
        """Do not use up an iterator of others by `*`."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _iterated(node.value)
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        """Let what the prover raises pass every handler, and look at what else is caught."""
        self.generic_visit(node)
        leaving = (ast.Return, ast.Break, ast.Continue)
        if any(isinstance(part, leaving) for last in node.finalbody for part in ast.walk(last)):
            return [self._refused(node, "a `finally` that is left"), node]
        for handler in node.handlers:
            handler.body.insert(0, self._check(handler.body[0], call_node("caught")))
        if node.handlers:
            node.handlers.insert(
                0, ast.ExceptHandler(helper_node("CONTROL"), None, [ast.Raise(None, None)])
            )
        return node

    def _refused(self, node: ast.AST, construct: str) -> ast.stmt:
        return self._check(node, call_node("no_model_of", ast.Constant(construct)))

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        """Leave out the text of an error, which may name an input; mark it as the rules' own."""
        if isinstance(node.exc, ast.Call):
            arguments = [
                call_node("error_text", lambda_node(part))
                if isinstance(part, ast.JoinedStr) and fits_lambda(part)
                else part
                for part in node.exc.args
            ]
            node.exc.args = []
            self.generic_visit(node)
            made: Any = node.exc
            made.args += arguments
        else:
            self.generic_visit(node)
        if node.exc is not None:
            node.exc = call_node("raised", node.exc)
        return node

    def _checked(self, node: ast.AST, targets: Sequence[ast.expr]) -> Any:
        parts = (part for target in targets for part in ast.walk(target))
        if any(
            isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load)
            for part in parts
        ):
            return [self._check(node, call_node("before_a_change")), node]
        return node

    def _check(self, node: ast.AST, call: ast.Call) -> ast.stmt:
        return ast.copy_location(ast.Expr(call), node)

    def visit_Match(self, node: ast.Match) -> Any:
        """Rewrite `match` as `if`s."""
        return self._patterns.rewritten(node, self.visit)


def _is_simple_in_a_class(node: ast.stmt) -> bool:
    """True for a function, or a statement that means the same within a class."""
    if isinstance(node, ast.FunctionDef):
        return all(
            isinstance(part, IN_A_CLASS) for each in node.decorator_list for part in ast.walk(each)
        )
    if isinstance(node, ast.AnnAssign) and not _is_annotation(node.annotation):
        return False
    parts = list(ast.walk(node))
    return all(isinstance(part, IN_A_CLASS) for part in parts) and not any(
        isinstance(part, ast.Compare) and len(part.ops) > 1 for part in parts
    )


def _annotations(node: ast.FunctionDef) -> list[ast.expr]:
    arguments = [part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg)]
    return [annotation for annotation in (*arguments, node.returns) if annotation is not None]


def _is_annotation(node: ast.expr) -> bool:
    """True for an annotation that does nothing where it is evaluated."""
    return all(isinstance(part, ANNOTATION) for part in ast.walk(node))


def _iterated(value: ast.expr) -> ast.expr:
    """A value that is gone through; one that a call returns may be an iterator that is new."""
    match value:
        case ast.Call(ast.Attribute(_, "call"), [ast.Name(name), *_]) if name in NEW_ITERATORS:
            return value
    is_new = isinstance(value, ast.Call | ast.GeneratorExp)
    return call_node("iterated", value, ast.Constant(is_new))


def _items(target: ast.expr, items: ast.expr) -> ast.expr:
    """The items of a loop, which may unpack each of them, too."""
    if not isinstance(target, ast.Tuple | ast.List) or _is_fresh(items):
        return items
    return call_node("unpacked", items)


def _is_fresh(items: ast.expr) -> bool:
    """True for the items of `zip` and `enumerate`, which are tuples."""
    match items:
        case ast.Call(ast.Attribute(_, "call"), [ast.Name("zip" | "enumerate"), *_]):
            return True
    return False


def _has_slice(key: ast.expr) -> bool:
    """True for what only stands between brackets."""
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    return any(isinstance(part, ast.Slice | ast.Starred) for part in parts)


def _lazy(name: str, items: ast.GeneratorExp) -> ast.expr:
    """`all(…)` or `any(…)` of a generator, loop by loop: its items, and a test of one."""
    loop, *inner = items.generators
    rest = ast.GeneratorExp(items.elt, inner)
    test = _lazy(name, rest) if inner else items.elt
    if loop.ifs and name == "any":
        test = call_node("chosen_by_and", *map(lambda_node, [*loop.ifs, test]))
    elif loop.ifs:
        absent = [call_node("opposite", condition) for condition in loop.ifs]
        test = call_node("chosen_by_or", *map(lambda_node, [*absent, test]))
    item = f"{HELPER}item"
    once = ast.Tuple([ast.Name(item, ast.Load())], ast.Load())
    unpacked = ast.ListComp(test, [ast.comprehension(loop.target, once, [], 0)])
    function = lambda_node(ast.Subscript(unpacked, ast.Constant(0), ast.Load()))
    function.args.args = [ast.arg(item)]
    return call_node(f"{name}_lazy", _fresh(_in_any_order(loop.iter)), function)


def _in_any_order(items: ast.expr) -> ast.expr:
    """The items of a loop, where the order does not matter."""
    match items:
        case ast.Call(ast.Attribute(_, "iterated"), [value, is_new]):
            return call_node("iterated", value, is_new, ast.Constant(False))
    return items


def _fresh(items: ast.expr) -> ast.expr:
    """The items of a loop, where `zip(…)` and its like are lists if nothing changes by it."""
    match items:
        case ast.Call(ast.Attribute(ast.Name(name), "call"), [ast.Name(function), *_]) if (
            name == HELPER and function in ("zip", "enumerate", "reversed")
        ):
            arguments = [items.args[0], *map(_fresh, items.args[1:])]
            return ast.Call(helper_node("fresh"), arguments, items.keywords)
    return items
