"""Faults in what a user sees of a channel, and in the maxima of fees that it sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from msgspec.structs import replace

from channelsim.channel.attack import process
from channelsim.channel.peer.chain_news import Forfeited, IllegalOnChain, StateCounts
from channelsim.channel.peer.interface import Acted, DeckBurnt, FeeLimits, GameStarted
from channelsim.channel.peer_text import channel_overview, peer_lines
from channelsim.channel.session.fee_maxima import NOT_GIVEN
from scripts.tools.attack_faults.planting import Fault, Planting, compared


def _line(kind: type, change: Callable[[Any, str], str]) -> Planting:
    """Change the line of a kind of news."""

    def wrong(right: Any, news: Any, us: int) -> str:
        text = str(right(news, us))
        return change(news, text) if isinstance(news, kind) else text

    return compared(peer_lines, "news_text", wrong)


def _shown(name: str, change: Callable[..., Any]) -> Planting:
    """Change what a part of an overview shows."""
    return compared(channel_overview, name, lambda right, *given: change(right(*given), *given))


def _reversed(shown: dict[str, int]) -> dict[str, int]:
    return dict(zip(shown, reversed(shown.values()), strict=True))


def _by_the_other(dues: Sequence[dict[str, Any]], start: str, us: str, them: str) -> Any:
    other = {us: them, them: us}
    return [
        {**due, "who": other[due["who"]]} if due["what"].startswith(start) else due for due in dues
    ]


def _given_alone(right: Any, peer: Any, asked: FeeLimits, directory: Any) -> FeeLimits | None:
    return asked if right(peer, asked, directory) is not None else None


def _of_the_beginning(right: Any, peer: Any, asked: FeeLimits, directory: Any) -> Any:
    if peer.config.fees is None or asked == NOT_GIVEN:
        return right(peer, asked, directory)
    fees = replace(peer.state.fees, limits=None)
    with mock.patch.object(peer, "state", replace(peer.state, fees=fees)):
        return right(peer, asked, directory)


SHOWN = (
    Fault(
        "prints-acts-without-amounts",
        "commands",
        "the line of an act lacks its amount",
        _line(Acted, lambda news, text: text.rpartition(" ")[0] if news.action.amount else text),
    ),
    Fault(
        "prints-half-a-stake",
        "commands",
        "the line of a game that starts has half of what is at stake",
        _line(
            GameStarted,
            lambda news, text: text.replace(
                f"{news.game.terms.amount:,}", f"{news.game.terms.amount // 2:,}"
            ),
        ),
    ),
    Fault(
        "prints-no-game-coins",
        "commands",
        "the line of a state that is paid out lacks its games",
        _line(StateCounts, lambda news, text: text.partition(", game")[0]),
    ),
    Fault(
        "prints-no-broken-rule",
        "commands",
        "the line of an illegal move on chain does not name the rule",
        _line(IllegalOnChain, lambda news, text: text.replace(news.rule, "a rule")),
    ),
    Fault(
        "prints-no-reason-of-a-burnt-deck",
        "commands",
        "the line of a deck that is given up lacks the reason",
        _line(DeckBurnt, lambda news, text: text.partition(":")[0]),
    ),
    Fault(
        "prints-no-forfeited-game",
        "commands",
        "the line of a game that is forfeited does not say which",
        _line(Forfeited, lambda news, text: "forfeits a game"),
    ),
    Fault(
        "shows-the-others-turn",
        "commands",
        "an overview says of a game that it is our turn if it is not",
        _shown("_game", lambda shown, *given: {**shown, "our_turn": not shown["our_turn"]}),
    ),
    Fault(
        "shows-the-others-shares",
        "commands",
        "an overview gives each side the other's share of a game",
        _shown(
            "_game",
            lambda shown, *given: {
                **shown,
                "if_it_ends_here": _reversed(shown["if_it_ends_here"]),
            },
        ),
    ),
    Fault(
        "shows-games-that-are-over",
        "commands",
        "an overview shows games that were paid out on chain",
        _shown(
            "_live_games",
            lambda games, state, newest: newest.games if state.dispute is not None else games,
        ),
    ),
    Fault(
        "shows-dues-of-the-other",
        "commands",
        "an overview says that the other side has to make a move on chain which is ours",
        _shown(
            "_due_on_chain", lambda dues, dispute, *sides: _by_the_other(dues, "move in", *sides)
        ),
    ),
    Fault(
        "shows-no-game-coins",
        "commands",
        "an overview lacks the coins of games",
        _shown(
            "_coins",
            lambda coins, peer: [coin for coin in coins if not coin["what"].startswith("game")],
        ),
    ),
    Fault(
        "shows-no-funding-deadline",
        "commands",
        "an overview does not say by when the funding is due",
        _shown("_due", lambda dues, peer: [due for due in dues if due["what"] != "funding"]),
    ),
    Fault(
        "maxima-replace-each-other",
        "commands",
        "a player that sets one of the maxima of fees takes the other one back",
        compared(process, "changed_limits", _given_alone),
    ),
    Fault(
        "maxima-of-the-beginning",
        "commands",
        "new maxima of fees are compared with those that the channel began with",
        compared(process, "changed_limits", _of_the_beginning),
    ),
)
"""The table of these."""
