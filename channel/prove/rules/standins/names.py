"""The names of attributes that stand-ins have, and what they stand for has not."""

from __future__ import annotations

from channelsim.channel.prove.rules.sets import SymbolicSet
from channelsim.channel.prove.rules.standins.base import StandIn, Text
from channelsim.channel.prove.rules.standins.data import Data
from channelsim.channel.prove.rules.standins.digest import HASH, Digest
from channelsim.channel.prove.rules.standins.ints import Int
from channelsim.channel.prove.rules.standins.unseen import Unseen

STAND_INS: tuple[tuple[type[StandIn], tuple[type, ...]], ...] = (
    (Int, (int, bool)),
    (Data, (bytes,)),
    (Unseen, (bytes, tuple)),
    (SymbolicSet, (set, frozenset)),
    (Text, (str,)),
    (Digest, (HASH,)),
)
"""The classes of stand-ins, and what they stand for."""

OF_STAND_INS = frozenset(
    name
    for kind, plain in STAND_INS
    for name in dir(kind)
    if not all(hasattr(each, name) for each in plain)
)
"""Names that one of them has, but not each class that it stands for."""
