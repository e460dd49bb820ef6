"""Law: a move with a non-minimal number, or a pair for an atom, is refused or slashable."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import GRIEFING, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.referee.referee_runs import Commitment
from channelsim.channel.lab.sites.values import atom_of, longer
from channelsim.clsp.values import NIL, Value, int_to_atom
from channelsim.games.contract import Valid


class Encodings:
    """Encodes the share, size limit, move or commitment of an honest move in another way.

    If the referee accepts it, the coin may be unspendable, or the move have a second reading; so
    the challenger must be able to slash it.
    """

    name = "encodings"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try every wrong encoding of the site's honest move."""
        site, runner = trial.site, trial.runner
        if not site.natural:
            return
        move, share = site.play.move, int_to_atom(site.play.share)
        verdict, _ = trial.site.ruling(trial.target, move, site.play.share)
        if not isinstance(verdict, Valid):
            return
        declared = runner.honest(verdict.next)
        size, commits = declared.size, declared.infohash
        wrong: dict[str, tuple[Value, Value, Value, Value]] = {
            "the move as a pair": ((move, NIL), share, size, commits)
        }
        for how, value in _otherwise(share):
            wrong[f"the share as {how}"] = (move, value, size, commits)
        for how, value in _otherwise(size):
            wrong[f"the size limit as {how}"] = (move, share, value, commits)
        for how, value in _otherwise(commits):
            wrong[f"the commitment as {how}"] = (move, share, size, value)
        for what, (a_move, a_share, a_size, a_hash) in wrong.items():
            fields = runner.after(site, a_move, a_share, Commitment(a_hash, a_size))
            trial.tally.tried[self.name] += 1
            if not runner.passes(site, fields) or trial.pays(fields, site.evidence(move)):
                continue
            run = runner.slash_run(site, fields, site.play.evidence)
            text = f"the referee accepts {what}, and it cannot be slashed"
            yield trial.finding(self.name, GRIEFING, text, f"two encodings: {what}", run=run)


def _otherwise(value: Value) -> list[tuple[str, Value]]:
    """Other encodings of the same number: more bytes, and pairs in the place of an atom."""
    atom = atom_of(value)
    return [
        ("one byte more", longer(atom, 1)),
        ("many bytes more", longer(atom, 40)),
        ("a pair", (atom, NIL)),
        ("a pair of pairs", ((atom, NIL), (NIL, NIL))),
    ]


LAW = Encodings()
