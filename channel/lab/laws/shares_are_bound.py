"""Law for targets without rules: an honest move cannot declare less for the opponent."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.mutator import BYTES, SHAPES
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.clsp.run import ProgramSlash, ProgramValid
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Slash


class SharesAreBound:
    """Gives the honest move a smaller share.

    Honest play leaves the opponent no more than it must, so less has to be slashable: by the file's
    evidence, by any one byte, or by odd shapes.

    Not tried where the program reads evidence and the file has none for this move, since the proof
    of the fault is unknown; nor where the share may be the move itself, because the file has the
    move with different shares, or because it is empty and another share leads elsewhere.
    """

    name = "shares are bound"
    every = 1
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try one mojo less, and no share at all."""
        if trial.site.guessed or trial.site.validator in trial.tally.runaway:
            return
        play = trial.site.play
        for share in {play.share - 1, 0} - {play.share, -1}:
            trial.tally.tried[self.name] += 1
            if not self._refused(trial, share) and not self._unknown(trial, share):
                text = (
                    "an honest move may declare less for the opponent than honest play leaves it:"
                    " the mover keeps the rest, and cannot be slashed"
                )
                call = play.move, share, play.evidence
                lost = play.share - share
                yield trial.finding(
                    self.name, UNSLASHABLE, text, "share not bound", call, Slash(""), lost=lost
                )

    def _unknown(self, trial: Trial, share: int) -> bool:
        """True if it is not known whether this share is a fault, or how a fault is proved."""
        play = trial.site.play
        if self._free(trial) or (not play.move and self._leads_elsewhere(trial, share)):
            return True
        known = (play.evidence, *trial.site.evidence(play.move))
        return (set(known) == {NIL} and self._looks_at_evidence(trial)) or self._slashable(
            trial, share
        )

    def _free(self, trial: Trial) -> bool:
        """True if the file has the same move with different shares: the share is a choice."""
        site = trial.site
        shares = {
            other.play.share
            for other in recorded_sites(trial.target)
            if (other.validator, other.play.move) == (site.validator, site.play.move)
            and (other.state, other.amount) == (site.state, site.amount)
        }
        return len(shares) > 1

    def _leads_elsewhere(self, trial: Trial, share: int) -> bool:
        """True if the program makes another result of the honest move with this share."""
        play = trial.site.play
        honest, other = (
            trial.run(play.move, declared, play.evidence) for declared in (play.share, share)
        )
        if isinstance(honest, ProgramValid) and isinstance(other, ProgramValid):
            return honest.value != other.value
        return False

    def _looks_at_evidence(self, trial: Trial) -> bool:
        play = trial.site.play
        shapes = (NIL, *(value for value, _ in SHAPES))
        return len({type(trial.run(play.move, play.share, value)) for value in shapes}) > 1

    def _refused(self, trial: Trial, share: int) -> bool:
        """True if the file's evidence slashes this share, or the program raises on it.

        Another law reports that it raises.
        """
        play = trial.site.play
        known: list[Value] = [play.evidence, *trial.site.evidence(play.move)]
        if any(trial.slashes(play.move, share, evidence) for evidence in known):
            return True
        return not any(
            isinstance(trial.run(play.move, share, proof), ProgramValid) for proof in known
        )

    def _slashable(self, trial: Trial, share: int) -> bool:
        """True if any one byte or an odd shape slashes this share."""
        move = trial.site.play.move
        outcomes = (trial.run(move, share, value) for value, _ in (*BYTES, *SHAPES))
        return any(isinstance(outcome, ProgramSlash) for outcome in outcomes)


LAW = SharesAreBound()
