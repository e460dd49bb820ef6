"""Deals: the state and move of a site with other secrets behind the commitment that it opens.

A place costs many times more than its state, and a hand hundreds of times more. To look for rare
cards only the state is made of each secret, and a place where it is worth a run.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from channelsim.channel.lab.sites.commitments import Hash, hash_of, opening
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value
from channelsim.games.contract import State
from channelsim.games.errors import BadState


class Deal(msgspec.Struct, frozen=True, gc=False):
    """The state and the move that a secret leads to; `value` is the state as CLVM has it."""

    state: State
    value: Value
    move: bytes


class Deals:
    """Deals at one site; `secret` is the part of its move that opens `atom` of its state."""

    def __init__(
        self, target: Target, site: Site, secret: tuple[int, int], atom: int, hashed: Hash
    ) -> None:
        self._target, self._site = target, site
        self._read = target.game.validators[site.validator].read_state
        self._start, self._stop = secret
        self._atom, self._hashed = atom, hashed

    def draw(self, chance: FastChance, count: int) -> Iterator[Deal]:
        """Draw this many random secrets of the right length; none that the reader refuses."""
        state, move, hashes = self._site.state, self._site.play.move, self._target.hashes
        start, stop = self._start, self._stop
        for _ in range(count):
            secret = chance.bytes(stop - start)
            value = with_leaf(state, self._atom, self._hashed(secret))
            try:
                typed: State = self._read(value, hashes)
            except BadState:
                continue
            yield Deal(typed, value, move[:start] + secret + move[stop:])

    def place(self, deal: Deal) -> Site | None:
        """The site with this deal."""
        site = self._site
        play = msgspec.structs.replace(site.play, move=deal.move)
        return elsewhere(self._target, site, deal.value, site.amount, play, natural=True)


def deals_at(target: Target, site: Site) -> Deals | None:
    """The deals at a site; None where its move opens no commitment of its state."""
    atoms = tuple(leaves(site.state))
    opened = opening(site.play.move, frozenset(atoms))
    if opened is None:
        return None
    secret = site.play.move[slice(*opened)]
    hashed = hash_of(secret, atoms)
    return Deals(target, site, opened, atoms.index(hashed(secret)), hashed)
