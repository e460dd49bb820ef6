"""Faults of a peer over time: after a restart, in its waits and limits, and in wishes to close."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.interface import Act, Close, Connected
from channelsim.channel.peer.machine import Phase
from scripts.tools.attack_faults.behaviours.behaviour import behaviour
from scripts.tools.attack_faults.behaviours.wrong_peers import (
    cancels_first,
    publishes_its_copy,
    starts_times_again,
    waits_twice,
)
from scripts.tools.attack_faults.planting import Fault, always, deaf_to, engine

TIME_FAULTS = (
    behaviour(
        "goes on from an old copy",
        "does not stop when it is shown a state that it forgot",
        engine(
            "peer.phases.resuming:outdated",
            lambda outdated: lambda state, signed: (replace(state, resuming=False), []),
        ),
        "signatures",
    ),
    behaviour(
        "is silent as an old copy",
        "does not answer a new connection once it knows that it has forgotten states",
        deaf_to(lambda peer, event: isinstance(event, Connected) and peer.phase is Phase.OUTDATED),
        "CH-RESUME-3",
    ),
    Fault(
        "keeps-ready-decks",
        "decks",
        "a peer gives up no ready deck at a restart",
        engine("store.durable_peer:given_up_by_restart", always(None)),
        about="PD-12",
    ),
    behaviour(
        "publishes its old copy",
        "publishes what it has once it knows that it has forgotten states",
        publishes_its_copy,
        "CH-RESUME-3",
    ),
    behaviour(
        "stays with an old copy",
        "does not close when it is shown that the other side has forgotten states",
        engine(
            "peer.phases.resuming:leave",
            lambda leave: lambda config, state, reason: (replace(state, resuming=False), []),
        ),
        "CH-RESUME-3",
    ),
    behaviour(
        "gives up early",
        "waits for 2 blocks only",
        engine(
            "peer.phases.blocks:wait",
            lambda wait: lambda *args: wait(*args[:-1], Times(1, 1, 1)),
        ),
        "CH-TIME-1",
    ),
    behaviour(
        "waits for ever",
        "never stops waiting",
        engine("peer.phases.blocks:wait", lambda wait: lambda *args: (wait(*args)[0], None)),
        "liveness",
    ),
    behaviour(
        "knows no limit",
        "goes on past its own limits",
        engine("peer.limits:counted", always("")),
        "limits",
    ),
    behaviour(
        "begins games near a limit",
        "proposes and accepts games as long as there is a state left",
        engine("peer.limits:Limits.near", always("")),
        "limits",
    ),
    behaviour(
        "ignores a wish to close",
        "does not close when its player wants to",
        deaf_to(lambda peer, event: isinstance(event, Close)),
        "wishes",
    ),
    behaviour(
        "loses acts",
        "does not take its player's decisions",
        deaf_to(lambda peer, event: isinstance(event, Act) and peer.state.dispute is None),
        "wishes",
    ),
    behaviour(
        "cancels first",
        "answers proposals and requests before it shuts down",
        engine("peer.phases.playing:next_step", cancels_first),
        "wishes",
    ),
    behaviour(
        "asks while it closes",
        "asks for the potato again, though the other side owes a move",
        engine("peer.phases.playing:shuts_down", lambda shuts_down: lambda play: play.closing),
        "wishes",
    ),
    behaviour(
        "starts times again",
        "waits anew for all answers with each new connection",
        starts_times_again,
        "wishes",
    ),
    behaviour(
        "waits twice",
        "waits for the other side's last numbers, and then as long for an answer",
        engine("peer.phases.blocks:in_play", waits_twice),
        "wishes",
    ),
)
"""The faults over time."""
