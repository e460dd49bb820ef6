"""The functions that rules may call, and what each may get.

A function of Python's libraries or of ours has a row here if it is right about stand-ins: it goes
through their own methods, which build terms, fork the path or refuse, or it has a model. All others
may get plain values only, and only those of libraries whose answers depend on nothing else. So
whatever nobody has thought about is undecided.
"""

from __future__ import annotations

import bisect
import builtins
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import types
import typing
from collections.abc import Mapping
from typing import Any

import msgspec

from channelsim.clsp import values

MODEL = "model"
"""A function of `builtin_models` takes its place."""

FOLLOWED = "followed"
"""Python's own: it asks stand-ins by their methods, or raises."""

REFUSED = "refused"
"""Undecided when it is called, whatever it gets."""

BUILTINS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("bytes", "int", "bool", "set", "frozenset", "len", "all", "any", "max", "min"),
            *("abs", "sorted", "sum", "next", "ord", "type", "hash", "isinstance", "issubclass"),
            *("getattr", "hasattr", "setattr", "delattr", "hex", "oct", "bin", "repr", "ascii"),
            *("format", "callable"),
        ),
        MODEL,
    ),
    **dict.fromkeys(
        (
            *("bytearray", "chr", "classmethod", "complex", "dict", "divmod", "enumerate"),
            *("filter", "float", "iter", "list", "map", "memoryview", "object", "pow", "print"),
            *("property", "range", "reversed", "round", "slice", "staticmethod", "str", "super"),
            *("tuple", "zip", "__build_class__", "__import__"),
        ),
        FOLLOWED,
    ),
    **dict.fromkeys(
        (
            *("id", "dir", "eval", "exec", "compile", "globals", "locals", "vars", "input"),
            *("open", "breakpoint", "help", "exit", "quit", "copyright", "credits", "license"),
            *("aiter", "anext"),
        ),
        REFUSED,
    ),
}
"""The treatment of each function and class of `builtins`; errors are followed, and constants are
themselves."""

METHODS: Mapping[type, frozenset[str]] = {
    list: frozenset(
        {
            *("append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove"),
            *("reverse", "sort"),
        }
    ),
    tuple: frozenset({"count", "index"}),
    dict: frozenset(
        {
            *("clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault"),
            *("update", "values"),
        }
    ),
    set: frozenset(
        {
            *("add", "clear", "copy", "difference", "difference_update", "discard", "intersection"),
            *("intersection_update", "isdisjoint", "issubset", "issuperset", "remove"),
            *("symmetric_difference", "symmetric_difference_update", "union", "update"),
        }
    ),
    frozenset: frozenset(
        {
            *("copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset"),
            *("symmetric_difference", "union"),
        }
    ),
    bytes: frozenset({"join", "startswith", "endswith", "count"}),
    int: frozenset(),
    bool: frozenset(),
    str: frozenset(),
    float: frozenset(),
    bytearray: frozenset({"append", "extend", "insert", "pop", "clear"}),
    collections.deque: frozenset(
        {
            *("append", "appendleft", "clear", "copy", "count", "extend", "extendleft", "index"),
            *("insert", "pop", "popleft", "remove", "reverse", "rotate"),
        }
    ),
}
"""The methods of builtin classes that may get stand-ins, or have them in their object."""

ONLY_PLAIN: Mapping[type, frozenset[str]] = {
    list: frozenset(),
    tuple: frozenset(),
    dict: frozenset(),
    set: frozenset({"pop"}),
    frozenset: frozenset(),
    bytes: frozenset(
        {
            *("capitalize", "center", "decode", "expandtabs", "find", "fromhex", "hex", "index"),
            *("isalnum", "isalpha", "isascii", "isdigit", "islower", "isspace", "istitle"),
            *("isupper", "ljust", "lower", "lstrip", "maketrans", "partition", "removeprefix"),
            *("removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit"),
            *("rstrip", "split", "splitlines", "strip", "swapcase", "title", "translate"),
            *("upper", "zfill"),
        }
    ),
    int: frozenset(
        {
            *("as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator"),
            *("from_bytes", "imag", "is_integer", "numerator", "real", "to_bytes"),
        }
    ),
    str: frozenset(
        {
            *("capitalize", "casefold", "center", "count", "encode", "endswith", "expandtabs"),
            *("find", "format", "format_map", "index", "isalnum", "isalpha", "isascii"),
            *("isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable"),
            *("isspace", "istitle", "isupper", "join", "ljust", "lower", "lstrip", "maketrans"),
            *("partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex"),
            *("rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith"),
            *("strip", "swapcase", "title", "translate", "upper", "zfill"),
        }
    ),
}
"""The methods that may get plain values only. What is in neither table is undecided."""


def _public(module: Any, *but: str) -> list[Any]:
    return [
        value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and name not in but
    ]


_FOLLOWED_FUNCTIONS: tuple[Any, ...] = (
    *(vars(builtins)[name] for name, row in BUILTINS.items() if row == FOLLOWED),
    *(math.comb, math.factorial, math.gcd, math.isqrt, math.lcm, math.perm, math.prod),
    *_public(operator, "attrgetter", "methodcaller", "call"),
    *_public(itertools),
    *(functools.reduce, functools.partial, functools.cmp_to_key, functools.total_ordering),
    *(collections.deque, collections.defaultdict, collections.OrderedDict, collections.ChainMap),
    *(collections.Counter, collections.namedtuple, types.MappingProxyType, types.SimpleNamespace),
    *(dataclasses.replace, dataclasses.fields, dataclasses.is_dataclass, dataclasses.asdict),
    *(dataclasses.astuple, dataclasses.dataclass, dataclasses.field),
    *(copy.copy, copy.deepcopy, typing.cast, typing.NamedTuple, typing.NewType),
    *(bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right),
    *(heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace),
    *(heapq.nlargest, heapq.nsmallest, heapq.merge),
    *(msgspec.structs.replace, msgspec.structs.asdict, msgspec.structs.astuple),
    values.to_list,
)

FUNCTIONS: Mapping[int, Any] = {id(function): function for function in _FOLLOWED_FUNCTIONS}
"""The functions of libraries, and of ours, that may get stand-ins, by identity."""

ALONE = frozenset(
    {
        *("abc", "base64", "binascii", "bisect", "builtins", "channelsim", "collections", "copy"),
        *("dataclasses", "decimal", "enum", "fractions", "functools", "hashlib", "heapq"),
        *("itertools", "json", "math", "msgspec", "numbers", "operator", "re", "string"),
        *("struct", "textwrap", "types", "typing", "typing_extensions", "unicodedata", "zlib"),
        *("sre"),
    }
)
"""Libraries whose functions depend on nothing but what they get."""


OURS = frozenset(
    {
        "channelsim.games.contract",
    }
)
"""Our modules of which no twin is made, with functions that are right about stand-ins."""
