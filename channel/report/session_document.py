"""A session as one JSON document, and its progress for an interrupted one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from channelsim.channel.chain.coins import Coin
from channelsim.channel.session.result import Result
from channelsim.channel.session.session_events import (
    Answered,
    ChannelFunded,
    HandEnded,
    SessionEvent,
    viewer_seat,
)
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.system.file_kinds import SESSION
from channelsim.games import registry
from channelsim.games.contract import Hand


class SessionProgress:
    """A listener that collects the finished hands, with their games, and the balances.

    `declined`: a player did not accept a hand.
    """

    def __init__(self, setup: Setup) -> None:
        self.hands: list[tuple[str, Hand]] = []
        self.balances = (setup.balance, setup.balance)
        self.declined = False

    def __call__(self, event: SessionEvent) -> None:
        """Record a finished hand, or the balances at the start."""
        match event:
            case ChannelFunded(_, _, balances):
                self.balances = balances
            case HandEnded(_, game, hand, balances):
                self.hands.append((game, hand))
                self.balances = balances
            case Answered(_, _, accepts):
                self.declined = self.declined or not accepts
            case _:
                pass


def document(
    setup: Setup, result: Result, digest: str, viewer: str | None = None
) -> dict[str, Any]:
    """The document that `channelsim play --json` prints; a `viewer` sees only its own cards.

    `hands` holds each game's own summary, with its number (from 1), the game, its proposer and
    who moved first. `hands_asked` is how many there should be, and `no_more_hands` says why they
    ended. Amounts are in mojos. Of games
    without programs `checks` counts `moves_by_rules`; `python_clvm_agree` is null if none ran.
    """
    by_rules = result.checks.moves_by_rules
    compared = result.checks.moves_checked or not by_rules
    return {
        **_played(setup, result.hands, result.balances, viewer),
        "no_more_hands": result.reason,
        "coins": {
            "channel": _coin(result.channel_coin),
            "rewards": {
                name: _coin(coin) for name, coin in zip(NAMES, result.rewards, strict=True)
            },
        },
        "checks": {
            "moves_checked": result.checks.moves_checked,
            "python_clvm_agree": result.checks.python_clvm_agree if compared else None,
            "conserved": result.checks.conserved,
            **({"moves_by_rules": by_rules} if by_rules else {}),
        },
        "disagreements": list(result.disagreements),
        "digest": digest,
    }


def unfinished(setup: Setup, so_far: SessionProgress, viewer: str | None = None) -> dict[str, Any]:
    """The document of an interrupted session: the finished hands, and the balances after them."""
    played = _played(setup, so_far.hands, so_far.balances, viewer)
    return {**played, "interrupted": True}


def _played(
    setup: Setup, played: Sequence[tuple[str, Hand]], balances: tuple[int, int], viewer: str | None
) -> dict[str, Any]:
    hands = []
    for number, (game, hand) in enumerate(played):
        hands.append(
            {
                "hand": number + 1,
                "game": game,
                "proposer": NAMES[number % 2],
                "first": hand.names[0],
                "unit": hand.terms.unit,
                "amount": hand.terms.amount,
                "parameters": dict(hand.terms.parameters),
                **registry.get(game).summary(hand, viewer_seat(hand, viewer)),
            }
        )
    return {
        "format": SESSION,
        "game": setup.rotation or ",".join(setup.games),
        "seed": setup.seed,
        "policies": dict(zip(NAMES, setup.policies, strict=True)),
        "hands_asked": setup.hands,
        "hands": hands,
        "balances": dict(zip(NAMES, balances, strict=True)),
    }


def _coin(coin: Coin | None) -> dict[str, Any] | None:
    return None if coin is None else {"id": coin.id.hex(), "amount": coin.amount}
