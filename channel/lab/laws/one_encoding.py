"""Without rules: an honest move has one encoding; no other bytes make the same next coin."""

from __future__ import annotations

from collections.abc import Iterator

from chia_rs import LazyNode

from channel.lab.laws import Needs
from channel.lab.laws.verdicts_agree import leads_to
from channel.lab.trial import GRIEFING, Finding, Trial
from clsp.run import Valid
from games.contract import Slash

LONGEST = 64
"""Fill bytes are put in at so many places at most."""


class OneEncoding:
    """The honest move with a fill byte put in, or bytes behind it."""

    name = "one encoding"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """The spot's honest move; not one that ends the game, as all of them lead to the same."""
        spot = trial.spot
        known, play = spot.known, spot.play
        if known is None or known.next is None:
            return
        trial.tally.tried[self.name] += 1
        for move in padded(play.move):
            if len(move) > spot.before.max_move_size:
                continue
            outcome = trial.run(move, play.share, play.evidence)
            if not isinstance(outcome, Valid) or not isinstance(outcome.result, LazyNode):
                continue
            if leads_to(outcome.result, known.next, trial.target.hashes):
                text = (
                    "two moves of different bytes make the same next coin: a fill byte in an"
                    " honest move changes nothing, and nobody can slash it"
                )
                call = move, play.share, play.evidence
                yield trial.finding(
                    self.name, GRIEFING, text, "two encodings: the move", call, Slash("")
                )
                return


def padded(move: bytes) -> Iterator[bytes]:
    """The move with a byte put in that a signed number's front may have, each way once.

    >>> [one.hex() for one in padded(b"\\x05")]
    ['0005', 'ff05', '0500', '05ff']
    """
    seen = {move}
    for at in range(min(len(move), LONGEST) + 1):
        for fill in (b"\x00", b"\xff"):
            one = move[:at] + fill + move[at:]
            if one not in seen:
                seen.add(one)
                yield one


LAW = OneEncoding()
