"""The sixteen cards that a number deals: the solver cannot divide 256 bits by 52, 51, … 37."""

from __future__ import annotations

from channelsim.channel.prove.lemma import Lemma
from channelsim.games.calpoker.deal import HAND, PACK, deal_from
from channelsim.games.forms import Integer, ListOf

_HALF = 1 << 255
_HAND = ListOf(Integer(0, PACK - 1), HAND, HAND, ascending=True)

LEMMA = Lemma(
    name="the deal of California Poker",
    game="calpoker",
    function="deal",
    python=deal_from,
    arguments=(Integer(-_HALF, _HALF - 1),),
    result=ListOf(_HAND, 2, 2),
    cost=20_000_000,
)
