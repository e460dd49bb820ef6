"""Law for targets without rules: only the committed bytes open a commitment of the state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.findings.finding import UNSLASHABLE, Finding
from channelsim.channel.lab.cases.bound_paths import unbound_paths
from channelsim.channel.lab.cases.trial import NOT_BOUND, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.commitments import (
    SHORTEST,
    hash_of,
    in_value,
    opening,
    special_secrets,
)
from channelsim.channel.lab.sites.hash_paths import STEPS, unopened
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.operands import OperandLog
from channelsim.clsp.analysis.tracer import Tracer
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import Value
from channelsim.games.contract import Slash

SPECIAL = 4
"""The secrets that nobody draws that are tried at one site."""


class CommitmentsAreBound:
    """Changes the bytes of the honest move whose hash is in the state: one at a time, and all into
    the secret behind another commitment of the state, or one that nobody draws. And one byte of
    the commitment. Where trees or chains of hashes lead to it, bytes below them."""

    name = "commitments are bound"
    every = 8
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the site's honest move, if it opens a commitment."""
        play, chance = trial.site.play, trial.chance
        if trial.site.known is None:
            return
        opened = opening(play.move, frozenset(leaves(trial.site.state)))
        if opened is None:
            yield from unbound_paths(trial, self.name)
        if opened is None or self._optional(trial):
            return
        start, end = opened
        where = _where(start, end, len(play.move))
        text = (
            f"the commitment that {where} open is not compared: the mover may show"
            " something else, and cannot be slashed"
        )
        unbound = False
        for at in {start, end - 1, start + int(chance.random() * (end - start))}:
            changed = bytearray(play.move)
            changed[at] ^= 1 << chance.below(8)
            for finding in self._try(trial, bytes(changed), text, f"{NOT_BOUND}: {where}"):
                unbound = True
                yield finding
        if unbound:
            return
        text = (
            f"{where} may be the secret behind another commitment of the state than the"
            " one that honest play opens: the mover cannot be slashed"
        )
        for secret in _other_secrets(trial, play.move[start:end]):
            move = play.move[:start] + secret + play.move[end:]
            yield from self._try(trial, move, text, f"{NOT_BOUND}: {where}, by another secret")
        secret = play.move[start:end]
        text = (
            f"{where} may be a certain secret that the commitment is not of: the mover"
            " cannot be slashed"
        )
        special = special_secrets(secret, tuple(leaves(trial.site.state)))
        for other in chance.shuffled([other for other in special if other != secret])[:SPECIAL]:
            move = play.move[:start] + other + play.move[end:]
            yield from self._try(trial, move, text, f"{NOT_BOUND}: {where}, by a certain secret")
        text = (
            f"{where} may be other bytes with an atom of the state among them: the"
            " mover cannot be slashed"
        )
        for other in _with_atoms(secret, tuple(leaves(trial.site.state))):
            move = play.move[:start] + other + play.move[end:]
            cause = f"{NOT_BOUND}: {where}, with an atom of the state"
            yield from self._try(trial, move, text, cause)
        yield from self._in_part(trial, secret, where)
        yield from self._by_another_hash(trial, secret, where)

    def _by_another_hash(self, trial: Trial, secret: bytes, where: str) -> Iterator[Finding]:
        """Report another commitment that the honest move opens as well: a hash of other bytes than
        all of those that are shown, so that some of these may be anything."""
        site, play, target = trial.site, trial.site.play, trial.target
        if site.validator in trial.tally.runaway:
            return
        image = hash_of(secret, tuple(leaves(site.state)))(secret)
        closed = unopened(target, site, image, trial.chance)
        if closed is None:
            return
        for other, parts in _compared_hashes(target, closed):
            if other == image or secret in b"".join(parts):
                continue
            state = in_value(site.state, {image: other})
            place = elsewhere(target, site, state, site.amount, play, natural=True)
            if place is None:
                continue
            text = (
                f"the commitment that {where} open may be a hash of other bytes, too:"
                " the mover may show something else, and cannot be slashed"
            )
            cause = f"{NOT_BOUND}: {where}, by another hash"
            yield from self._try(trial.at(place), play.move, text, cause)

    def _in_part(self, trial: Trial, secret: bytes, where: str) -> Iterator[Finding]:
        """Report a commitment of which the program compares some bytes, and others not: with these
        changed it takes the honest move, with those it slashes that."""
        site, play = trial.site, trial.site.play
        image = hash_of(secret, tuple(leaves(site.state)))(secret)
        compared, ignored = False, list[Finding]()
        last = len(image) - 1
        for at in (0, last, trial.chance.below(last)):
            changed = image[:at] + bytes([image[at] ^ 1 << trial.chance.below(8)]) + image[at + 1 :]
            state = in_value(site.state, {image: changed})
            other = elsewhere(trial.target, site, state, site.amount, play, natural=True)
            if other is None:
                continue
            text = (
                f"only a part of the commitment that {where} open is compared: the"
                " mover may look for two secrets that are alike there, and cannot be slashed"
            )
            cause = f"{NOT_BOUND}: {where}, but for a part of the hash"
            findings = list(self._try(trial.at(other), play.move, text, cause))
            ignored += findings
            compared |= not findings and self._slashed(trial.at(other))
        if compared:
            yield from ignored[:1]

    def _slashed(self, trial: Trial) -> bool:
        play = trial.site.play
        known = (play.evidence, *trial.site.evidence(play.move))
        return any(trial.slashes(play.move, play.share, evidence) for evidence in known)

    def _try(self, trial: Trial, move: bytes, text: str, cause: str) -> Iterator[Finding]:
        """Report the move if the program takes it, and slashes it with no evidence."""
        play = trial.site.play
        trial.tally.tried[self.name] += 1
        known = (play.evidence, *trial.site.evidence(play.move))
        if any(trial.slashes(move, play.share, evidence) for evidence in known):
            return
        if any(isinstance(trial.run(move, play.share, value), ProgramValid) for value in known):
            call = move, play.share, play.evidence
            yield trial.finding(self.name, UNSLASHABLE, text, cause, call, Slash(""))

    def _optional(self, trial: Trial) -> bool:
        """True if some honest move of this size opens nothing, so that this one need not either."""
        size = len(trial.site.play.move)
        return any(
            opening(other.play.move, frozenset(leaves(other.state))) is None
            for other in recorded_sites(trial.target)
            if other.validator == trial.site.validator and len(other.play.move) == size
        )


def _where(start: int, end: int, size: int) -> str:
    """The place of bytes in a move of this size. Their end is left out where it is that of the
    move: with moves of several lengths this is one mistake.

    >>> _where(2, 34, 40), _where(2, 34, 34), _where(0, 34, 34)
    ('bytes 2 to 33 of the move', 'the bytes of the move from 2 on', 'all bytes of the move')
    """
    if end < size:
        return f"bytes {start} to {end - 1} of the move"
    return f"the bytes of the move from {start} on" if start else "all bytes of the move"


def _other_secrets(trial: Trial, secret: bytes) -> Iterator[bytes]:
    """The secrets of this length behind other commitments of the state, as other moves of the hand
    show them; none behind a commitment that honest play opens at this validator too."""
    site = trial.site
    usual = {
        _place(other.state, other.play.move)
        for other in recorded_sites(trial.target)
        if other.validator == site.validator
    }
    images = [atom for at, atom in enumerate(leaves(site.state)) if at not in usual]
    for play in site.others:
        opened = opening(play.move, frozenset(images))
        if opened is not None and opened[1] - opened[0] == len(secret):
            yield play.move[slice(*opened)]


def _with_atoms(secret: bytes, atoms: Sequence[bytes]) -> Iterator[bytes]:
    """The secret with an atom of the state as its beginning or its end."""
    for atom in dict.fromkeys(atoms):
        if SHORTEST <= len(atom) < len(secret):
            for other in (atom + secret[len(atom) :], secret[: -len(atom)] + atom):
                if other != secret:
                    yield other


def _compared_hashes(target: Target, site: Site) -> Iterator[tuple[bytes, tuple[bytes, ...]]]:
    """The hashes that the honest move's run computes, and compares with an atom of the state; each
    with the parts that it is of."""
    if not _tracers or _tracers[0][0] is not target:
        _tracers[:] = [(target, {})]
    tracers = _tracers[0][1]
    if site.validator not in tracers:
        log = OperandLog()
        tracers[site.validator] = target.tracer(site.validator, log), log
    tracer, log = tracers[site.validator]
    play = site.play
    tracer.run(site.environment(play.move, play.share, play.evidence), STEPS)
    hashed, atoms = dict(log.hashed), frozenset(leaves(site.state))
    for pair in log.operands.compared:
        for image, other in (pair, pair[::-1]):
            if image in hashed and other in atoms:
                yield image, hashed[image]


_tracers: list[tuple[Target, dict[str, tuple[Tracer, OperandLog]]]] = []
"""The last target's tracers."""


def _place(state: Value, move: bytes) -> int | None:
    """The number of the atom of a state that a move opens."""
    atoms = list(leaves(state))
    opened = opening(move, frozenset(atoms))
    if opened is None:
        return None
    secret = move[slice(*opened)]
    return atoms.index(hash_of(secret, atoms)(secret))


LAW = CommitmentsAreBound()
