"""Sentence of a command's page on what the command did, with its counts."""

from __future__ import annotations

from collections import Counter

from channelsim.channel.documents.attack import AttackDocument
from channelsim.channel.documents.conform import ConformDocument
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.documents.coverage import CoverageDocument
from channelsim.channel.documents.crashes import CrashesDocument
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.documents.mutants import MutantsDocument
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.documents.results import Results
from channelsim.channel.lab.costs.costs import share_text
from channelsim.games.amounts import counted


def work_done(document: Results) -> str:
    """What was tried and how it ended, in a sentence; "" for a command that is not known here."""
    match document:
        case AttackDocument(sessions=sessions, attacked=attacked):
            faults = counted(sum(document.actions.values()), "fault")
            return (
                f"Two honest peers played {counted(sessions, 'session')}; around {attacked:,} of"
                f" them there were faults, {faults} in all; {_promises(document.broken_promises)}."
            )
        case ConformDocument(checks=checks):
            results = Counter(check.result.value for check in checks)
            counts = ", ".join(f"{number:,} {result}" for result, number in results.items())
            return f"Of {counted(len(checks), 'check')}: {counts}."
        case CostDocument(costs=costs):
            most = max(costs.bundles.items(), key=lambda named: named[1].total, default=None)
            dearest = "" if most is None else f"; the dearest bundle is {most[0]}, which takes"
            share = "" if most is None else f" {share_text(most[1].total)} of a block"
            return f"The cost of {counted(costs.cases, 'case')} was measured{dearest}{share}."
        case CoverageDocument(programs=programs):
            reached = sum(program.total.branches_reached for program in programs.values())
            branches = sum(program.total.branches for program in programs.values())
            cases = counted(sum(program.cases for program in programs.values()), "case")
            return f"{cases} reach {reached:,} of {counted(branches, 'branch')}."
        case CrashesDocument(kills=kills, node_kills=node_kills, sessions=sessions):
            nodes = f", {node_kills:,} of them of the node" if node_kills else ""
            return (
                f"In {counted(sessions, 'session')} a process was killed {counted(kills, 'time')}"
                f"{nodes}, and started again from its store; {_promises(document.broken_promises)}."
            )
        case CrosscheckDocument(cases=cases, disagreements=disagreements):
            differ = f"differ on {disagreements:,}" if disagreements else "agree on all"
            return f"Rules and programs judged {counted(cases, 'case')}, and {differ}."
        case DisputesDocument(runs=runs, idle=idle, matrix=matrix):
            nothing = f", of which {idle:,} had nothing to check" if idle else ""
            return (
                f"An honest peer met {counted(len(matrix), 'adversary')} in"
                f" {counted(runs, 'dispute')}{nothing}."
            )
        case ExploreDocument(searches=searches, whole=whole, states=states, ends=ends):
            end = "all states within the bounds were visited"
            if whole < searches:
                end = f"{counted(searches - whole, 'search')} stopped before the end"
            return (
                f"{counted(searches, 'search')} of real peers visited {counted(states, 'state')},"
                f" {ends:,} of them at the end of a channel; {end};"
                f" {_promises(document.broken_promises)}."
            )
        case FuzzDocument(runs=runs, tried=tried):
            cases = counted(max(tried.values(), default=0), "case")
            return f"The programs ran {counted(runs, 'time')} on moves and evidence, {cases}."
        case MutantsDocument(total=total):
            kept = [(total.proved, "proved equal"), (total.argued, "argued"), (total.open, "open")]
            rest = "".join(f", {number:,} {what}" for number, what in kept if number)
            made = counted(total.made, "mutant")
            return f"{made} of the programs were tried: {total.killed:,} killed{rest}."
        case ProveDocument(proofs=proofs):
            verdicts = Counter(proof.verdict for proof in proofs)
            counts = ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items())
            return f"Of {counted(len(proofs), 'claim')}: {counts or 'none examined'}."
        case _:
            return ""


def _promises(broken: int) -> str:
    return f"{counted(broken, 'promise')} broken" if broken else "every promise was kept"
