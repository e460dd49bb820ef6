"""Points of the curve that are no keys, and the inverse of a point."""

from __future__ import annotations

from typing import TypeVar

from chia_rs import G1Element, G2Element

Point = TypeVar("Point", G1Element, G2Element)

P = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    16,
)
"""The prime of the field that the coordinates of keys are in."""

INFINITY = bytes([0xC0]) + bytes(47)


def minus(point: Point) -> Point:
    """The point's inverse: the other root of the curve's equation."""
    blob = bytes(point)
    return type(point).from_bytes(bytes([blob[0] ^ 0x20]) + blob[1:])


def _by_x(power: int) -> bytes:
    """The least x with this power in the equation of the curve, as a compressed point."""
    for x in range(1, 1000):
        if pow(x**3 + 4, (P - 1) // 2, P) == power:
            return bytes([0x80]) + x.to_bytes(47, "big")
    raise AssertionError("half of all x have a point, and half have none")


NO_KEYS: dict[str, bytes] = {
    "infinity": INFINITY,
    "zeros": bytes(48),
    "outside-the-group": _by_x(1),
    "off-the-curve": _by_x(P - 1),
    "x-too-large": bytes([0x80 | P >> 376]) + (P + 1).to_bytes(48, "big")[1:],
}
"""48 bytes that are no key, by what they are."""
