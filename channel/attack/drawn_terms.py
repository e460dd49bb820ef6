"""Terms of attacked sessions drawn from a seed: most sessions have the usual ones."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.terms import Proposals, Terms
from channelsim.channel.crypto.hkdf import derive
from channelsim.games.chance import Chance

SEVERAL, PAID = 8, 4
"""The per cent of the sessions with several games in a proposal, or one beside another, and that of
those in which honest sides pay fees though nobody fills blocks."""

ASKED = (20_000_000, 200_000_000)
"""What nodes ask for a typical spend, in mojos."""


def with_terms(attack: Attack, games: Sequence[str]) -> Attack:
    """A script that perhaps has other terms, with games out of these. Its seed decides."""
    chance = Chance(derive(attack.seed.encode(), "attack", "terms"))
    terms = attack.terms
    if chance.chance(SEVERAL):
        more = chance.pick(games)
        staggered = chance.chance(50)
        terms = replace(terms, proposals=Proposals.STAGGERED if staggered else Proposals.TOGETHER)
        attack = replace(attack, games=(*attack.games, more), tight=False)
    if chance.chance(PAID):
        terms = replace(terms, fees=chance.pick(ASKED))
    return replace(attack, terms=terms) if terms != Terms() else attack
