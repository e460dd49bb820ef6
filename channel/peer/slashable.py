"""Illegal moves that we can slash."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry
from channelsim.games.evidence import Evidence
from channelsim.games.judge import slash_pays


@dataclass(frozen=True, slots=True)
class SlashableMove:
    """An illegal move: the rule that it breaks, and the evidence for which the slash pays."""

    rule: str
    evidence: Evidence


def slashable_move(
    endpoint: Endpoint, game: LiveGame, rule: str, evidence: Evidence
) -> SlashableMove | None:
    """The illegal last move of a game, if the referee accepts our slash of it."""
    before = game.before
    if game.mover is not endpoint.side or before is None or before.position.state is None:
        return None
    pays = slash_pays(
        registry.get(game.terms.game).programs[before.position.validator or ""],
        before.position.state.value(),
        game.coin,
        evidence.value,
        endpoint.channel.rewards[endpoint.side],
    )
    return SlashableMove(rule, evidence) if pays else None
