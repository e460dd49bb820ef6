"""The point at infinity, and the inverse of a point."""

from __future__ import annotations

from typing import TypeVar

from chia_rs import G1Element, G2Element

Point = TypeVar("Point", G1Element, G2Element)

INFINITY = bytes([0xC0]) + bytes(47)


def minus(point: Point) -> Point:
    """The point's inverse: the other root of the curve's equation."""
    blob = bytes(point)
    return type(point).from_bytes(bytes([blob[0] ^ 0x20]) + blob[1:])
