"""Results of proofs as plain data, which need no solver to be read."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from channelsim.channel.findings.finding import Figure
from channelsim.games.amounts import counted

Verdict: TypeAlias = Literal["equal", "different", "proved", "refuted", "undecided"]
"""The answer of a proof: two programs are equal or not on every input within the bounds, any other
claim is proved or refuted."""

MODELS = (
    "the operators of CLVM on numbers, bytes and pairs",
    "sha256 of bytes that are not known: any function, one for each length",
)
"""The models that a proof rests on, in words."""


class Undecidable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why something is undecided, the expression that is to blame, and on how many paths."""

    reason: str
    place: str
    times: Figure

    @property
    def line(self) -> str:
        """All of it in a line.

        >>> Undecidable("the time is over", "", 2).line
        'undecided: the time is over (2 paths)'
        """
        where = f", at {self.place}" if self.place else ""
        often = f" ({counted(self.times, 'path', ',')})"
        return f"undecided: {self.reason}{where}{often}"
