"""Names of the peers, and what a session has where nobody says otherwise."""

from __future__ import annotations

NAMES = ("initiator", "receiver")
"""The names of both peers, by side. (Alice and Bob are the roles in one game.)"""

DEFAULT_HANDS = 3
DEFAULT_UNIT = 100
DEFAULT_STACK = 10
DEFAULT_STAKES = 10
"""Stakes that each player puts into the channel by default."""

DEFAULT_TIMEOUT = 15
"""Blocks of the unroll timeout and of games by default, multiplied by the spacing."""

MAX_HANDS = 100_000
