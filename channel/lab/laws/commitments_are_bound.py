"""Law for targets without rules: only the committed bytes open a commitment of the state."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.lab.cases.loss import NOT_BOUND
from channelsim.channel.lab.cases.trial import UNSLASHABLE, LabFinding, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.openings import opening
from channelsim.channel.lab.sites.values import leaves
from channelsim.clsp.run import ProgramValid
from channelsim.games.contract import Slash


class CommitmentsAreBound:
    """Changes bytes of the honest move whose hash is in the state, one at a time."""

    name = "commitments are bound"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[LabFinding]:
        """Try the site's honest move, if it opens a commitment."""
        play, chance = trial.site.play, trial.chance
        if trial.site.known is None:
            return
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


LAW = CommitmentsAreBound()
