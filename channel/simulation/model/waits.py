"""Judge how long a side waits for the other: neither gives up early, and neither waits for ever.

Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from channelsim.channel.chain.observations import Block
from channelsim.channel.simulation.model.talk import Conversation

WAITS = "has waited too long"
"""Ends what is broken where a side never gives the other up."""

PATIENCE = 15
"""Blocks for which an honest side may wait beyond a deadline: the margin for delivery, and those
in which it sees no block, because of the weather."""


def see(talk: Conversation, block: Block, peak: int) -> None:
    """Note a block, from whose height times are counted."""
    talk.peak = peak
    # A reorganisation can lower the height: then the wait starts from there.
    talk.since, talk.connected = min(talk.since, peak), min(talk.connected, peak)
    talk.resumed = min(talk.resumed, peak)
    talk.wants_since = None if talk.wants_since is None else min(talk.wants_since, peak)
    talk.asked = {side: min(since, peak) for side, since in talk.asked.items()}
    agreed = talk.handshake.agreed
    if agreed is not None:
        born = [seen.born for seen in block.coins if seen.coin == agreed.coin]
        talk.born = born[0] if born else None


def wants_potato(talk: Conversation, *, wants: bool) -> None:
    """Note since when the honest side wants the potato, which it may not be able to ask for."""
    if talk.holder == talk.side:
        talk.wants_since = None
    elif wants and talk.wants_since is None:
        talk.wants_since = talk.peak


def late(talk: Conversation, rule: str, more: int) -> bool:
    """True if an answer is late by this rule, by more than `more` blocks."""
    answer, move = (time + more for time in talk.times)
    waited = talk.peak - talk.since
    if rule == "CH-TIME-2":
        return (
            talk.is_open and talk.is_owed_a_move() and talk.holder != talk.side and waited >= move
        )
    # The last message of the opening, and the funding, have the deadline of the funding.
    if talk.closed or (talk.handshake.signed and not talk.is_open):
        return False
    if not talk.is_open or talk.closing is not None:
        return waited >= answer
    if talk.holder == talk.side:
        return talk.is_owed_a_move() and 1 - talk.side not in talk.asked and waited >= answer
    if not more and talk.wants_since is not None and talk.peak - talk.wants_since >= answer:
        return True
    return talk.side in talk.asked and talk.peak - talk.asked[talk.side] >= answer


def lacks_numbers(talk: Conversation, rule: str) -> bool:
    """True if the other side's last numbers are late."""
    waited = talk.peak - talk.connected
    return rule == "CH-TIME-1" and talk.resuming and waited >= talk.times[0]


def waits(talk: Conversation) -> None:
    """Check that neither side waits for ever."""
    begun = talk.side == 0 or talk.handshake.agreed is not None
    for rule in ("CH-TIME-1", "CH-TIME-2"):
        if begun and late(talk, rule, PATIENCE):
            talk.fails(f"it waits for what is due by {rule}, and {WAITS}")
            return
    asked = talk.asked.get(1 - talk.side)
    # After a lost connection, a batch that changes nothing may wait for the next block.
    answers = talk.holder == talk.side and talk.closing is None and not talk.resuming
    answers = answers and talk.peak - talk.resumed > 1
    if asked is not None and answers and talk.peak - asked > talk.times[0]:
        talk.fails("it does not answer a request for the potato (CH-TIME-1)")
    owes = any(game.mover == talk.side for game in talk.newest().games.values())
    plays = talk.is_open and talk.closing is None and not (talk.closed or talk.resuming)
    gave_away = talk.holder != talk.side and talk.side not in talk.asked
    if plays and owes and gave_away and talk.peak - talk.since > talk.times[0]:
        talk.fails("it owes a move and does not ask for the potato back (CH-TIME-1)")
