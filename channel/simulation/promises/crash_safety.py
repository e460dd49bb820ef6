"""Check that the honest side could be killed at any instant and lose nothing.

Whatever it signs or accepts is stored before anything that follows from it is sent. A move on
chain is stored before it is pushed, so that it is made again in the same bytes. No two of its
messages sign different things at one place of the protocol.
Source: spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import (
    BrokenOff,
    Effect,
    Ignored,
    OwnFault,
    Push,
    Send,
    Store,
)
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    DeckAbort,
    DeckStep,
    FirstHalves,
    Funding,
    Message,
    Propose,
    Request,
    Resume,
    Shutdown,
    decode,
)
from channelsim.channel.protocol.state_records import RestoredState, apply_record, decode_record
from channelsim.channel.simulation.model.conversation import Conversation
from channelsim.channel.simulation.promises.secrecy import move_of
from channelsim.channel.simulation.run import JournalEntry, Run
from channelsim.clsp.values import serialize

UNSTORED = (Request, Resume, Advisory, DeckStep, DeckAbort)
"""Messages that are sent without being stored."""


def unstored(run: Run, talk: Conversation) -> Iterator[str]:
    """Find messages and moves that were sent before they were stored."""
    stored: list[bytes] = []
    for turn in _with_conditions(run.parties[talk.side].journal, talk):
        for need in _taken(talk, turn):
            if not _stored_first(need, turn.effects):
                yield "it took a batch, or halves, and did not store them first"
        if not _keeps_evidence(turn):
            yield "it did not store the evidence of the illegal moves that it means to slash"
        for effect in turn.effects:
            match effect:
                case Store(_, data):
                    stored.append(data)
                case Send(blob) if not isinstance(message := decode(blob), UNSTORED):
                    needs = (blob, *_conditions(talk, message), *_proposed(message))
                    if not all(_kept(need, stored) for need in needs):
                        yield f"it sent a {type(message).__name__.lower()} before storing it"
                case Push("move" | "redo", bundle):
                    moves = (move_of(spend.solution) for spend in bundle.spends)
                    if not all(_kept(move, stored) for move in moves):
                        yield "it made a move on chain before storing it"
                case _:
                    pass


def _with_conditions(turns: list[JournalEntry], talk: Conversation) -> Iterator[JournalEntry]:
    """The same turns, each record of a state followed by the conditions restored from it.

    A record holds only what changed: without those before it, nothing can be restored.
    """
    agreed = talk.handshake.agreed
    state: RestoredState | None = None
    for turn in turns:
        effects: list[Effect] = []
        for effect in turn.effects:
            effects.append(effect)
            if agreed is None or not isinstance(effect, Store) or not _is_of_a_state(effect):
                continue
            try:
                state = apply_record(agreed.rewards, state, decode_record(effect.data))
            except InvariantError:
                continue
            effects.append(Store("conditions", state.conditions))
        yield replace(turn, effects=tuple(effects))


def _is_of_a_state(store: Store) -> bool:
    return store.name.startswith(("sent/", "received/"))


def _keeps_evidence(turn: JournalEntry) -> bool:
    """True if the record of a state with illegal moves says with what each is slashed."""
    breaks = [news for news in turn.news if isinstance(news, BrokenOff)]
    slashable = {game_id for news in breaks for game_id in news.slashable}
    records = [decode_record(store.data) for store in turn.stores if _is_of_a_state(store)]
    evidence = [{game_id for game_id, *_ in record.slashes} for record in records]
    return not slashable or slashable in evidence


def _proposed(message: Message) -> tuple[bytes, ...]:
    """The commitments of the offers in a message, which have to be stored."""
    if not isinstance(message, Batch):
        return ()
    proposals = (action for action in message.actions if isinstance(action, Propose))
    return tuple(offer.commitment for proposal in proposals for offer in proposal.offers)


def _conditions(talk: Conversation, message: Message) -> tuple[bytes, ...]:
    """The payout conditions of a batch's state, which have to be stored."""
    agreed = talk.handshake.agreed
    if agreed is None or not isinstance(message, Batch) or message.number not in talk.accounts:
        return ()
    return (serialize(agreed.conditions(talk.accounts[message.number])),)


def _taken(talk: Conversation, turn: JournalEntry) -> tuple[bytes, ...]:
    """The accepted batch or halves of this event, which have to be stored."""
    for news in turn.news:
        match news:
            case BrokenOff(slashable=()) | OwnFault() | Ignored():
                return ()
            case _:
                pass
    match message := turn.message:
        case (
            Batch(channel_half=channel_half, unroll_half=unroll_half)
            | FirstHalves(channel_half, unroll_half)
            | Funding(channel_half, unroll_half)
        ):
            needs = (channel_half, unroll_half, *_conditions(talk, message))
            return *needs, *_proposed(message)
        case _:
            return ()


def _stored_first(need: bytes, effects: tuple[Effect, ...]) -> bool:
    """True if a store among these has it, and nothing is sent or pushed before."""
    for effect in effects:
        if isinstance(effect, Store) and need in effect.data:
            return True
        if isinstance(effect, Send | Push):
            return False
    # Nothing was done at all about a message that is held until play begins: it is not taken.
    return not effects


def _kept(blob: bytes, stored: list[bytes]) -> bool:
    return any(blob in data for data in reversed(stored))


def contradictions(messages: Iterable[bytes]) -> Iterator[str]:
    """Find contradictions among the messages of one side, in the order in which it sent them."""
    said: dict[tuple[str, int], bytes] = {}
    closing = False
    for blob in messages:
        message = decode(blob)
        if isinstance(message, UNSTORED):
            continue
        place = _place(message)
        if said.setdefault(place, blob) != blob:
            yield f"two different messages: {place[0]} {place[1]}"
        elif closing and isinstance(message, Batch):
            yield f"state {message.number} after its half of the shutdown"
        closing = closing or isinstance(message, Shutdown)


def _place(message: Message) -> tuple[str, int]:
    number = message.number if isinstance(message, Batch) else 0
    return type(message).__name__.lower(), number
