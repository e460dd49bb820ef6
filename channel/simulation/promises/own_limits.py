"""Check that the honest side keeps to its own limits: of states, bytes, and numbers of decks.

Near a limit of states or bytes it proposes and accepts nothing, and it sends no batch past it. It
lets no message use up many numbers of decks.
Source: spec/channel.md, "The potato".
Source: spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Received, Send
from channelsim.channel.peer.limits import LIVE_GAME, STATE
from channelsim.channel.protocol.messages import Accept, Batch, DeckStep, Propose, decode, encode
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.run import Run


def past_limits(run: Run, talk: Conversation) -> Iterator[str]:
    """Find the first batch past a limit, and the first games that it begins near one."""
    limits = run.parties[talk.side].peer.config.limits
    sizes: dict[int, int] = {}
    wrong: dict[str, str] = {}
    for turn in run.parties[talk.side].journal:
        if isinstance(turn.message, Batch) and turn.message.number <= turn.newest_state:
            sizes[turn.message.number] = _kept_bytes(talk, turn.message)
        for effect in turn.effects:
            match effect:
                case Send(blob) if isinstance(message := decode(blob), Batch):
                    sizes[message.number] = _kept_bytes(talk, message)
                    size = sum(size for number, size in sizes.items() if number <= message.number)
                    before = size - sizes.get(message.number, 0)
                    past = limits.past(message.number, size)
                    near = limits.near(message.number - 1, before)
                    begins = any(isinstance(action, Accept | Propose) for action in message.actions)
                    if past:
                        wrong.setdefault("past", f"it sends a state past its limit of {past}")
                    if near and begins:
                        wrong.setdefault("near", f"it begins games near its limit of {near}")
                case _:
                    pass
    yield from wrong.values()


def _kept_bytes(talk: Conversation, batch: Batch) -> int:
    """The least that a side counts for the state of a batch."""
    account = talk.accounts.get(batch.number)
    games = len(account.games) if account is not None else 0
    return 2 * len(encode(batch)) + STATE + LIVE_GAME * games


FARTHEST = 1000
"""The most that a new deck's number is above the highest used (PD-10)."""


def wasted_numbers(run: Run) -> Iterator[str]:
    """Find events that used up more numbers than the first step of a deck may."""
    highest, begun = 0, set[int]()
    for turn in run.party.journal:
        # A step that comes before play is held back, and begins its deck with a later block.
        step = turn.message
        if isinstance(step, DeckStep) and step.step == 1:
            begun.add(step.deck_no)
        before, highest = highest, max(highest, turn.highest_deck)
        if highest == before or not isinstance(turn.event, Received | Block):
            # Our own decks have the next number, and a simulation's dealer gives one. A peer
            # that was killed before it could report an event shows its number at a restart.
            continue
        if highest not in begun and highest > before + 1:
            yield f"PD-9: no deck is begun, and numbers {before + 1} to {highest} are used up"
        if highest > before + FARTHEST:
            yield f"PD-10: deck {highest} is begun after deck {before}"
