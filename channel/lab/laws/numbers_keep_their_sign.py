"""Law for targets without rules: no move makes a number negative that never is in honest play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.honest_play import legal_result, recorded_sites
from channelsim.channel.lab.sites.program_words import lengths
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import NUMBER, leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import Value, atom_to_int, int_to_atom
from channelsim.games.contract import Next, Slash

OFTEN, DIFFERENT = 20, 4
"""The recorded states that a number has to be in, and its different values there: a byte that says
something else has its top bit set in one of them."""

TRIES = 8
"""The cases of a site whose moves are tried, besides those that the law makes."""

Place = tuple[str, int, int]
"""A validator, the number of atoms of its state, and which of them."""


class NumbersKeepTheirSign:
    """Puts negative numbers into the honest move, and looks at the states that moves lead to.

    A number is an atom that can be one, in each recorded state of one validator. With few recorded
    states nothing is tried.
    """

    name = "numbers keep their sign"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the site's honest move with other numbers, and moves of some of its cases."""
        site, play = trial.site, trial.site.play
        known = _numbers(trial.target)
        if not known or site.known is None or not site.natural:
            return
        mutated = dict.fromkeys(case.move for case in trial.cases)
        moves = dict.fromkeys((*_negative(trial), *trial.chance.shuffled(tuple(mutated))[:TRIES]))
        for move in moves:
            if len(move) > site.before.max_move_size:
                continue
            trial.tally.tried[self.name] += 1
            if (least := self._least(trial, move, known)) is not None:
                text = (
                    f"a move makes a number in the state {least:,}, which is never negative in"
                    " honest play, and it cannot be slashed"
                )
                call = move, play.share, play.evidence
                cause = "a number becomes negative"
                yield trial.finding(self.name, UNSLASHABLE, text, cause, call, Slash(""))
                return

    def _least(self, trial: Trial, move: bytes, known: Set[Place]) -> int | None:
        """The least number of the state that a move leads to, if it is negative and must not be;
        None also where the program does not take the move with all known evidence."""
        play, site = trial.site.play, trial.site
        outcome = trial.run(move, play.share, play.evidence)
        if not isinstance(outcome, ProgramValid):
            return None
        legal = legal_result(trial.target, outcome.value)
        if legal is None or legal.next is None or legal.conditions:
            return None
        negative = [
            atom_to_int(atom)
            for place, atom in _places(legal.next.validator, legal.next.state.value())
            if place in known and len(atom) <= NUMBER and atom_to_int(atom) < 0
        ]
        if not negative or any(
            not isinstance(trial.run(move, play.share, evidence), ProgramValid)
            for evidence in dict.fromkeys(site.evidence(move))
        ):
            return None
        return min(negative)


def _negative(trial: Trial) -> Iterator[bytes]:
    """The honest move with negative numbers in the place of each of its ends."""
    program, honest = trial.target.programs[trial.site.validator], trial.site.play.move
    for start in dict.fromkeys((0, *lengths(program).cuts)):
        if start <= len(honest) <= start + NUMBER:
            number = atom_to_int(honest[start:])
            for other in dict.fromkeys((-1, -number, -1 - trial.chance.below(abs(number) + 2))):
                if other < 0:
                    yield honest[:start] + int_to_atom(other)


def _numbers(target: Target) -> Set[Place]:
    """The places of states with a number that is never negative in honest play."""
    if not _last or _last[0][0] is not target:
        _last[:] = [(target, _learned(recorded_sites(target)))]
    return _last[0][1]


_last: list[tuple[Target, Set[Place]]] = []
"""The last target's, since finding them takes as long as many cases."""


def _learned(sites: tuple[Site, ...]) -> Set[Place]:
    seen: defaultdict[Place, list[bytes]] = defaultdict(list)
    for site in sites:
        for place, atom in _places(site.validator, site.state):
            seen[place].append(atom)
        match site.known and site.known.next:
            case Next(validator, state):
                for place, atom in _places(validator, state.value()):
                    seen[place].append(atom)
    return frozenset(
        place
        for place, atoms in seen.items()
        if len(atoms) >= OFTEN and len({*atoms}) >= DIFFERENT and all(map(_is_number, atoms))
    )


def _is_number(atom: bytes) -> bool:
    """True for a number that is not negative, in the fewest bytes, or in one byte."""
    number = atom_to_int(atom) if len(atom) <= NUMBER else -1
    return number >= 0 and (len(atom) == 1 or atom == int_to_atom(number))


def _places(validator: str, state: Value) -> list[tuple[Place, bytes]]:
    """The atoms of a state, each with its place."""
    atoms = tuple(leaves(state))
    return [((validator, len(atoms), at), atom) for at, atom in enumerate(atoms)]


LAW = NumbersKeepTheirSign()
