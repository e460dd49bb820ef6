"""Check a run whose honest side was restored from an older copy of its store.

It signs nothing that contradicts what the other side got of it before. Once that side's last
numbers show what it forgot, it says nothing but its own, on each new connection (CH-RESUME-3), and
takes what the close pays it. A counterparty that hides its newer states can make it sign anew:
nothing is promised then.
Source: spec/channel.md, "An old copy of the store".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from channelsim.channel.peer.chain_news import ChannelClosed, LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    BrokenOff,
    ComputeDeck,
    Connected,
    OldCopy,
    OwnFault,
    Push,
    Send,
)
from channelsim.channel.protocol.messages import Batch, DeckStep, Propose, Resume, decode, encode
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.crash_safety import contradictions
from channelsim.channel.simulation.promises.safety import channel_coin, short_of_close, unsettled
from channelsim.channel.simulation.run import JournalEntry, Run

CHAIN = UnilateralClose | LeftForChain | BrokenOff | OwnFault | ChannelClosed
"""News after which messages no longer count."""

CLOSES = ("unroll", "shutdown")
"""The spends that close a channel."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restoration: the newest state in the copy, the events since then, and the newest message
    before it."""

    known: int
    since: Sequence[JournalEntry]
    last: bytes


def restored(run: Run) -> Restored | None:
    """Find where the honest side forgot states that it had stored; None if it never did."""
    journal, newest, last = run.party.journal, 0, b""
    begun = 0
    for place, turn in enumerate(journal):
        if turn.newest_state >= newest:
            newest, begun = turn.newest_state, place + 1
        for effect in turn.effects:
            numbers = decode(effect.message) if isinstance(effect, Send) else None
            if isinstance(numbers, Resume) and isinstance(turn.event, Connected):
                known = max(numbers.received, numbers.sent)
                if known < newest:
                    return Restored(known, journal[begun:], last)
            if isinstance(effect, Send):
                last = effect.message
    return None


def broken_to_copy(run: Run, talk: Conversation, copy: Restored) -> Iterator[tuple[str, str]]:
    """Find broken promises: each by its name, and how it was broken."""
    shown = _shown(copy)
    if not _hides(run, shown):
        for how in contradictions(_got(run)):
            yield "signatures", how
    stops = any(map(_stops, copy.since))
    if not stops and shown is not None and _proved(run, shown) and shown.received > copy.known:
        yield "news", f"it was shown state {shown.received}, and goes on"
    for how in dict.fromkeys(_speaks(copy)):
        yield "signatures", how
    for how in dict.fromkeys((*_is_silent(copy), *_keeps_decks(run, copy))):
        yield "duty", how
    coin = channel_coin(run)
    seen = run.chain.coin(coin.id) if coin is not None else None
    if seen is not None and seen.spent is not None:  # the counterparty may never close
        for how in short_of_close(run, talk, copy.known):
            yield "safety", how
        for how in unsettled(run):
            yield "liveness", how


def _shown(copy: Restored) -> Resume | None:
    """The first last numbers of the other side after the restoration.

    None if it sent none, or the channel was left before.
    """
    for turn in copy.since:
        if any(isinstance(news, CHAIN) for news in turn.news):
            return None
        if isinstance(turn.message, Resume):
            return turn.message
    return None


def _got(run: Run) -> list[bytes]:
    """The messages of the restored side that the other side got as they were sent."""
    effects = (effect for turn in run.party.journal for effect in turn.effects)
    sent = {effect.message for effect in effects if isinstance(effect, Send)}
    return [
        delivered.message
        for delivered in run.delivered
        if delivered.sender == run.scenario.honest and delivered.message in sent
    ]


def _hides(run: Run, shown: Resume | None) -> bool:
    """True if the other side names an older state than the newest that it got."""
    numbers = [batch.number for batch in map(decode, _got(run)) if isinstance(batch, Batch)]
    return shown is not None and shown.received < max(numbers, default=0)


def _proved(run: Run, shown: Resume) -> bool:
    """True if the other side's own peer made these numbers."""
    blob = encode(shown)
    return any(delivered.honest and delivered.message == blob for delivered in run.delivered)


def _stops(turn: JournalEntry) -> bool:
    """True if the player hears that the peer runs on an old copy."""
    return any(isinstance(news, OldCopy) for news in turn.news)


def _stopped(copy: Restored) -> Iterator[JournalEntry]:
    """What it does after it has stopped, until the chain is all that counts."""
    stopped = False
    for turn in copy.since:
        if stopped and any(isinstance(news, CHAIN) for news in turn.news):
            return
        if stopped:
            yield turn
        stopped = stopped or _stops(turn)


def _speaks(copy: Restored) -> Iterator[str]:
    """Find what it sends but its last numbers, or publishes, after it has stopped."""
    for turn in _stopped(copy):
        for effect in turn.effects:
            if isinstance(effect, Send):
                if not isinstance(decode(effect.message), Resume):
                    yield "CH-RESUME-3: it sends messages after it has stopped"
                elif not isinstance(turn.event, Connected):
                    yield "CH-RESUME-3: it sends its last numbers, and there is no new connection"
            if isinstance(effect, Push) and effect.name.removesuffix("+fee") in CLOSES:
                yield f"CH-RESUME-3: it publishes its {effect.name} after it has stopped"


def _is_silent(copy: Restored) -> Iterator[str]:
    """Find new connections on which it does not show again that it has forgotten states."""
    for turn in _stopped(copy):
        if not isinstance(turn.event, Connected):
            continue
        numbers = [message for message in turn.sent if isinstance(message, Resume)]
        shown = {max(message.received, message.sent) for message in numbers}
        if shown != {copy.known}:
            yield "CH-RESUME-3: it does not answer a new connection with its last numbers"


def _keeps_decks(run: Run, copy: Restored) -> Iterator[str]:
    """Find decks that it still has after the restart though no proposal of its own names them.

    One that its player has had prepared since has steps to come.
    """
    batches = [batch for batch in map(decode, run.party.sent) if isinstance(batch, Batch)]
    named = {
        offer.deck.number
        for batch in batches
        for action in batch.actions
        if isinstance(action, Propose)
        for offer in action.offers
        if offer.deck is not None
    }
    for turn in copy.since:
        named |= {message.deck_no for message in turn.sent if isinstance(message, DeckStep)}
        named |= {
            effect.work.terms.number for effect in turn.effects if isinstance(effect, ComputeDeck)
        }
    numbers = next(
        message for turn in copy.since for message in turn.sent if isinstance(message, Resume)
    )
    if not named.issuperset(numbers.decks):
        yield "PD-12: it keeps decks that nothing names, and another copy may have used them"
