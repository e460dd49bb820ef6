"""Faults of a preparation: the deck is burnt, and the channel goes on.

Source: spec/deck.md, "Checks".
"""

from __future__ import annotations

from channelsim.games.errors import GameError

RULES = {
    "PD-1": "Each point is the canonical encoding of a point of the group, not the neutral one.",
    "PD-2": "Each message has exactly its length.",
    "PD-3": "Each scalar is in its range.",
    "PD-4": "The positions in an answer are a permutation.",
    "PD-5": "Every round's recomputed hash equals the one sent before the challenge was opened.",
    "PD-6": "The opened challenge fits its commitment.",
    "PD-7": "Each lock belongs to its position, and its key has the same scalar.",
    "PD-8": "Message 1 repeats the agreed terms, with at least 40 rounds of proof.",
    "PD-11": "Each step comes once, in order.",
    "PD-13": "An opening is a scalar in its range, and opens the key of its lock.",
    "PD-14": "A claimed card is one of the 52, and is the one at its position.",
}
"""The rules that are checked here; a channel checks the others."""


class DeckFault(GameError):
    """A message or an opening breaks the rule with the id `rule`; `reason` says how.

    >>> str(DeckFault("PD-2", "message 3 has 5 bytes instead of 90"))
    'PD-2: message 3 has 5 bytes instead of 90'
    """

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(f"{rule}: {reason}")
        self.rule = rule
        self.reason = reason
