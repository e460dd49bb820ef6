"""The syntax of Python that rules may use, and the names and attributes that have a model.

Each class of nodes has a row here: whatever has none is undecided where a run reaches it. So what
a later Python adds is undecided until somebody has thought about it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

PLAIN = "plain"
"""Python itself does the right thing with stand-ins: their methods build terms, or fork."""

REWRITTEN = "rewritten"
"""The pass calls helpers instead (`syntax`)."""

REFUSED = "refused"
"""Undecided where a run reaches it."""

ABSTRACT = "abstract"
"""A base class, a context, or a form that no module has."""

NODES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("Module", "arguments", "arg", "keyword", "alias", "withitem", "match_case"),
            *("ExceptHandler", "Expr", "If", "Break", "Continue", "Pass", "Assert", "Return"),
            *("Import", "ImportFrom", "BinOp", "NamedExpr", "Lambda", "ListComp", "GeneratorExp"),
            *("Dict", "DictComp", "List", "Tuple", "Constant", "JoinedStr", "FormattedValue"),
            *("Slice", "Yield", "FunctionDef"),
            *("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "LShift", "RShift"),
            *("BitOr", "BitXor", "BitAnd", "MatMult", "Invert", "UAdd", "USub"),
            *("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Load", "Store", "Del"),
        ),
        PLAIN,
    ),
    **dict.fromkeys(
        (
            *("BoolOp", "And", "Or", "Not", "UnaryOp", "IfExp", "Compare", "In", "NotIn", "Is"),
            *("IsNot", "Call", "Set", "SetComp", "Name", "Attribute", "Subscript", "Starred"),
            *("comprehension", "YieldFrom", "Assign", "AnnAssign", "AugAssign", "Delete", "For"),
            *("While", "Try", "Raise", "Global", "Nonlocal", "ClassDef", "Match", "MatchValue"),
            *("MatchSingleton", "MatchSequence", "MatchStar", "MatchAs", "MatchOr", "MatchClass"),
        ),
        REWRITTEN,
    ),
    **dict.fromkeys(
        (
            *("With", "AsyncWith", "AsyncFor", "AsyncFunctionDef", "Await", "TryStar"),
            *("MatchMapping", "TypeAlias", "TypeVar", "ParamSpec", "TypeVarTuple"),
        ),
        REFUSED,
    ),
    **dict.fromkeys(
        (
            *("AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop"),
            *("cmpop", "excepthandler", "pattern", "type_ignore", "type_param", "slice"),
            *("Interactive", "Expression", "FunctionType", "TypeIgnore", "Suite", "AugLoad"),
            *("AugStore", "Param", "ExtSlice", "Index", "Num", "Str", "Bytes", "NameConstant"),
            "Ellipsis",
        ),
        ABSTRACT,
    ),
}
"""The treatment of each class of `ast`, of Python 3.11 to 3.13, within functions."""

IN_A_CLASS = (
    *(ast.FunctionDef, ast.Pass, ast.Expr, ast.Assign, ast.AnnAssign, ast.Constant, ast.Name),
    *(ast.Attribute, ast.Call, ast.keyword, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp),
    *(ast.Subscript, ast.Compare, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
    *(ast.Lambda, ast.arguments, ast.arg),
)
"""The nodes in the body of a class within a function: a lambda there cannot see names of the class,
so what would become one has no model."""

ANNOTATION = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp),
    *(ast.BitOr, ast.expr_context),
)
"""The nodes of an annotation within a function, which may be evaluated."""

OF_THE_FRAME = frozenset({"super"})
"""Functions that look at the function that calls them."""

OF_THE_MODULE = frozenset(
    {"__name__", "__loader__", "__spec__", "__builtins__", "__cached__", "__prove__"}
)
"""Names of a module that are others in its twin."""

OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for prefix in ("", "r")
    for name in (
        *("eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem", "hash", "bool", "index"),
        *("add", "sub", "mul", "floordiv", "truediv", "mod", "divmod", "pow"),
        *("and", "or", "xor", "lshift", "rshift", "len", "iter", "next", "call", "get", "neg"),
        *("abs", "invert", "pos", "enter", "exit", "missing", "reversed"),
    )
)
"""Methods of operators. Those of plain values refuse a stand-in by `NotImplemented`, which is
true; those of a stand-in are asked by operators only."""

SETTING = frozenset({"__setattr__", "__delattr__", "__setitem__", "__delitem__"})
"""Methods that change their object."""

OF_OBJECTS = frozenset(
    {
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class__"),
        *("__struct_fields__", "__match_args__", "__dataclass_fields__", "__members__"),
    }
)
"""Attributes with two underscores at both ends that have a model, besides those of operators."""


def is_special(name: str) -> bool:
    """True for a name that Python gives a meaning."""
    return name.startswith("__") and name.endswith("__")
