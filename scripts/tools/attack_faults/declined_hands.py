"""Faults around hands that a player declines."""

from __future__ import annotations

import dataclasses
from typing import Any

from msgspec.structs import replace

from channelsim.channel.session import agreed_hands, side_player
from channelsim.channel.session.agreed_hands import EndOfHands
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.side_player import SidePlayer
from scripts.tools.attack_faults.planting import Fault, changing, compared


def _accepting(right: Any, player: SidePlayer, group: Any) -> Any:
    return right(dataclasses.replace(player, accepts=lambda number: True), group)


def _forgetting(right: Any, setup: Any, play: Any, *given: Any) -> Any:
    return right(setup, replace(play, refusal=None), *given)


def _failed(end: EndOfHands) -> EndOfHands:
    return dataclasses.replace(end, excused=False)


def _exchanged(end: EndOfHands) -> EndOfHands:
    first, second = NAMES
    names = {first: second, second: first}
    words = (names.get(word, word) for word in end.reason.split())
    return dataclasses.replace(end, reason=" ".join(words))


DECLINED_HANDS = (
    Fault(
        "plays-declined-hands",
        "runner",
        "a hand is accepted that the player declines",
        compared(SidePlayer, "_refusal", _accepting),
    ),
    Fault(
        "proposes-declined-hands-again",
        "runner",
        "a hand that was declined is proposed again",
        compared(side_player, "end_of_hands", _forgetting),
    ),
    Fault(
        "fails-for-declined-hands",
        "runner",
        "a session fails in which a player has declined a hand",
        changing(agreed_hands, "_refused", _failed),
    ),
    Fault(
        "says-that-the-other-side-declined",
        "runner",
        "the account of the hands names the wrong side as the one that declined",
        changing(agreed_hands, "_refused", _exchanged),
    ),
)
