"""Illegal moves that we can slash."""

from __future__ import annotations

import msgspec

from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry
from channelsim.games.evidence import Evidence
from channelsim.games.judge import Ruling, slash_pays


class SlashableMove(msgspec.Struct, frozen=True):
    """An illegal move: the rule that it breaks, and the evidence for which the slash pays."""

    rule: str
    evidence: Evidence


def slashable_move(endpoint: Endpoint, game: LiveGame, ruling: Ruling) -> SlashableMove | None:
    """The illegal last move of a game, if the referee accepts our slash of it."""
    before, evidence = game.before, ruling.evidence
    if evidence is None or game.mover is not endpoint.side:
        return None
    if before is None or before.position.state is None:
        return None
    pays = slash_pays(
        registry.get(game.terms.game).programs[before.position.validator or ""],
        before.position.state.value(),
        game.coin,
        evidence.value,
        endpoint.channel.rewards[endpoint.side],
    )
    return SlashableMove(ruling.rule or "CH-MOVE-5", evidence) if pays else None
