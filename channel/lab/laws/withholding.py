"""Law: a player whose last move loses does not gain by withholding it until the timeout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.findings.finding import THEFT, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.hands import plain_terms
from channelsim.channel.lab.sites.site import make_site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.choices import random_action
from channelsim.games.contract import Action, Choice, Forced, Player, Valid
from channelsim.games.selfplay import PlayedMove, turns

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
        trial.tally.tried[self.name] += 1
        chance = Chance(int(trial.chance.random() * 2**64).to_bytes(8, "big"))
        for _ in range(HANDS):
            last = _last_move(trial.target, chance)
            if last is None:
                continue
            turn, choices = last
            lost = turn.before.mover_share - (turn.amount - turn.play.share)
            if lost <= 0 or [type(choice) for choice in choices] != [Forced]:
                continue
            site = make_site(trial.target, turn.before, turn.play, turn.amount, turn.receiver)
            here = trial.at(site)
            verdict = site.rules_say(trial.target, *here.honest)
            if isinstance(verdict, Valid) and verdict.next is None:
                text = (
                    "the last move leaves its mover less than a timeout: a player that loses"
                    " withholds it, and its opponent is not paid what it has won"
                )
                yield here.finding(self.name, THEFT, text, self.name, lost=lost)
                return


def _last_move(target: Target, chance: Chance) -> tuple[PlayedMove, Sequence[Choice]] | None:
    """Play a hand at random; its last move, with the choices of its mover. None without moves."""
    choices: Sequence[Choice] = ()

    def policy(player: Player, chance: Chance) -> Action:
        nonlocal choices
        choices = player.choices()
        return random_action(chance.pick(choices), chance)

    last = None
    terms = plain_terms(target)
    for turn in turns(target.game, target.hashes, terms, (policy, policy), chance):
        last = turn, choices
    return last


LAW = Withholding()
