"""A message around the longest sizes is judged by its size in every phase, and is no repeat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from channelsim.channel.peer.interface import BrokenOff, Close, GoOnChain, Ignored, Received, Tell
from channelsim.channel.peer.machine import TRANSITIONS, Peer, Phase
from channelsim.channel.protocol.messages import MAX_MESSAGE
from tests.channel.table import ANN, Table, sit


def in_phase(phase: Phase) -> Peer:
    """A peer in this phase."""
    table = sit().start()
    match phase:
        case Phase.OPENING:
            return table.ends[ANN].peer
        case Phase.FAILED:
            table.receive(ANN, b"no message")
            return table.ends[ANN].peer
        case Phase.FUNDING:
            return table.pump().ends[ANN].peer
        case _:
            return _after_opening(sit().open(), phase)


def _after_opening(table: Table, phase: Phase) -> Peer:
    holder = table.holder()
    peer = table.ends[holder].peer
    match phase:
        case Phase.ON_CHAIN:
            table.command(holder, GoOnChain())
        case Phase.OUTDATED:
            peer.state = replace(peer.state, phase=Phase.OUTDATED, shown=9)
        case Phase.CLOSING | Phase.COMPLETED | Phase.CLOSED:
            table.command(holder, Close())
            if phase is not Phase.CLOSING:
                table.pump()
            if phase is Phase.CLOSED:
                table.farm(8)
        case _:
            pass
    return peer


def sizes(peer: Peer) -> Iterator[int]:
    """The sizes around the longest message of this phase, and around the longest of all."""
    for longest in (peer.longest_message, MAX_MESSAGE):
        yield from (longest - 1, longest, longest + 1)
    yield 2 * MAX_MESSAGE


@pytest.mark.parametrize("phase", Phase)
def test_the_size_of_a_message_decides_and_it_is_no_repeat(phase: Phase) -> None:
    before = in_phase(phase)
    assert before.phase is phase
    for size in sizes(before):
        # As if no message had come before.
        state = replace(before.state, last_received=b"", last_batch=b"")
        peer = Peer(before.config, state)
        first, again = (peer.handle(Received(bytes(size))) for _ in range(2))
        news = [one.news for one in first if isinstance(one, Tell)]
        if Received in TRANSITIONS[phase]:
            assert news == [Ignored(f"a message after {phase.value}")], size
            assert (again, peer.state) == (first, state), size
            continue
        broken = next(one for one in news if isinstance(one, BrokenOff))
        rule = "CH-MSG-1" if size > before.longest_message else "CH-MSG-2"
        assert broken.blame.rule == rule, size
        assert peer.phase in (Phase.ON_CHAIN, Phase.FAILED)
