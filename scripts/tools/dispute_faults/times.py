"""Faults of a peer over time: after a restart, in its waits and limits, and in wishes to close."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.kinds import OLD_COPY
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.interface import Act, Close, Connected
from channelsim.channel.peer.machine import Phase
from channelsim.channel.simulation.crashes import short_decks
from scripts.tools.attack_faults.planting import always, deaf_to, engine
from scripts.tools.dispute_faults.behaviours import (
    cancels_first,
    publishes_its_copy,
    starts_times_again,
    waits_twice,
)
from scripts.tools.dispute_faults.dispute_fault import behaviour, in_sessions


def copied(number: int) -> tuple[Action, ...]:
    """Go on from an old copy, in each run a little later."""
    return (Action(OLD_COPY, number % 2, 20 + number, 8 + number),)


def kept_open(number: int) -> tuple[Action, ...]:
    """Go on from an old copy beside a side that never closes."""
    return (*copied(number), Action("withhold", 1 - number % 2, 0))


TIME_FAULTS = (
    in_sessions(
        "goes on from an old copy",
        "does not stop when it is shown a state that it forgot",
        engine(
            "peer.phases.resuming:outdated",
            lambda outdated: lambda state, signed: (replace(state, resuming=False), []),
        ),
        "signatures",
        copied,
    ),
    in_sessions(
        "is silent as an old copy",
        "does not answer a new connection once it knows that it has forgotten states",
        deaf_to(lambda peer, event: isinstance(event, Connected) and peer.phase is Phase.OUTDATED),
        "CH-RESUME-3",
        lambda number: (*kept_open(number), Action("stop", number % 2, 40 + number)),
    ),
    in_sessions(
        "keeps ready decks",
        "gives up no ready deck at a restart",
        engine("store.durable_peer:given_up_by_restart", always(None)),
        "PD-12",
        lambda number: (Action("crash", number % 2, 32 + number, 1),),
        games=(short_decks()[0],),
    ),
    in_sessions(
        "publishes its old copy",
        "publishes what it has once it knows that it has forgotten states",
        publishes_its_copy,
        "CH-RESUME-3",
        kept_open,
    ),
    behaviour(
        "stays with an old copy",
        "does not close when it is shown that the other side has forgotten states",
        engine(
            "peer.phases.resuming:leave",
            lambda leave: lambda config, state, reason: (replace(state, resuming=False), []),
        ),
        ("CH-RESUME-3", "plays-old-copy"),
    ),
    behaviour(
        "gives up early",
        "waits for 2 blocks only",
        engine(
            "peer.phases.blocks:wait",
            lambda wait: lambda *args: wait(*args[:-1], Times(1, 1, 1)),
        ),
        ("CH-TIME-1", "late-mover-2", "staller", "breaks-ch-batch-6", "dead"),
    ),
    behaviour(
        "waits for ever",
        "never stops waiting",
        engine("peer.phases.blocks:wait", lambda wait: lambda *args: (wait(*args)[0], None)),
        ("liveness", "dead", "silent"),
    ),
    behaviour(
        "knows no limit",
        "goes on past its own limits",
        engine("peer.limits:counted", always("")),
        ("limits", "bouncer", "insatiable", "hoarder"),
        most_states=60,
    ),
    behaviour(
        "begins games near a limit",
        "proposes and accepts games as long as there is a state left",
        engine("peer.limits:Limits.near", always("")),
        ("limits", "insatiable", "asks-and-proposes"),
        most_states=30,
    ),
    behaviour(
        "ignores a wish to close",
        "does not close when its player wants to",
        deaf_to(lambda peer, event: isinstance(event, Close)),
        ("wishes", "insatiable", "bouncer"),
    ),
    behaviour(
        "loses acts",
        "does not take its player's decisions",
        deaf_to(lambda peer, event: isinstance(event, Act) and peer.state.dispute is None),
        ("wishes", "", "bouncer"),
    ),
    behaviour(
        "cancels first",
        "answers proposals and requests before it shuts down",
        engine("peer.phases.playing:next_step", cancels_first),
        ("wishes", "asks-and-proposes", "bouncer", "unfit-proposer"),
    ),
    behaviour(
        "asks while it closes",
        "asks for the potato again, though the other side owes a move",
        engine("peer.phases.playing:shuts_down", lambda shuts_down: lambda play: play.closing),
        ("wishes", "dawdler", "slow-bouncer"),
    ),
    behaviour(
        "starts times again",
        "waits anew for all answers with each new connection",
        starts_times_again,
        ("wishes", "late-numbers"),
    ),
    behaviour(
        "waits twice",
        "waits for the other side's last numbers, and then as long for an answer",
        engine("peer.phases.blocks:in_play", waits_twice),
        ("wishes", "late-answers"),
    ),
)
"""The faults over time."""
