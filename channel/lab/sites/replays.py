"""Replays: a hand played again with another secret behind one of its commitments.

Players choose what they commit to, and honest ones choose well. Here the secret may have another
length, be nearly the honest one, or be a word that is none; or nothing opens the commitment. The
other moves stay as they are, and the states are those that the programs make of them, so that a
bad secret is seen where it is opened and after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from channelsim.channel.lab.sites.commitments import (
    Words,
    hash_of,
    hashes,
    in_bytes,
    in_value,
    opening,
)
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import LONGEST
from channelsim.channel.lab.sites.hash_paths import HashPaths, other_bytes, other_words, rewritten
from channelsim.channel.lab.sites.honest_play import Recorded, legal_result
from channelsim.channel.lab.sites.parts import with_changed_part
from channelsim.channel.lab.sites.site import Site, make_site, typed
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.programs import Program
from channelsim.clsp.run import Outcome, ProgramValid, run_serialized
from channelsim.clsp.values import NIL, Value, serialize
from channelsim.games.contract import Next, Play, Valid
from channelsim.games.evidence import Evidence
from channelsim.games.judge import position_after

COST = 50_000_000
"""The cost limit of a run that only finds the next state, or draws a secret."""

StateKey: TypeAlias = tuple[str, bytes]
"""A validator and a serialized state; empty where a hand is over."""


def replayed(
    target: Target,
    hand: Sequence[Site],
    chance: FastChance,
    plain: bool = False,
    paths: HashPaths | None = None,
) -> Iterator[Site]:
    """The places of one hand at which another secret behind a commitment shows.

    `hand` has consecutive places. Nothing comes of a hand without a commitment that it opens.
    The replay ends where the program takes no further move, or is led elsewhere. `plain`: the
    secret is always a random one of the right length. `paths` find secrets behind trees and chains
    where no part of a move is the secret itself.
    """
    words = _another_secret(target, hand, chance, plain)
    if paths is not None and (not words or chance.random() < 0.5):
        shown = _shown_words(hand, paths, chance, short_only=bool(words))
        if shown:
            yield from with_words(target, hand, shown, rewritten)
            return
    if words:
        yield from with_words(target, hand, words)


def _shown_words(
    hand: Sequence[Site], paths: HashPaths, chance: FastChance, short_only: bool
) -> Words:
    """Other bytes behind the greatest tree or chain that the hand shows, or a short part of any,
    such as a number; empty where the hand shows none."""
    known = [(site, path) for site in hand if (path := paths.at(site)) is not None]
    short = [(site, path) for site, path in known if path.short]
    if short and (short_only or chance.random() < 0.5):
        return other_words(*chance.pick(short), chance)
    if short_only or not known:
        return {}
    _, path = max(known, key=lambda pair: len(pair[1].inputs))
    return path.words(other_bytes(path.shown, chance))


def with_words(
    target: Target,
    hand: Sequence[Site],
    words: Words,
    change: Callable[[bytes, Words], bytes] = in_bytes,
) -> Iterator[Site]:
    """The places of a hand that these replacements change; `change` makes those in a move."""
    first = hand[0]
    state = typed(target, first.validator, in_value(first.state, words))
    before = None if state is None else msgspec.structs.replace(first.before, state=state)
    for number, site in enumerate(hand):
        if before is None:
            return
        proof = in_value(site.play.evidence, words)
        play = Play(change(site.play.move, words), site.play.share, proof)
        others = (
            msgspec.structs.replace(candidate, value=in_value(candidate.value, words))
            for candidate in site.candidates(site.play.move)
        )
        evidence = (Evidence(proof), *others)
        receiver = Recorded(before, tuple(dict.fromkeys(evidence)), before.mover.other)
        place = make_site(target, before, play, site.amount, receiver, base=site, guessed=True)
        if play.move != site.play.move or place.state != site.state:
            yield place
        step = program_step(target, place)
        if step is None or number + 1 == len(hand) or step.validator != hand[number + 1].validator:
            return
        before = position_after(before, step, play.move, play.share)


def program_step(target: Target, site: Site) -> Next | None:
    """The record that the site's move leads to, by its program and any of the evidence there.

    None where it ends the game, where the program refuses it, and where its result is no record
    of the target.
    """
    if site.validator in target.missing:
        legal = ruled(target, site)
        return None if legal is None else legal.next
    for evidence in dict.fromkeys((site.play.evidence, NIL, *site.held)):
        _, legal = program_result(target, site, evidence)
        if legal is not None and legal.next is not None:
            return legal.next
    return None


def ruled(target: Target, site: Site) -> Valid | None:
    """What the site's move leads to by the rules, where its validator has no program; None where
    they slash it."""
    ruling, _ = site.ruling(target, site.play.move, site.play.share)
    return ruling if isinstance(ruling, Valid) else None


def program_result(target: Target, site: Site, evidence: Value) -> tuple[Outcome, Valid | None]:
    """Run the site's move with this evidence, up to `COST`: the outcome, and the legal verdict that
    it is, with the next state as the validator's reader has it.

    No verdict where it is none, and of a state that the reader refuses.
    """
    program, play = target.programs[site.validator].serialized, site.play
    outcome = run_serialized(program, site.environment(play.move, play.share, evidence), COST)
    legal = legal_result(target, outcome.value) if isinstance(outcome, ProgramValid) else None
    if legal is None or (step := legal.next) is None:
        return outcome, legal
    state = typed(target, step.validator, step.state.value())
    read = None if state is None else Valid(msgspec.structs.replace(step, state=state))
    return outcome, read


class RecordedHands:
    """The recorded places of a target, as hands that they are parts of."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites: dict[StateKey, list[Site]] = {}
        for site in sites:
            self._sites.setdefault((site.validator, serialize(site.state)), []).append(site)
        led = {_leads_to(site) for site in sites}
        starts = [site for key, some in self._sites.items() if key not in led for site in some]
        self._starts = starts or list(sites)

    def pick(self, chance: FastChance) -> list[Site]:
        """One hand: a first place, and each time one to which the last one leads."""
        hand = [chance.pick(self._starts)]
        while len(hand) < LONGEST and (key := _leads_to(hand[-1])) in self._sites:
            hand.append(chance.pick(self._sites[key]))
        return hand


def _leads_to(site: Site) -> StateKey:
    step = site.known.next if site.known is not None else None
    return ("", b"") if step is None else (step.validator, serialize(step.state.value()))


# --- the secret --------------------------------------------------------------------------------


def _another_secret(
    target: Target, hand: Sequence[Site], chance: FastChance, plain: bool
) -> dict[bytes, bytes]:
    """A new secret for an old one, with the hashes that commit to it; nothing if none is opened."""
    secrets = []
    for site in hand:
        atoms = frozenset(leaves(site.state))
        if (opened := opening(site.play.move, atoms)) is not None:
            secrets.append((site, site.play.move[slice(*opened)], atoms))
    if not secrets:
        return {}
    site, old, atoms = chance.pick(secrets)
    others = [secret for _, secret, _ in secrets]
    program = target.programs[site.validator]
    new = chance.bytes(len(old)) if plain else _secret_like(old, site, others, program, chance)
    hashed = hash_of(old, atoms)
    if not plain and chance.random() < 0.05:
        # A commitment that nothing opens.
        return {hashed(old): hashed(new)}
    return dict(zip(hashes(old, hashed), hashes(new, hashed), strict=True))


def _secret_like(
    old: bytes, site: Site, others: Sequence[bytes], program: Program, chance: FastChance
) -> bytes:
    """A secret of the same length or another, near the old one or far from it."""
    size, room = len(old), site.before.max_move_size - len(site.play.move)
    match chance.below(7):
        case 0:
            return chance.bytes(size)
        case 1:
            return chance.bytes(chance.below(size + max(room, 0) + 1))
        case 2:
            return old[: size - 1 - chance.below(size)] if chance.random() < 0.5 else old[1:]
        case 3:
            return old + chance.bytes(1 + chance.below(max(room, 1)))
        case 4:
            return chance.pick(others)
        case 5:
            return with_changed_part(old, program, tuple(leaves(site.state)), chance)
        case _:
            at, length = chance.below(size), 1 + chance.below(8)
            return old[:at] + chance.bytes(min(length, size - at)) + old[at + length :]
