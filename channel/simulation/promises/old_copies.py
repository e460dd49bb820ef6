"""Check a run whose honest side was restored from an older copy of its store.

It signs nothing that contradicts what the other side got of it before. Once that side's last
numbers show what it forgot, it says nothing but its own, on each new connection (CH-RESUME-3), and
takes what the close pays it. A counterparty that hides its newer states can make it sign anew:
nothing is promised then.
Source: spec/channel.md, "An old copy of the store".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from channelsim.channel.errors import Violation
from channelsim.channel.peer.chain_news import ChannelClosed, LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    BrokenOff,
    Connected,
    OldCopy,
    OwnFault,
    Push,
    Received,
    Send,
    Store,
    Tell,
)
from channelsim.channel.protocol.messages import Batch, Propose, Resume, decode, encode
from channelsim.channel.simulation.model.conversation import Conversation
from channelsim.channel.simulation.promises.liveness import unsettled
from channelsim.channel.simulation.promises.safety import channel_coin, short_of_close
from channelsim.channel.simulation.promises.signatures import contradictions
from channelsim.channel.simulation.run import JournalEntry, Run

CHAIN = UnilateralClose | LeftForChain | BrokenOff | OwnFault | ChannelClosed
"""News after which messages no longer count."""

CLOSES = ("unroll", "shutdown")
"""The spends that close a channel."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restoration: the newest state in the copy, and the events since then."""

    known: int
    since: Sequence[JournalEntry]


def restored(run: Run) -> Restored | None:
    """Find where the honest side forgot states that it had stored; None if it never did."""
    journal, newest = run.parties[run.scenario.honest].journal, 0
    for place, turn in enumerate(journal):
        for effect in turn.effects:
            if isinstance(effect, Store):
                kind, _, number = effect.name.partition("/")
                newest = max(newest, int(number) if kind in ("sent", "received") else 0)
            numbers = decode(effect.message) if isinstance(effect, Send) else None
            if isinstance(numbers, Resume) and isinstance(turn.event, Connected):
                known = max(numbers.received, numbers.sent)
                if known < newest:
                    return Restored(known, journal[place:])
    return None


def broken_to_copy(run: Run, talk: Conversation, copy: Restored) -> Iterator[tuple[str, str]]:
    """Find broken promises: each by its name, and how it was broken."""
    side = run.scenario.honest
    shown = _shown(copy)
    if not _hides(run, shown):
        got = [one.message for one in run.delivered if one.sender == side]
        for how in contradictions(got):
            yield "signatures", how
    stops = any(True for turn in copy.since for _ in _stops(turn))
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
    """The first last numbers of the other side after the restoration, unless it closed before."""
    for turn in copy.since:
        if any(isinstance(one, Tell) and isinstance(one.news, CHAIN) for one in turn.effects):
            return None
        with suppress(Violation):
            message = decode(turn.event.message) if isinstance(turn.event, Received) else None
            if isinstance(message, Resume):
                return message
    return None


def _hides(run: Run, shown: Resume | None) -> bool:
    """True if the other side names an older state than the newest that it got."""
    sent = [decode(one.message) for one in run.delivered if one.sender == run.scenario.honest]
    newest = max((one.number for one in sent if isinstance(one, Batch)), default=0)
    return shown is not None and shown.received < newest


def _proved(run: Run, shown: Resume) -> bool:
    """True if the other side's own peer made these numbers."""
    return any(one.honest and one.message == encode(shown) for one in run.delivered)


def _stops(turn: JournalEntry) -> Iterator[OldCopy]:
    for effect in turn.effects:
        if isinstance(effect, Tell) and isinstance(effect.news, OldCopy):
            yield effect.news


def _stopped(copy: Restored) -> Iterator[JournalEntry]:
    """What it does after it has stopped, until the chain is all that counts."""
    stopped = False
    for turn in copy.since:
        news = [effect.news for effect in turn.effects if isinstance(effect, Tell)]
        if stopped and any(isinstance(one, CHAIN) for one in news):
            return
        if stopped:
            yield turn
        stopped = stopped or any(_stops(turn))


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
        said = [decode(one.message) for one in turn.effects if isinstance(one, Send)]
        shown = {max(one.received, one.sent) for one in said if isinstance(one, Resume)}
        if shown != {copy.known}:
            yield "CH-RESUME-3: it does not answer a new connection with its last numbers"


def _keeps_decks(run: Run, copy: Restored) -> Iterator[str]:
    """Find decks that it still has after the restart though no proposal of its own names them."""
    sent = [decode(blob) for blob in run.parties[run.scenario.honest].sent]
    named = {
        offer.deck.number
        for batch in sent
        if isinstance(batch, Batch)
        for action in batch.actions
        if isinstance(action, Propose)
        for offer in action.offers
        if offer.deck is not None
    }
    for effect in copy.since[0].effects:
        numbers = decode(effect.message) if isinstance(effect, Send) else None
        if isinstance(numbers, Resume) and not named.issuperset(numbers.decks):
            yield "PD-12: it keeps decks that nothing names, and another copy may have used them"
