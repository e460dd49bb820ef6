"""Faults of a peer whose channel is on chain: in its spends, and in what it knows and tells."""

from __future__ import annotations

from channelsim.channel.peer.chain_news import IllegalOnChain
from channelsim.channel.peer.onchain.lineage import Lineage
from scripts.tools.attack_faults.behaviours.behaviour import behaviour
from scripts.tools.attack_faults.behaviours.wrong_peers import (
    clock,
    false_news,
    gives_up,
    hides_news,
    late,
    loses,
    preempts_itself,
    publishes_oldest,
    pushes_once,
    without_evidence,
)
from scripts.tools.attack_faults.planting import always, engine

CHAIN_FAULTS = (
    behaviour("never publishes", "loses its unroll", loses("unroll."), "liveness"),
    behaviour("never preempts", "loses its preemption", loses("preempt."), "safety"),
    behaviour("preempts late", "preempts 15 blocks late", late(15, "preempt."), "safety"),
    behaviour(
        "never times out", "loses an unroll's timeout form", loses("unroll-timeout."), "liveness"
    ),
    behaviour("never claims", "loses its claims", loses("claim."), "safety"),
    behaviour("claims late", "claims 15 blocks late", late(15, "claim."), "liveness"),
    behaviour("never slashes", "loses its slashes", loses("slash."), "safety"),
    behaviour("slashes late", "slashes 15 blocks late", late(15, "slash."), "safety"),
    behaviour("never moves on chain", "loses its moves on chain", loses("move."), "safety"),
    behaviour("never redoes", "loses its redone moves", loses("redo."), "safety"),
    behaviour("moves late", "moves 12 blocks late on chain", late(12, "move.", "redo."), "safety"),
    behaviour("never shuts", "loses the completed shutdown", loses("shutdown."), "liveness"),
    behaviour("pushes once", "never pushes a spend again", pushes_once, "liveness"),
    behaviour("clock ahead", "counts two blocks too many on chain", clock(2), "safety"),
    behaviour("clock behind", "counts nine blocks too few on chain", clock(-9), "liveness"),
    behaviour(
        "publishes an old state",
        "publishes the first state that it has",
        publishes_oldest,
        "safety",
    ),
    behaviour("preempts itself", "preempts the state that it published", preempts_itself, "news"),
    behaviour(
        "reports false news",
        "undoes no news, and reports a settlement of one mojo more",
        false_news,
        "news",
    ),
    behaviour(
        "forgets its moves",
        "does not make again what it sent",
        engine("peer.onchain.signed_games:SignedGames.sent_from", always(None)),
        "safety",
    ),
    behaviour(
        "forgets settlements",
        "moves on in a game that it settled",
        engine("peer.onchain.signed_games:SignedGames.settled_by_us", always(False)),
        "safety",
    ),
    behaviour(
        "reveals early",
        "moves on chain before the answered move is deep",
        engine("peer.onchain.decisions:LAST_CHANCE", lambda blocks: 1000),
        "secrecy",
    ),
    behaviour(
        "hides illegal moves",
        "does not tell of illegal moves on chain",
        hides_news(IllegalOnChain),
        "news",
    ),
    behaviour(
        "forgets an undone shutdown",
        "does not publish a final shutdown again that a reorganisation took back",
        engine("peer.phases.blocks:_shut_down_again", lambda publish: lambda state: (state, [])),
        "safety",
    ),
    behaviour(
        "needs solutions",
        "waits for the solution of the channel coin's spend",
        engine(
            "peer.onchain.reading:_hidden_spend", lambda hidden: lambda view, seen: Lineage(seen)
        ),
        "duty",
    ),
    behaviour(
        "gives up at the deadline",
        "does not look at the chain any more once its opening has failed",
        gives_up,
        "safety",
    ),
    behaviour(
        "has no evidence on chain",
        "looks for no evidence on chain",
        engine("peer.onchain.lineage:judge_move", without_evidence),
        "safety",
    ),
)
"""The faults on chain."""
