"""Documents as commands write them, for tests of what reads them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import msgspec

from channelsim.channel.attack.crashed_run import CrashedRun
from channelsim.channel.documents.attack import AttackDocument
from channelsim.channel.documents.conform import CheckResult, ConformDocument
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.documents.coverage import (
    CoverageDocument,
    CoveredProgram,
    UnreachedCode,
)
from channelsim.channel.documents.crashes import CrashesDocument
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.documents.mutants import MutantsDocument, ProgramMutants
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.documents.results import LostWork, Results
from channelsim.channel.findings.finding import FAILED_CHECK, Loss
from channelsim.channel.lab.costs.bundles import BundleCost
from channelsim.channel.lab.costs.costs import Figures
from channelsim.channel.lab.costs.snapshot import Snapshot
from channelsim.channel.lab.mutants.report import Count, Survivor
from channelsim.channel.prove.result import ProofResult, Undecidable
from channelsim.channel.simulation.kills import LOST, Kill, Stage
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import Cell
from channelsim.clsp.analysis.tracer import CoverageCounts
from tests.channel.written_findings import finding

FIGURES = Figures(1, 11_000_000, 11_000_000, 11_000_000, 11_000_000)


def crosscheck(**fields: Any) -> CrosscheckDocument:
    usual: dict[str, Any] = {
        **dict.fromkeys(("cases", "disagreements", "cases_per_second", "shards"), 1),
        **{name: {} for name in ("outcomes", "tried", "unchecked", "most_cost", "coverage")},
        "target": "e",
        "seed": "s",
        "digest": "ab12",
        "rules": None,
        "seconds": 1.0,
        "findings": (),
    }
    return CrosscheckDocument(**(usual | fields))


def fuzz(**fields: Any) -> FuzzDocument:
    usual: dict[str, Any] = {
        **dict.fromkeys(("jobs", "shards", "runs", "runs_per_second"), 1),
        **{name: {} for name in ("coverage", "tried", "unchecked")},
        "target": "e",
        "seed": "s",
        "digest": None,
        "rules": None,
        "seconds": 1.0,
        "stopped": True,
        "findings": (),
        "mended": (),
    }
    return FuzzDocument(**(usual | fields))


def mutants(*survivors: Survivor) -> MutantsDocument:
    count = Count(4, 4 - len(survivors), 0, len(survivors), 1)
    return MutantsDocument(
        target="e",
        seed="s",
        digest="ab12",
        seconds=1.0,
        total=count,
        validators={"e": ProgramMutants(count, {})},
        kinds={},
        survivors=survivors,
        chunks=1,
    )


def survivor(reason: str | None = None) -> Survivor:
    return Survivor("e", "main", 3, "constant", "1", "2", "(+ 1 2)", 9, 1.0, reason)


def conform(*results: CheckResult) -> ConformDocument:
    failed = sum(bool(result.failures) for result in results)
    return ConformDocument(target="e", seed="s", digest=None, failed=failed, checks=results)


def disputes(**fields: Any) -> DisputesDocument:
    usual: dict[str, Any] = {
        **dict.fromkeys(("runs", "idle", "blocks", "spends", "paid", "reorgs", "shards"), 1),
        "target": None,
        "seed": "s",
        "digest": "ab12",
        "matrix": {},
        "findings": (),
    }
    return DisputesDocument(**(usual | fields))


def crashes(*failed: CrashedRun, **fields: Any) -> CrashesDocument:
    findings = tuple(found for run in failed for found in run.findings)
    usual: dict[str, Any] = {
        **dict.fromkeys(("kills", "sessions"), 3),
        **dict.fromkeys(("node_kills", "contradictions"), 0),
        "broken_promises": len(findings),
        "target": None,
        "seed": "s",
        "digest": None,
        "stages": {"batch": 2, "deck_step": 1},
        "failed": failed,
        "findings": findings,
    }
    written = msgspec.json.encode(CrashesDocument(**(usual | fields)))
    return msgspec.json.decode(written, type=CrashesDocument)


def crashed_run() -> CrashedRun:
    loss = Loss("Receiver", "Initiator", 2500)
    return CrashedRun(
        asdict(Scenario(("calpoker",), "s", "silent", step=3)),
        ((Kill(4, LOST, Stage.BATCH),), ()),
        (),
        (BrokenPromise("safety", "it lost", loss),),
    )


def attack(**fields: Any) -> AttackDocument:
    numbers = ("sessions", "attacked", "funded", "restarts", "blocks", "broken_promises")
    usual: dict[str, Any] = {
        **dict.fromkeys((*numbers, "situations", "scripts"), 1),
        "stopped": False,
        "faults": ("drop",),
        "phases": {"play": 1},
        "mended": (),
        "target": None,
        "seed": "s",
        "digest": "ab12",
        "actions": {"drop": 2},
        "goals": {"closed by both": 1},
        "deviated": {"silent": 1},
        "answered": {"CH-MOVE-4": 1},
        "findings": (),
    }
    return AttackDocument(**(usual | fields))


def explored(**fields: Any) -> ExploreDocument:
    numbers = ("searches", "whole", "states", "steps", "merged", "ends", "frontier", "longest")
    usual: dict[str, Any] = {
        **dict.fromkeys((*numbers, "broken_promises", "not_confirmed"), 1),
        "target": None,
        "seed": "s",
        "digest": "ab12",
        "signatures": "fast mode",
        "choices": {"a block": 2},
        "bounds": {"blocks replaced": 1},
        "symmetries": ("heights are relative to the tip",),
        "findings": (),
    }
    return ExploreDocument(**(usual | fields))


def cost(**fields: Any) -> CostDocument:
    costs = Snapshot("e", 1, "s", {"e": {"slash": FIGURES}}, {"e move": BundleCost(1, 2, 3, 6)})
    usual: dict[str, Any] = {"target": "e", "costs": costs, "block": 11_000_000_000, "refused": {}}
    return CostDocument(**(usual | fields))


def coverage() -> CoverageDocument:
    counts = CoverageCounts(9, 8, 4, 2)
    code = UnreachedCode("main", "(x)", "e.clsp:3", None)
    program = CoveredProgram(3, counts, {"main": counts}, (code,), ("a: expected slash",))
    return CoverageDocument(target="e", programs={"e": program})


def proof(**fields: Any) -> ProofResult:
    usual: dict[str, Any] = {
        **dict.fromkeys(("confirmed", "unconfirmed", "bounded", "samples"), 1),
        "validator": "end",
        "claim": "equal",
        "verdict": "equal",
        "sides": {"program of e": "ab12", "program of f": "cd34"},
        "longest": 0,
        "pairs": 4,
        "atom": 33,
        "bounds": ("move: every value of 0 to 4 bytes",),
        "assumes": (),
        "lemmas": (),
        "cost": 30_000,
        "sizes": {0: 1, 1: 1},
        "undecided": (),
    }
    return ProofResult(**(usual | fields))


def prove(*proofs: ProofResult, **fields: Any) -> ProveDocument:
    usual: dict[str, Any] = {
        "target": "e",
        "against": "f",
        "seed": None,
        "limit": 60.0,
        "models": ("the operators of CLVM",),
        "versions": {"channelsim": "1", "z3": "2"},
        "proofs": proofs or (proof(),),
        "parts": 2,
        "seconds": 1.0,
        "findings": (),
        "digest": "ab12",
    }
    return ProveDocument(**(usual | fields))


def text(document: Results, **fields: Any) -> str:
    """A document's file, with fields of any shape."""
    return json.dumps(msgspec.to_builtins(document) | fields)


EVERY: dict[str, Results] = {
    "crosscheck": crosscheck(findings=(finding(), finding("a delay", "griefing"))),
    "fuzz": fuzz(findings=(finding(times=3),), lost=(LostWork(3, 1500),)),
    "mutants": mutants(survivor(), survivor("it is the same")),
    "conform": conform(
        CheckResult("rules", "9 cases", (finding(),)),
        CheckResult("cost", unchecked="no programs"),
        CheckResult("laws", "1 law", (finding("never tried", FAILED_CHECK),)),
    ),
    "disputes": disputes(
        matrix={"silent": {"the flop": Cell(2, 1)}}, findings=(finding("duty: late"),)
    ),
    "attack": attack(findings=(finding("it has left"),)),
    "explore": explored(findings=(finding("it waits"),)),
    "coverage": coverage(),
    "prove": prove(
        proof(verdict="different"),
        proof(verdict="undecided", undecided=(Undecidable("the time is over", "", 2),)),
        findings=(finding(),),
    ),
    "crashes": crashes(crashed_run()),
    "cost": cost(refused={"e move": "too dear"}),
}
"""A document of each command."""
