"""The names of the sides of a finding: Alice and Bob, where it is known who moves."""

from __future__ import annotations

from itertools import islice
from typing import TypeAlias

from channelsim.channel.findings.finding import MOVER, OPPONENT, Loss
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.honest_play import Recorded
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.players import Seat

MOVES = 60
"""Moves that are played to see who makes those of a kind."""

Names: TypeAlias = tuple[str, str]
"""The names of the mover and its opponent: Alice and Bob, in the order of a case."""


def names_at(target: Target, site: Site) -> Names | None:
    """The names of mover and opponent at a place of play.

    A place that was read from a record does not say who moves: there, as `names_of`.
    """
    if isinstance(site.receiver, Recorded):
        return names_of(target, site.validator)
    return _names(site.before.mover)


def names_of(target: Target, validator: str) -> Names | None:
    """The names of mover and opponent; None unless one player makes all moves of this kind."""
    played = islice(plain_hands(target, b"movers"), MOVES) if target.rules else ()
    movers = {turn.before.mover for turn in played if turn.before.validator == validator}
    return _names(*movers) if len(movers) == 1 else None


def named(names: Names | None, loss: Loss | None) -> Loss | None:
    """The loss with the names of the sides in the game, where they are known."""
    if loss is None or names is None:
        return loss
    by_role = dict(zip((MOVER, OPPONENT), names, strict=True))
    taker, loser = (by_role.get(side, side) for side in (loss.taker, loss.loser))
    return Loss(taker, loser, loss.amount)


def _names(mover: Seat) -> Names:
    return mover.name.title(), mover.other.name.title()
