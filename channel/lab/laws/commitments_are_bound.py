"""Law for targets without rules: only the committed bytes open a commitment of the state."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256

from channelsim.channel.lab.cases.loss import NOT_BOUND
from channelsim.channel.lab.cases.trial import UNSLASHABLE, LabFinding, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.values import leaves
from channelsim.clsp.run import ProgramValid
from channelsim.games.contract import Slash

LONGEST = 64
"""Only this many leading bytes of a move are searched."""

SHORTEST = 8
"""Fewer bytes commit to nothing."""


class CommitmentsAreBound:
    """Changes bytes of the honest move whose hash is in the state, one at a time."""

    name = "commitments are bound"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[LabFinding]:
        """Try the site's honest move, if it opens a commitment."""
        play, chance = trial.site.play, trial.chance
        opened = opening(play.move, frozenset(leaves(trial.site.state)))
        if opened is None or self._optional(trial):
            return
        start, end = opened
        for at in {start, end - 1, start + int(chance.random() * (end - start))}:
            changed = bytearray(play.move)
            changed[at] ^= 1 << chance.below(8)
            move = bytes(changed)
            trial.tally.tried[self.name] += 1
            held = (play.evidence, *trial.evidence(play.move))
            if any(trial.slashes(move, play.share, one) for one in held):
                continue
            said = [trial.run(move, play.share, one) for one in held]
            if any(isinstance(one, ProgramValid) for one in said):
                text = (
                    f"the commitment that bytes {start} to {end - 1} of the move open is not"
                    " compared: the mover may show something else, and cannot be slashed"
                )
                call = move, play.share, play.evidence
                cause = f"{NOT_BOUND}: bytes {start} to {end - 1}"
                yield trial.finding(self.name, UNSLASHABLE, text, cause, call, Slash(""))

    def _optional(self, trial: Trial) -> bool:
        """Whether some honest move of this size opens nothing, so that this one need not either."""
        size = len(trial.site.play.move)
        return any(
            opening(other.play.move, frozenset(leaves(other.state))) is None
            for other in recorded_sites(trial.target)
            if other.validator == trial.site.validator and len(other.play.move) == size
        )


@lru_cache(maxsize=1024)
def opening(move: bytes, atoms: frozenset[bytes]) -> tuple[int, int] | None:
    """Find the longest part of the move whose hash, or tree hash, is one of these atoms.

    >>> image = sha256(b"0123456789").digest()
    >>> opening(b"xx0123456789yy", frozenset({image}))
    (2, 12)
    >>> opening(b"xx0123456789yy", frozenset({bytes(32)})) is None
    True
    """
    images = {atom for atom in atoms if len(atom) == 32}
    size = min(len(move), LONGEST)
    if not images:
        return None
    for length in range(size, SHORTEST - 1, -1):
        for start in range(size - length + 1):
            shown = move[start : start + length]
            if sha256(shown).digest() in images or sha256(b"\x01" + shown).digest() in images:
                return start, start + length
    return None


LAW = CommitmentsAreBound()
