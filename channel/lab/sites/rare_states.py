"""Rare states: those with an atom that is hardly ever written in such a way.

A number that is zero is the empty atom, one whose highest bit is set has a zero byte in front or
is negative, and the sum of two secrets may be shorter than either. Programs are wrong about these
long before anybody sees it, since hands with them come once in thousands. Here a player's secret is
drawn again and again, which costs much less than a hand, and the state that it leads to is looked
at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import HELD, Recorded
from channelsim.channel.lab.sites.site import Site, make_site, recommitted
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.target.target import Target
from channelsim.clsp.integers import is_minimal
from channelsim.clsp.values import Value, serialize
from channelsim.games.chance import Chance
from channelsim.games.contract import Next, Play, Valid, any_action
from channelsim.games.errors import IllegalAction
from channelsim.games.judge import position_after

SELDOM = 2
"""A way of writing an atom is rare as long as it was seen no more often than this."""

Encoding: TypeAlias = tuple[int, str]
"""The form of an atom: its length, and the kind of number that its first byte shows."""


def encoding(atom: bytes) -> Encoding:
    """The length of an atom, and how it is written as a number.

    Padded: in more bytes than needed. Signed: with a zero byte for the sign in front.

    >>> [encoding(atom) for atom in (b"", b"\\x05", b"\\x00\\x80", b"\\x80", b"\\xff\\x7f")]
    [(0, ''), (1, ''), (2, 'signed'), (1, 'least'), (2, 'negative')]
    >>> encoding(b"\\x00\\x7f"), encoding(b"\\xff\\x80")
    ((2, 'padded'), (2, 'padded'))
    """
    if not atom or (0 < atom[0] < 0x80):
        return len(atom), ""
    if not is_minimal(atom):
        return len(atom), "padded"
    if not atom[0]:
        return len(atom), "signed"
    return len(atom), "least" if atom[0] == 0x80 and not any(atom[1:]) else "negative"


class RareStates:
    """The encodings of the atoms in the states that were looked at, by validator and atom.

    Of the player whose secret is drawn again nothing is known: it is assumed to hold the evidence
    that the opponents of other hands held at the same validator (`learn`).
    """

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, int, Encoding]] = Counter()
        self._held: dict[str, dict[bytes, Value]] = {}

    def learn(self, site: Site) -> None:
        """Remember the evidence of the opponent at a place of a hand, the newest `HELD` pieces."""
        held = self._held.setdefault(site.validator, {})
        for one in site.held:
            written = serialize(one)
            held.pop(written, None)
            held[written] = one
        for oldest in list(held)[:-HELD]:
            del held[oldest]

    def is_rare(self, validator: str, state: Value) -> bool:
        """Count the encodings in a state; whether one of them was rare until now."""
        keys = [(validator, at, encoding(atom)) for at, atom in enumerate(leaves(state))]
        self._seen.update(keys)
        return any(self._seen[key] <= SELDOM for key in keys)

    def leading_to(self, target: Target, site: Site, chance: FastChance) -> Iterator[Site]:
        """Draw the secret behind the site's move once more, by the rules of the target.

        If that leads to a rare state: the site with this secret, and the place after it, where the
        opponent plays on. Nothing else, and nothing where the move opens no commitment.
        """
        other = recommitted(target, site, chance, fresh=True)
        if other is None:
            return
        play = other.play
        verdict = other.rules_say(target, play.move, play.share, play.evidence)
        if not isinstance(verdict, Valid) or verdict.next is None:
            return
        step = verdict.next
        if self.is_rare(step.validator, step.state.value()):
            yield other
            if step.validator not in self._held:
                return  # nothing is known yet of what an opponent holds there
            held = tuple(self._held[step.validator].values())
            following = _played_on(target, other, step, held, chance)
            if following is not None:
                yield following


def _played_on(
    target: Target, site: Site, step: Next, held: tuple[Value, ...], chance: FastChance
) -> Site | None:
    """The place after a move, with a move of the player that receives it; None if it settles.

    `held` is the evidence that is assumed against that move, besides its own.
    """
    after = position_after(site.before, step, site.play.move, site.play.share)
    player = site.receiver.moved(after)
    if not player.choices():
        return None
    try:
        play = player.act(any_action(player, Chance(chance.bytes(16))))
    except IllegalAction:
        return None
    if not isinstance(play, Play):
        return None
    receiver = Recorded(after, (play.evidence, *held), after.mover.other)
    return make_site(target, after, play, site.amount, receiver, guessed=True)
