"""Faults planted in peers and stores, each in turn, and the states until `explore` notices.

`python -m scripts.tools.explore_faults [--states N] [--game G] [--out FILE] [NAME ...]` prints a
line for each, with a shortest path. A fault is noticed if a path with it breaks a promise, and the
same path breaks none without it. Those of `attack_faults` in the engine, the chain and the store
are tried if they or their parts are named; some cannot show within the bounds of `explore`. With a
FILE, faults whose results it has are not tried again. Never change the search so that a fault of
this table is noticed.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.exploration import MOST_NUMBER, Root
from channelsim.channel.explore.search import search, walked
from channelsim.channel.explore.search_tree import BrokenPath
from channelsim.channel.explore.signed_play import moments
from channelsim.channel.peer.interface import Push, Watch
from channelsim.channel.peer.onchain import dispute, scan, scan_games
from channelsim.channel.peer.onchain.decisions import MakeMove, Wait
from channelsim.channel.peer.onchain.dispute import ChainView, Findings
from channelsim.channel.peer.phases import leaving
from channelsim.channel.protocol.half_signed import time_out
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.games.amounts import counted
from scripts.tools import ROOT
from scripts.tools.attack_faults.planting import Fault, Reach, function
from scripts.tools.attack_faults.table import faults


def _only_times_out(right: Any, view: Any, state: Any, seen: Any) -> Any:
    if view.peak < seen.born + view.endpoint.channel.unroll_timeout:
        return Findings()
    return Findings(due=(Push("unroll-timeout", time_out(view.endpoint.channel, state)),))


def _without(right: Any, *given: Any) -> Any:
    return replace(right(*given), due=())


def _no_second_push(right: Any, view: Any, *given: Any) -> Any:
    found = right(view, *given)
    return found if view.dispute.lineage is None else replace(found, due=())


def _no_redo(right: Any, *given: Any) -> Any:
    decision = right(*given)
    return Wait() if isinstance(decision, MakeMove) and decision.redo else decision


def _without_undone(right: Any, before: Any, now: Any) -> Any:
    return [fact for fact in now if fact not in before]


def _watches_less(right: Any, seen: Any, block: Any) -> Any:
    after, effects = right(seen, block)
    coins = [one for one in effects if isinstance(one, Watch)]
    return after, [one for one in effects if one not in coins[1:]]


FAULTS = (
    Fault(
        "stale-not-preempted",
        "chain",
        "a stale state of the other side is left to its timeout",
        function(scan, "_unspent_unroll", _only_times_out),
    ),
    Fault(
        "games-one-block-early",
        "chain",
        "what is due at a game coin is taken for due one block early",
        function(scan_games, "decide", lambda right, view, tip, born: right(view, tip, born - 1)),
    ),
    Fault(
        "games-one-block-late",
        "chain",
        "what is due at a game coin is done one block late",
        function(scan_games, "decide", lambda right, view, tip, born: right(view, tip, born + 1)),
    ),
    Fault(
        "redo-missing",
        "chain",
        "a move that was sent is not made again on chain",
        function(scan_games, "decide", _no_redo),
    ),
    Fault(
        "never-slashes",
        "chain",
        "an illegal move is not slashed",
        function(
            scan_games,
            "decide",
            lambda right, view, tip, born: right(view, replace(tip, slashable=None), born),
        ),
    ),
    Fault(
        "unroll-timeout-early",
        "chain",
        "the timeout of an unroll coin is tried one block early",
        function(
            scan,
            "_unspent_unroll",
            lambda right, view, *given: right(replace(view, peak=view.peak + 1), *given),
        ),
    ),
    Fault(
        "unroll-timeout-late",
        "chain",
        "the timeout of an unroll coin is used one block late",
        function(
            scan,
            "_unspent_unroll",
            lambda right, view, *given: right(replace(view, peak=view.peak - 1), *given),
        ),
    ),
    Fault(
        "publishes-once",
        "chain",
        "a state is published once, also if a reorganisation takes that back",
        function(scan, "_publish", _no_second_push),
    ),
    Fault(
        "never-publishes",
        "chain",
        "a side that leaves publishes nothing",
        function(scan, "_publish", _without),
    ),
    Fault(
        "final-at-once",
        "chain",
        "everything counts as deep in its own block",
        function(ChainView, "deep", lambda right, view, height: True),
    ),
    Fault(
        "final-too-late",
        "chain",
        "nothing ever counts as deep",
        function(ChainView, "deep", lambda right, view, height: False),
    ),
    Fault(
        "undoes-nothing",
        "chain",
        "facts that a reorganisation removed are not reported as undone",
        function(scan, "_changes", _without_undone),
    ),
    Fault(
        "preempts-itself",
        "chain",
        "the next older state is preempted by one of the same side",
        function(
            scan,
            "preempt",
            lambda right, channel, secret, signed, older: right(
                channel, secret, signed, replace(older, number=older.number + 1)
            ),
        ),
    ),
    Fault(
        "watches-one-coin",
        "chain",
        "of several new coins only the first is watched",
        function(leaving, "scan", _watches_less),
    ),
    Fault(
        "claims-nothing",
        "chain",
        "a share in a game that timed out is not claimed",
        function(
            scan_games,
            "claim_bundle",
            lambda right, channel, coin, game: right(
                channel, coin, replaced(game, coin=replace(game.coin, nonce=game.coin.nonce + 1))
            ),
        ),
    ),
    Fault(
        "forgets-decisions",
        "chain",
        "a decision at a game coin is forgotten with the next block",
        function(
            dispute.ChainView,
            "of",
            lambda right, seen, block: right(replace(seen, decided={}), block),
        ),
    ),
    Fault(
        "stores-no-blocks",
        "store",
        "the journal lacks the blocks",
        function(
            DurablePeer,
            "_keep",
            lambda right, durable, event, before, effects: (
                None if isinstance(event, Block) else right(durable, event, before, effects)
            ),
        ),
    ),
)
"""The table."""

DATA = ROOT / "tests" / "data" / "explore" / "faults.json"
"""The stored results."""

PARTS = ("engine", "chain", "store")
"""The parts of the faults of `attack_faults` that can be named, too."""


class Result(msgspec.Struct, frozen=True):
    """The result of a fault: `how` the `path` of a `search` breaks a promise with it, after so many
    `states` of all searches; empty if none does. `is_clean`: the path breaks none without it."""

    fault: str
    part: str
    what: str
    states: int = 0
    search: str = ""
    how: str = ""
    path: tuple[str, ...] = ()
    is_clean: bool = False

    @property
    def is_noticed(self) -> bool:
        """True if the fault, and nothing else, breaks a promise."""
        return bool(self.how) and self.is_clean


class Results(msgspec.Struct):
    """The results of some faults with one game and seed, and at most so many states a search."""

    game: str
    seed: str
    states: int
    results: list[Result] = []


def examine(fault: Fault, roots: list[Root], most_states: int) -> Result:
    """Search with a fault, so many states of each root, until something is broken."""
    result = Result(fault.name, fault.part, fault.what)
    for root in roots:
        with ExitStack() as stack:
            fault.plant(stack, Reach())
            try:
                visited = search(root.world(), most_states, stops=lambda seen: bool(seen.broken))
            except Exception as error:  # honest play itself may not go on
                how = f"exception: {type(error).__name__}: {error}"[:200]
                return replace(result, search=root.text, how=how, is_clean=True)
        result = replace(result, states=result.states + visited.states)
        if visited.broken:
            broken = visited.broken[0]
            clean = _is_clean(root, broken)
            where = {"search": root.text, "how": broken.how, "path": broken.path}
            return replace(result, **where, is_clean=clean)
    return result


def _is_clean(root: Root, broken: BrokenPath) -> bool:
    """True if a path breaks nothing, or is not there."""
    try:
        return not walked(root.world(), broken.path)
    except UsageError:
        return True


def roots_of(fault: Fault, games: tuple[str, ...], seed: str) -> list[Root]:
    """The searches for a fault: of two honest peers, or disputes from late moments on."""
    last = len(list(moments(games, seed, MOST_NUMBER))) - 1
    disputes = [Root(games, seed, last - back, thief) for back in (2, 1) for thief in (1, 0)]
    if fault.part == "chain":
        return disputes
    return [Root(games, seed, faults=1), *disputes[:2], Root(games, seed)]


def main() -> None:
    """Print a line for each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="faults, or parts of `attack_faults`")
    parser.add_argument("--states", type=int, default=3000)
    parser.add_argument("--game", default="spacepoker")
    parser.add_argument("--seed", default="planted")
    parser.add_argument("--out", type=Path, help="the file of results")
    options = parser.parse_args()
    wanted = {*options.names}
    own = {fault.name for fault in FAULTS}
    others = [one for one in faults() if one.part in PARTS and one.name not in own]
    chosen = [fault for fault in FAULTS if not wanted or fault.name in wanted]
    chosen += [fault for fault in others if {fault.name, fault.part} & wanted]
    known = Results(options.game, options.seed, options.states)
    if options.out is not None and options.out.exists():
        stored = msgspec.json.decode(options.out.read_bytes(), type=Results)
        if (stored.game, stored.seed, stored.states) != (known.game, known.seed, known.states):
            sys.exit(f"{options.out}: results of another game, seed or number of states")
        known = stored
    done = {result.fault: result for result in known.results}
    with fast_signatures():
        for fault in chosen:
            if fault.name not in done:
                roots = roots_of(fault, tuple(options.game.split("+")), options.seed)
                done[fault.name] = examine(fault, roots, options.states)
                known.results.append(done[fault.name])
                if options.out is not None:
                    _write(options.out, known)
            print(_line(done[fault.name]), flush=True)
    count = sum(done[fault.name].is_noticed for fault in chosen)
    print(f"{count} of {len(chosen)} noticed")


def _line(result: Result) -> str:
    text = f"not noticed in {counted(result.states, 'state')}"
    if result.how:
        path = "; ".join(result.path) or "honest play"
        text = f"{result.states}: {result.how[:100]} ({path})"
        text += "" if result.is_clean else " [ALSO WITHOUT THE FAULT]"
    return f"{result.fault} ({result.part}, {result.what}): {text}"


def _write(path: Path, known: Results) -> None:
    """Write the results, one in a line, so that changes can be read."""
    head = msgspec.json.encode({"game": known.game, "seed": known.seed, "states": known.states})
    lines = b",\n".join(map(msgspec.json.encode, known.results))
    path.write_bytes(head[:-1] + b',"results":[\n' + lines + b"\n]}\n")


if __name__ == "__main__":
    main()
