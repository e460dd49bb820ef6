"""Judge the last numbers that both sides send on a new connection.

Source: spec/channel.md, "A new connection".
"""

from __future__ import annotations

from channelsim.channel.peer.chain_news import LeftForChain
from channelsim.channel.peer.interface import (
    OldCopy,
)
from channelsim.channel.protocol.messages import (
    Resume,
)
from channelsim.channel.simulation.model.batch_rules import LAWFUL
from channelsim.channel.simulation.model.ledger import LedgerState
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.clsp.values import tree_hash


def connects(talk: Conversation) -> None:
    """Lose what was on its way, and wait for the other side's last numbers."""
    talk.may_repeat = True
    if not talk.resuming:  # a new connection starts no time again
        talk.connected = talk.peak
    if talk.early:
        talk.early, talk.last_received = [], (None, None)
    talk.owes_numbers = talk.handshake.signed
    talk.resuming = talk.handshake.signed and not talk.closed


def compares(talk: Conversation, message: Resume) -> frozenset[str]:
    """Compare the other side's last numbers with those that the honest side knows."""
    if not talk.handshake.signed:
        awaits = talk.handshake.awaits_funding and talk.side == 1 and not message.received
        return LAWFUL if awaits else frozenset({"CH-MSG-3"})
    if not talk.resuming:
        return LAWFUL
    received, sent = message.received, message.sent
    halves = (message.channel_half, message.unroll_half)
    rules = set()
    if received % 2 == talk.side or abs(received - sent) != 1:
        rules.add("CH-RESUME-1")
    if talk.agreed().unproved(received, message.conditions, talk.side, halves):
        rules.add("CH-RESUME-2")
    talk.resuming, talk.resumed = False, talk.peak
    known = talk.accounts.get(received) if received <= talk.sent else None
    if not rules and (known is None or _conditions(talk, known) != message.conditions):
        talk.stops_with = OldCopy.__name__
    elif not rules and sent < talk.received:
        talk.stops_with = LeftForChain.__name__  # CH-RESUME-3
    return frozenset(rules)


def _conditions(talk: Conversation, state: LedgerState) -> bytes:
    return tree_hash(talk.agreed().conditions(state))


def sends_numbers(talk: Conversation, message: Resume) -> None:
    """Check the last numbers of the honest side, and their proof."""
    due, talk.owes_numbers = talk.owes_numbers, False
    halves = (message.channel_half, message.unroll_half)
    right = (message.received, message.sent) == (talk.received, talk.sent)
    state = talk.accounts[talk.received]
    proved = message.conditions == _conditions(talk, state) and not talk.agreed().unproved(
        message.received, message.conditions, 1 - talk.side, halves
    )
    if not (due and right and proved):
        talk.fails("its last numbers are wrong, or nothing asks for them")
    # A restart gives up decks: its numbers say which are left.
    talk.careful.free.intersection_update(message.decks)
