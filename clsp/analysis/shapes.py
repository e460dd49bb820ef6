"""Recognise the shapes of expressions: operands, quotes, choices, and code-like values."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.clsp.operators import IF, NAMES, QUOTE
from channelsim.clsp.values import NIL, Value


def operands(node: Value) -> Iterator[Value]:
    """The operands of an expression, not evaluated."""
    rest = node[1] if isinstance(node, tuple) else NIL
    while isinstance(rest, tuple):
        yield rest[0]
        rest = rest[1]


def quoted(node: Value) -> Value | None:
    """The value that an expression quotes; None for any other expression."""
    return node[1] if isinstance(node, tuple) and node[0] == QUOTE else None


def is_choice(node: Value) -> bool:
    """True if this is `(i test (q . ONE) (q . OTHER))`.

    The older dialects write `()` for a side `(q)`.

    >>> is_choice((b"\\x03", (b"\\x02", ((b"\\x01", b"\\x05"), (b"", b"")))))
    True
    >>> is_choice((b"\\x03", (b"\\x02", (b"", (b"", b"")))))
    False
    """
    if not isinstance(node, tuple) or node[0] != IF or not is_list(node[1]):
        return False
    sides = list(operands(node))[1:]
    bodies = [quoted(side) for side in sides]
    return (
        len(sides) == 2
        and any(body is not None for body in bodies)
        and all(body is not None or side == NIL for side, body in zip(sides, bodies, strict=True))
    )


def is_list(value: Value) -> bool:
    """True if this is a proper list."""
    while isinstance(value, tuple):
        value = value[1]
    return value == NIL


def looks_like_code(node: Value) -> bool:
    """True if a value has the shape of an expression: an existing operator, then a proper list
    of atoms, quotes and such expressions.

    >>> looks_like_code((b"\\x10", (b"\\x02", (b"\\x05", b""))))
    True
    >>> looks_like_code((b"\\x10", (b"\\x02", b"\\x05")))
    False
    """
    if not isinstance(node, tuple) or node[0] not in NAMES:
        return False
    rest = node[1]
    while isinstance(rest, tuple):
        operand, rest = rest
        if isinstance(operand, tuple) and operand[0] != QUOTE and not looks_like_code(operand):
            return False
    return rest == NIL
