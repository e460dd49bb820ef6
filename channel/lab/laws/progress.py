"""Law: no player can prolong a game for ever; it ends against an opponent that only answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from channelsim.channel.findings.finding import GRIEFING, Finding
from channelsim.channel.lab.cases.trial import RUNAWAY, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.hands import plain_terms
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.lies import asked
from channelsim.channel.lab.sites.replays import program_step
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import Outcome, ProgramValid, run_serialized
from channelsim.clsp.values import Value
from channelsim.games.chance import Chance
from channelsim.games.choices import least_action, random_action
from channelsim.games.contract import (
    Action,
    Choice,
    OneOf,
    Play,
    Player,
    Position,
    RawState,
    Seat,
    Valid,
)
from channelsim.games.dealing import deal
from channelsim.games.errors import IllegalAction
from channelsim.games.hidden import seated
from channelsim.games.judge import position_after
from channelsim.games.players import player_after

LONGEST = 300
"""The most moves of one game. Card games against a player that only answers end long before."""

SITES = 64
"""The number of honest moves that are tried as answers, for a target without rules."""

Place = tuple[str, Value]
"""A validator and its state."""


class GamesEnd:
    """Plays a player that stalls against one that takes its first choice.

    The programs decide where each move leads; the rules, where there is no program.
    """

    name = "progress"
    every = 512
    needs = Needs.NOTHING
    without_programs = True

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Play one game from its beginning; without rules, look for moves that lead in a circle."""
        trial.tally.tried[self.name] += 1
        if trial.target.rules is None:
            yield from self._circle(trial)
            return
        chance = Chance(int(trial.chance.random() * 2**64).to_bytes(8, "big"))
        staller = Seat(trial.chance.below(2))
        last = self._game(trial.target, staller, chance)
        if last is not None:
            text = (
                f"after {LONGEST} moves, all legal to the programs, the game goes on, though one"
                " player only answers: the other can prolong it for ever"
            )
            yield trial.at(last).finding(self.name, GRIEFING, text, self.name)

    def _game(self, target: Target, staller: Seat, chance: Chance) -> Site | None:
        """Play a game, and return its last site if it did not end."""
        game = target.game
        terms, secrets = deal(game, plain_terms(target), chance)
        position = game.initial(terms).position
        players: list[Player] = [seated(game, seat, terms, secrets[seat]) for seat in Seat]
        site: Site | None = None
        trusted = True  # the rules lead where the programs do
        for _ in range(LONGEST):
            if position.over:
                return None
            seat = position.mover
            mover, stalls = players[seat], seat is staller
            play = asked(partial(_played, mover, chance, stalls=stalls), trusted=trusted)
            if play is None:
                return None
            site = make_site(target, position, play, terms.amount, players[seat.other])
            step = program_step(target, site)
            if step is None:
                return None
            if trusted:
                ruling, _ = site.ruling(target, play.move, play.share)
                trusted = isinstance(ruling, Valid) and ruling.next == step
            position = position_after(position, step, play.move, play.share)
            moved = [
                asked(
                    partial(
                        player_after, player, position, play.memory if player.seat is seat else b""
                    ),
                    trusted=trusted,
                )
                for player in players
            ]
            players = [player for player in moved if player is not None]
            if len(players) < len(moved):
                return None
        return site

    def _circle(self, trial: Trial) -> Iterator[Finding]:
        """Report a move after which every known answer leads back to the same state."""
        site, target = trial.site, trial.target
        start = (site.validator, site.state)
        there = _record(target, trial.run(*trial.honest))
        if there is None:
            return
        answers = self._answers(trial, there)
        if answers and all(answer == start for answer in answers):
            text = (
                "a move leads back to the same place, whatever its opponent is known to answer:"
                " a player can prolong the game for ever"
            )
            yield trial.finding(self.name, GRIEFING, text, self.name)

    def _answers(self, trial: Trial, there: Place) -> list[Place]:
        """The results of the recorded moves that are legal in this state."""
        (name, state), target = there, trial.target
        answers = []
        for site in recorded_sites(target)[:SITES]:
            if site.validator != name:
                continue
            before = Position(name, RawState(state), Seat.BOB, 0, site.before.max_move_size)
            here = make_site(target, before, site.play, trial.site.amount, site.receiver)
            environment = here.environment(*trial.at(here).honest)
            program = target.programs[name].serialized
            answer = _record(target, run_serialized(program, environment, RUNAWAY))
            if answer is not None:
                answers.append(answer)
        return answers


def _played(player: Player, chance: Chance, *, stalls: bool) -> Play | None:
    """The move of a player that stalls, or only answers; None where it makes none."""
    try:
        play = player.act(_choose(player.choices(), chance, stalls=stalls))
    except IllegalAction:
        return None
    return play if isinstance(play, Play) else None


def _choose(choices: tuple[Choice, ...], chance: Chance, *, stalls: bool) -> Action:
    """Choose the first choice; to stall, anything but the last of several, with its least
    amount."""
    choice = choices[0]
    if stalls:
        choice = chance.pick(choices[:-1] if len(choices) > 1 else choices)
    elif isinstance(choice, OneOf):
        return random_action(choice, chance)
    return least_action(choice)


def _record(target: Target, outcome: Outcome) -> Place | None:
    """The validator and state that a legal move leads to; None where it ends the game."""
    if not isinstance(outcome, ProgramValid):
        return None
    match outcome.value:
        case (bytes(program), (state, _)) if program:
            for name, known in target.hashes.items():
                if known == program:
                    return name, state
    return None


LAW = GamesEnd()
