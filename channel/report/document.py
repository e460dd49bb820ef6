"""A session as one JSON document."""

from __future__ import annotations

from typing import Any

from channel.coins import Coin
from channel.session import Result
from channel.setup import NAMES, Setup
from channel.told import viewer_seat
from games import registry


def document(
    setup: Setup, result: Result, digest: str, viewer: str | None = None
) -> dict[str, Any]:
    """The document that `channelsim play --json` prints; a `viewer` sees its own cards only.

    `hands` has each game's own summary, with its number (from 1), game, who proposed it and
    who moved first in it. `no_more_hands` says why there is no other one. Amounts are in mojos.
    """
    hands = []
    for number, (game, hand) in enumerate(result.hands):
        hands.append(
            {
                "hand": number + 1,
                "game": game,
                "proposer": NAMES[number % 2],
                "first": hand.names[0],
                "unit": hand.terms.unit,
                "amount": hand.terms.amount,
                **registry.get(game).story.summary(hand, viewer_seat(hand, viewer)),
            }
        )
    return {
        "game": ",".join(setup.games),
        "seed": setup.seed,
        "policies": dict(zip(NAMES, setup.policies, strict=True)),
        "hands": hands,
        "no_more_hands": result.reason,
        "balances": dict(zip(NAMES, result.balances, strict=True)),
        "coins": {
            "channel": _coin(result.channel_coin),
            "rewards": {
                name: _coin(coin) for name, coin in zip(NAMES, result.rewards, strict=True)
            },
        },
        "checks": {
            "moves_checked": result.checks.moves_checked,
            "python_clvm_agree": result.checks.python_clvm_agree,
            "conserved": result.checks.conserved,
        },
        "disagreements": list(result.disagreements),
        "digest": digest,
    }


def _coin(coin: Coin | None) -> dict[str, Any] | None:
    return None if coin is None else {"id": coin.id.hex(), "amount": coin.amount}
