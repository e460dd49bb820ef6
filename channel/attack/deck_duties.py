"""Duties of a side that prepares decks, followed through all lives of its process.

Nothing of the peer's own bookkeeping is believed that its effects, or the messages, say as well.
Source: spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.decks.pool import DeckPool
from channelsim.channel.peer.interface import (
    ComputeDeck,
    DeckBurnt,
    DeckComputed,
    Effect,
    Erase,
    Event,
    Fault,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import (
    Batch,
    DeckAbort,
    DeckStep,
    Message,
    Propose,
    Resume,
    decode,
)
from channelsim.channel.simulation.run import message_in
from channelsim.games.amounts import counted

MOST_OPEN = 4
"""The most decks in preparation or ready at once (PD-17)."""

MOST_SKIPPED = 1000
"""The most by which the number of a deck is above the highest so far (PD-10)."""

COMPUTES = 24
"""Blocks in which a process that runs has a step computed: its threads may be held up for some."""

PLAY_IS_OVER = (Phase.CLOSING, Phase.COMPLETED, Phase.ON_CHAIN)
"""The phases in which no deck will be used that no game has."""


@dataclass(slots=True)
class DeckDuties:
    """Follows the decks of one side: the numbers `used`, and the steps that are `computing`.

    Those are computed since some height; `None` until the next block. `steps` were received by this
    process, and those of a number are `sent` with these bytes. What follows the newest of those is
    `due_since` a height. `finishing` are the decks whose last step is computed: the other side has
    them already, and may name them.
    """

    config: Config
    used: set[int] = field(default_factory=set)
    computing: dict[int, int | None] = field(default_factory=dict)
    steps: set[tuple[int, int, bytes]] = field(default_factory=set)
    sent: dict[tuple[int, int], bytes] = field(default_factory=dict)
    due_since: dict[int, int] = field(default_factory=dict)
    finishing: set[int] = field(default_factory=set)

    def restored(self) -> None:
        """Forget what an older copy of the files lacks."""
        self.used.clear()

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """Find what is wrong with the decks after an event; None for the start, or a restart."""
        if event is None:
            self.computing.clear()
            self.steps.clear()
            self.sent.clear()
            self.due_since.clear()
            self.finishing.clear()
        if isinstance(event, Fault):
            # Whatever it failed to handle, which may be a step, it has left the channel.
            self.computing.clear()
            self.finishing.clear()
        if isinstance(event, DeckComputed):
            self.computing.pop(event.result.number, None)
            self.finishing.discard(event.result.number)
        if isinstance(event, Received) and self.finishing:
            yield f"takes a message before deck {min(self.finishing)} is finished"
        if isinstance(event, Block):
            yield from self._uncomputed(event)
        yield from self._begun(before, effects)
        yield from self._sends(effects, after.block.peak)
        if after.phase is Phase.PLAYING:
            yield from _misstated(after, effects)
        yield from _erased_early(before, after, effects)
        if after.phase in PLAY_IS_OVER:
            yield from _kept_secrets(after, "when play is over")
        if after.play is None or after.phase is not Phase.PLAYING:
            return
        pool = after.play.decks
        yield from self._open(pool, before, after)
        if event is None and pool.decks:
            yield f"goes on with {counted(len(pool.decks), 'open deck')} after a restart (PD-12)"
        if before.play is None or before.phase is not Phase.PLAYING or event is None:
            return
        burnt = {one.news.number for one in _told(effects) if isinstance(one.news, DeckBurnt)}
        message = message_in(event)
        yield from _stopped(event, before.play.decks, pool, effects)
        for number in sorted(before.play.decks.decks.keys() - pool.decks.keys() - burnt):
            if number not in _named_in(message, effects):
                yield f"drops deck {number}, and its player does not hear of it"
        if not before.resuming:
            yield from _passed_over(message, before.play.decks, pool, burnt)
        match message:
            case Resume() if before.resuming:  # one that comes again is known
                named = _named(after) - _named(before)
                yield from _wrongly_resumed(before.play.decks, pool, message, effects, named)
            case DeckStep(number, step, data) if not before.resuming:
                known = (number, step, data) in self.steps
                if step and known and number in burnt and number in before.play.decks.decks:
                    yield f"burns deck {number} for a step that comes again"
                if number in pool.decks:
                    self.steps.add((number, step, data))
            case DeckAbort(number) if not before.resuming:
                if number in pool.decks:
                    yield f"keeps deck {number}, which the other side gives up"
                elif (number in before.play.decks.decks) != (number in burnt):
                    yield f"does not tell its player what becomes of deck {number}"
            case _:
                pass
        if isinstance(message, Batch) or any(isinstance(one, Batch) for one in _sent(effects)):
            yield from _kept_secrets(after, "that no game needs")
        if isinstance(event, Block):
            yield from self._untimely(event, before.play.decks, pool, burnt)
        if isinstance(event, Block | DeckComputed) or isinstance(message, DeckStep):
            ended = {one.deck_no for one in _sent(effects) if isinstance(one, DeckAbort)}
            for number in sorted(burnt - ended):
                yield f"burns deck {number}, and the other side does not hear of it"

    def _begun(self, before: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
        """Find numbers that are used again, or leave too many unused (PD-10)."""
        highest = before.play.decks.highest if before.play is not None else 0
        for effect in effects:
            if not isinstance(effect, ComputeDeck):
                continue
            number = effect.work.terms.number
            self.computing[number] = None
            if effect.work.is_last:
                self.finishing.add(number)
            if effect.work.is_new:
                if number in self.used:
                    yield f"begins deck {number} again (PD-10)"
                if number > highest + MOST_SKIPPED:
                    yield f"begins deck {number}, and {highest} is the highest so far (PD-10)"
                self.used.add(number)

    def _sends(self, effects: Sequence[Effect], peak: int) -> Iterator[str]:
        """Find steps that are the other side's, or that have other bytes when they are repeated."""
        for message in _sent(effects):
            if not isinstance(message, DeckStep):
                continue
            number, step, data = message.deck_no, message.step, message.data
            if step % 2 != self.config.side:
                yield f"sends step {step} of deck {number}, which is the other side's"
            if (number, step) not in self.sent:
                self.due_since[number] = peak
            if self.sent.setdefault((number, step), data) != data:
                yield f"repeats step {step} of deck {number} with other bytes"

    def _uncomputed(self, block: Block) -> Iterator[str]:
        """Find a step whose computation nobody hears of any more; it is named once."""
        for number, since in self.computing.items():
            since = block.peak if since is None else min(since, block.peak)
            self.computing[number] = since
            if block.peak - since == COMPUTES:
                yield f"waits {counted(COMPUTES, 'block')} for its own step of deck {number}"

    def _open(self, pool: DeckPool, before: PeerState, after: PeerState) -> Iterator[str]:
        """Find decks that are too many, counted wrongly, or kept when they are named.

        A number that is named before there is such a deck stays unused.
        """
        counts = {*pool.decks, *self.computing}
        if len(counts) > MOST_OPEN:
            yield f"has {counted(len(counts), 'deck')} open, at most {MOST_OPEN} (PD-17)"
        if pool.discarded != {*self.computing} - {*pool.decks}:
            yield f"counts {counted(len(pool.discarded), 'burnt deck')} that it still computes"
        highest = max(pool.decks, default=0)
        if highest > pool.highest:
            yield f"has deck {highest}, and takes {pool.highest} for the highest number"
        earlier = before.play.decks.decks if before.play is not None else {}
        named = _named(after) - _named(before)
        for number in sorted(named & {*pool.decks} & {*earlier}):
            yield f"keeps deck {number} for another proposal than the one that names it (PD-9)"

    def _untimely(
        self, block: Block, before: DeckPool, after: DeckPool, burnt: set[int]
    ) -> Iterator[str]:
        """Find decks that are given up too early or too late: each step has its own time.

        A lower height counts from there.
        """
        times = self.config.agreement.times
        patience = times.response + times.margin
        for number, one in before.decks.items():
            is_due = one.preparation is not None and one.computing is None
            since = min(self.due_since.get(number, block.peak), block.peak)
            self.due_since[number] = since
            waits = block.peak - since
            if is_due and waits > patience and number in after.decks:
                yield f"waits {counted(waits, 'block')} for a step of deck {number}"
            if number in burnt and not (is_due and waits > patience):
                yield f"gives deck {number} up after {counted(waits, 'block')}"


def _named(state: PeerState) -> set[int]:
    """The decks that open proposals name."""
    groups = state.play.state.groups if state.play is not None else ()
    return {number for group in groups for number in group.decks()}


def _named_in(message: Message | None, effects: Sequence[Effect]) -> set[int]:
    """The decks that the proposals of an event name, whatever becomes of those."""
    batches = [sent for sent in (message, *_sent(effects)) if isinstance(sent, Batch)]
    actions = [action for batch in batches for action in batch.actions]
    proposals = [action for action in actions if isinstance(action, Propose)]
    offers = [offer for proposal in proposals for offer in proposal.offers]
    return {offer.deck.number for offer in offers if offer.deck is not None}


def _misstated(state: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find last numbers without a deck that the other side may have yet, or with another one.

    A batch of ours that may be lost names decks which the other side then has still.
    """
    play = state.play
    last = decode(state.last_sent) if state.last_sent else None
    if play is None:
        return
    actions = last.actions if isinstance(last, Batch) and not play.potato else ()
    offers = [offer for action in actions if isinstance(action, Propose) for offer in action.offers]
    due = {*play.decks.decks, *(offer.deck.number for offer in offers if offer.deck is not None)}
    for message in _sent(effects):
        if isinstance(message, Resume) and {*message.decks} != due:
            yield f"states the decks {sorted(message.decks)} and not {sorted(due)} as its own"


def _wrongly_resumed(
    before: DeckPool,
    after: DeckPool,
    message: Resume,
    effects: Sequence[Effect],
    named: set[int],
) -> Iterator[str]:
    """Find decks that a new connection should have ended, or should not, and steps it lacks.

    A proposal that waited for the connection has `named` decks.
    """
    steps = [sent for sent in _sent(effects) if isinstance(sent, DeckStep)]
    repeated = {step.deck_no for step in steps}
    for step in steps:
        last = before.decks[step.deck_no].answered if step.deck_no in before.decks else ()
        if last and step.step != last[-1].step + 1:
            yield f"repeats step {step.step} of deck {step.deck_no}, which is not its last one"
    for number, one in before.decks.items():
        is_lacking = number not in message.decks and number <= message.highest_deck
        if is_lacking and number in after.decks:
            yield f"keeps deck {number}, which the other side does not have"
        if not is_lacking and number not in {*after.decks, *named}:
            yield f"drops deck {number}, which the other side has"
        waits = one.preparation is not None and one.computing is None and bool(one.answered)
        if not is_lacking and waits and number not in repeated:
            yield f"does not repeat its step of deck {number}"


def _stopped(
    event: Event, before: DeckPool, after: DeckPool, effects: Sequence[Effect]
) -> Iterator[str]:
    """Find steps that nobody computes, or that are not sent once they are computed."""
    begun = {effect.work.terms.number for effect in effects if isinstance(effect, ComputeDeck)}
    for number, one in after.decks.items():
        earlier = before.decks.get(number)
        is_new = earlier is None or earlier.computing != one.computing
        if one.computing is not None and is_new and number not in begun:
            yield f"has step {one.computing[0]} of deck {number} computed by nobody"
    if not isinstance(event, DeckComputed) or not event.result.answer:
        return
    number, waiting = event.result.number, before.decks.get(event.result.number)
    computing = waiting.computing if waiting is not None else None
    is_due = computing is not None and computing[0] == event.result.step
    sent = {message.deck_no for message in _sent(effects) if _is_of_deck(message)}
    if is_due and number not in sent:
        yield f"does not send its computed step of deck {number}"


def _is_of_deck(message: Message) -> TypeGuard[DeckStep | DeckAbort]:
    return isinstance(message, DeckStep | DeckAbort)


def _passed_over(
    message: Message | None, before: DeckPool, after: DeckPool, burnt: set[int]
) -> Iterator[str]:
    """Find a step that comes when it is due, and that nothing follows from."""
    if not isinstance(message, DeckStep):
        return
    number, waiting = message.deck_no, before.decks.get(message.deck_no)
    if waiting is None or waiting.preparation is None or waiting.computing is not None:
        return
    now = after.decks.get(number)
    goes_on = number in burnt or (now is not None and now.computing is not None)
    if message.step == waiting.preparation.awaited and not goes_on:
        yield f"passes over step {message.step} of deck {number}"


def _kept_secrets(state: PeerState, when: str) -> Iterator[str]:
    """Find decks whose secrets should be erased by now (PD-16)."""
    play, endpoint = state.play, state.endpoint
    if play is None or endpoint is None:
        return
    is_over = state.phase in PLAY_IS_OVER
    open_numbers = set() if is_over else {*play.decks.decks}
    groups = () if is_over else play.state.groups
    named = {number for group in groups for number in group.decks()}
    games = (*play.state.games, *play.newest.state.games)
    live = {game.terms.deck.deck_id for game in games if game.terms.deck is not None}
    for number, deck in sorted(endpoint.decks.items()):
        if number not in open_numbers and number not in named and deck.deck not in live:
            yield f"keeps the secrets of deck {number} {when} (PD-16)"


def _erased_early(before: PeerState, after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find secrets that are erased though one of the newest states still has their game (PD-16).

    The newest state that a side has sent may be lost, and the one before it published.
    """
    play, decks = after.play, before.endpoint.decks if before.endpoint is not None else {}
    games = (*play.state.games, *play.newest.state.games) if play is not None else ()
    live = {game.terms.deck.deck_id for game in games if game.terms.deck is not None}
    for effect in effects:
        deck = decks.get(effect.number) if isinstance(effect, Erase) else None
        if deck is not None and deck.deck in live:
            yield f"erases the secrets of deck {deck.terms.number}, whose game is not final (PD-16)"


def _told(effects: Sequence[Effect]) -> Iterator[Tell]:
    return (effect for effect in effects if isinstance(effect, Tell))


def _sent(effects: Sequence[Effect]) -> Iterator[Message]:
    for effect in effects:
        if isinstance(effect, Send):
            yield decode(effect.message)
