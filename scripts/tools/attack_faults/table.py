"""The table of all faults."""

from __future__ import annotations

from dataclasses import replace

from scripts.tools.attack_faults import (
    around_peers,
    chain,
    deck_proofs,
    decks_and_fees,
    declined_hands,
    duties,
    engine,
    fees_and_chain,
    from_engine_review,
    from_mutants,
    from_review,
    last_lines,
    linking,
    node_rpc,
    play_and_decks,
    reporting,
    reviewed_runs,
    running,
    shown,
    stored_and_watched,
    storing,
    upkeep,
    watch_command,
    watching,
)
from scripts.tools.attack_faults.argued import ARGUED
from scripts.tools.attack_faults.behaviours import chain as on_chain
from scripts.tools.attack_faults.behaviours import fees, play, times
from scripts.tools.attack_faults.deadlines import deadlines
from scripts.tools.attack_faults.generated import generated
from scripts.tools.attack_faults.planting import Fault


def faults() -> tuple[Fault, ...]:
    """All faults, in the order of the page, each name once."""
    table = (
        *engine.BY_HAND,
        *chain.BY_HAND,
        *on_chain.CHAIN_FAULTS,
        *play.PLAY_FAULTS,
        *times.TIME_FAULTS,
        *fees.FEE_FAULTS,
        *deadlines(),
        *decks_and_fees.FEES,
        *decks_and_fees.DECKS,
        *deck_proofs.DECK_PROOFS,
        *storing.STORE,
        *storing.WATCHER,
        *watching.WATCHING,
        *watch_command.WATCH_COMMAND,
        *node_rpc.NODE_RPC,
        *running.RUNNER,
        *declined_hands.DECLINED_HANDS,
        *linking.LINK,
        *running.COMMANDS,
        *last_lines.LAST_LINES,
        *upkeep.UPKEEP,
        *reporting.REPORTING,
        *duties.DUTIES,
        *from_mutants.FROM_MUTANTS,
        *from_review.FROM_REVIEW,
        *from_engine_review.FROM_ENGINE_REVIEW,
        *around_peers.AROUND_PEERS,
        *reviewed_runs.REVIEWED_RUNS,
        *stored_and_watched.STORED_AND_WATCHED,
        *shown.SHOWN,
        *play_and_decks.PLAY_AND_DECKS,
        *fees_and_chain.FEES_AND_CHAIN,
        *generated(),
    )
    by_name: dict[str, Fault] = {}
    for fault in table:
        why, test = ARGUED.get(fault.name, ("", ""))
        by_name.setdefault(fault.name, replace(fault, argued=why, test=test))
    return tuple(by_name.values())
