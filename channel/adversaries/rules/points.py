"""Points of the curve that are no keys."""

from __future__ import annotations

_P = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    16,
)
"""The prime of the field that the coordinates of keys are in."""


def _by_x(power: int) -> bytes:
    """The least x with this power in the equation of the curve, as a compressed point."""
    x = next(x for x in range(1, 1000) if pow(x**3 + 4, (_P - 1) // 2, _P) == power)
    return bytes([0x80]) + x.to_bytes(47, "big")


NO_KEYS = (
    bytes([0xC0]) + bytes(47),  # infinity
    bytes(48),
    _by_x(1),  # outside of the group
    _by_x(_P - 1),  # off the curve
    bytes([0x80 | _P >> 376]) + (_P + 1).to_bytes(48, "big")[1:],  # x too large
)
"""48 bytes that are no key."""
