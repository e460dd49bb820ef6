"""Results of proofs as plain data, which need no solver to be read."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from channelsim.channel.findings.finding import Figure
from channelsim.games.amounts import counted

Verdict: TypeAlias = Literal["equal", "different", "proved", "refuted", "checked", "undecided"]
"""The answer of a proof: two programs are equal or not on every input within the bounds, any other
claim is proved or refuted. "Checked" is no proof: real runs agree on so many inputs."""

CHECKED: Verdict = "checked"
"""The verdict of a claim that real runs agree with, on a number of inputs."""

COMPARED = "; compared on "
"""Stands in the text of a lemma before the number of inputs."""

PROVED: tuple[Verdict, ...] = ("equal", "proved")
"""The verdicts of proofs."""

BROKEN: tuple[Verdict, ...] = ("different", "refuted")
"""The verdicts of claims that an input breaks."""

NO_SOLVER = "needs z3-solver; pip install z3-solver"
"""The line where the extra `prove` is missing, with the remedy."""

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
        often = f" ({counted(self.times, 'path')})"
        return f"undecided: {self.reason}{where}{often}"


class ProofResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result for one claim about one validator, in documents and in files of proofs.

    `sides` are digests in hex of all that the result depends on, by name: tree hashes of programs,
    and the SHA-256 of the source of rules. `longest` is the longest move in bytes; `pairs` and
    `atom` bound evidence; `bounds` say it in words. `sizes` are the paths of each size of the move
    that was examined. `confirmed` paths were run for real, for `unconfirmed` ones no input was
    found, and on `bounded` ones a side looks at values of which larger ones are left out.
    `samples` were run besides; of a claim that is only checked, these are all runs, and `sizes` are
    its batches. No run that returns costs more than `cost`. `shape` names the only
    shape of the state; it is empty for all of them.
    """

    validator: str
    claim: str
    verdict: Verdict
    sides: dict[str, str]
    longest: Figure
    pairs: Figure
    atom: Figure
    bounds: tuple[str, ...]
    assumes: tuple[str, ...]
    lemmas: tuple[str, ...]
    cost: Figure
    sizes: dict[int, Figure]
    confirmed: Figure
    unconfirmed: Figure
    bounded: Figure
    samples: Figure
    undecided: tuple[Undecidable, ...]
    shape: str = ""

    @property
    def name(self) -> str:
        """The claim and the validator: `equal: commitA`; with the shape of the state, if it is
        about one."""
        name = f"{self.claim}: {self.validator}"
        return f"{name}, {self.shape}" if self.shape else name

    @property
    def paths(self) -> int:
        """The paths of all sizes."""
        return sum(self.sizes.values())

    @property
    def is_proved(self) -> bool:
        """True if it is a proof."""
        return self.verdict in PROVED
