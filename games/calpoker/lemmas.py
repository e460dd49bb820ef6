"""The sixteen cards that a number deals: no solver divides 256 bits by 52, 51, … 37."""

from __future__ import annotations

from channelsim.games.calpoker.deal import HAND, PACK, deal_from
from channelsim.games.forms import Integer, ListOf
from channelsim.games.lemma import Lemma

_HALF = 1 << 255
_HAND = ListOf(Integer(0, PACK - 1), HAND, HAND, ascending=True)

DEAL = Lemma(
    name="the deal of California Poker",
    function="deal",
    python=deal_from,
    arguments=(Integer(-_HALF, _HALF - 1),),
    result=ListOf(_HAND, 2, 2),
    cost=20_000_000,
)
