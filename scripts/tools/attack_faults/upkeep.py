"""Faults in what a process costs and keeps, in what it prints, and in what its store shows."""

from __future__ import annotations

from typing import Any

from channelsim.channel.crypto import bls
from channelsim.channel.peer import machine
from channelsim.channel.peer.chain_news import ChannelClosed, ChannelSettled
from channelsim.channel.peer_text import channel_overview, peer_lines
from channelsim.channel.session import peer_runner
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.store import durable_peer
from scripts.tools.attack_faults.planting import Fault, changing, function


def _verified_again(right: Any, config: Any, state: Any, blob: bytes) -> Any:
    key = config.wallet.key
    for _ in state.play.history if state.play is not None else ():
        for message in (b"channel", b"unroll"):
            bls.verify(key.get_g1(), message, bls.sign(key, message))
    return right(config, state, blob)


def _remembered(right: Any, runner: Any, message: bytes) -> None:
    kept = runner.__dict__.setdefault("kept", [])
    kept += [message[at : at + 20] for at in range(0, len(message), 20)]
    right(runner, message)


def _several_looks(right: Any, chain: Any, watched: Any) -> Any:
    for _ in range(8):
        right(chain, watched)
    return right(chain, watched)


def _without_end(right: Any, news: Any, *given: Any) -> Any:
    return "" if isinstance(news, ChannelClosed | ChannelSettled) else right(news, *given)


UPKEEP = (
    Fault(
        "verifies-all-states-again",
        "engine",
        "with each message all older states are signed and verified again",
        function(machine, "_on_bytes", _verified_again),
    ),
    Fault(
        "keeps-all-messages",
        "runner",
        "the runner keeps all that it has received",
        function(PeerRunner, "received", _remembered),
    ),
    Fault(
        "looks-again-and-again",
        "runner",
        "each look at the chain asks for everything nine times",
        function(peer_runner, "observe", _several_looks),
    ),
    Fault(
        "prints-no-end",
        "commands",
        "nothing is printed of the end of a channel",
        function(peer_lines, "news_text", _without_end),
    ),
    Fault(
        "prints-a-mojo-less",
        "commands",
        "the last line has a mojo less than was paid",
        changing(channel_overview, "ours_at_the_end", lambda ours: ours - 1),
    ),
    Fault(
        "shows-no-overview",
        "store",
        "the overview of the channel stays what it was at first",
        function(durable_peer, "encode_overview", lambda right, play: b""),
    ),
)
