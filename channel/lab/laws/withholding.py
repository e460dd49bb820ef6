"""Law: a player whose last move loses does not gain by withholding it until the timeout."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import THEFT, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.hands import plain_terms
from channelsim.channel.lab.sites.site import make_site
from channelsim.games.chance import Chance
from channelsim.games.contract import Forced, Valid, any_action
from channelsim.games.selfplay import turns

HANDS = 8
"""The hands of one trial: some of them are lost by the player that moves last."""


class Withholding:
    """Plays hands, and compares the last move with a timeout in its place.

    Only a last move without a choice is compared: a player with a choice may have chosen badly.
    """

    name = "withholding"
    every = 2048
    needs = Needs.RULES
    without_programs = True

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Play some hands, and report the first whose last move costs its mover money."""
        target = trial.target
        trial.tally.tried[self.name] += 1
        chance = Chance(int(trial.chance.random() * 2**64).to_bytes(8, "big"))
        for _ in range(HANDS):
            terms, both = plain_terms(target), (any_action, any_action)
            hand = list(turns(target.game, target.hashes, terms, both, chance))
            if not hand:
                continue
            turn = hand[-1]
            choices = turn.player.choices()
            lost = turn.before.mover_share - (turn.amount - turn.play.share)
            if lost <= 0 or [type(choice) for choice in choices] != [Forced]:
                continue
            site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
            here = trial.at(site)
            verdict = site.rules_say(target, *here.honest)
            if isinstance(verdict, Valid) and verdict.next is None:
                text = (
                    "the last move leaves its mover less than a timeout: a player that loses"
                    " withholds it, and its opponent is not paid what it has won"
                )
                yield here.finding(self.name, THEFT, text, self.name, lost=lost)
                return


LAW = Withholding()
