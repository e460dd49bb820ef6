"""Make the page of `coverage --html`: each program with the code that no case reached."""

from __future__ import annotations

from collections.abc import Collection

from channelsim.channel.findings.sentence import NO_LOSS
from channelsim.channel.lab.coverage.coverage import ProgramCoverage
from channelsim.channel.report.html.page import Glance, render
from channelsim.games.amounts import counted


def coverage_html(name: str, programs: Collection[ProgramCoverage]) -> str:
    """The HTML of the page of a target's programs."""
    totals = [(program.name, program.total) for program in programs]
    return render("coverage", name=name, programs=programs, totals=totals, glance=_glance(programs))


def _glance(programs: Collection[ProgramCoverage]) -> Glance:
    """How much is reached, and the cases that end otherwise than they should."""
    differing = sum(len(program.differs) for program in programs)
    totals = [program.total for program in programs]
    reached, branches = (
        sum(getattr(total, field) for total in totals) for field in ("branches_reached", "branches")
    )
    of = f"{reached:,} of {counted(branches, 'branch')} reached"
    if differing:
        verdict = f"{counted(differing, 'case')} not as expected; {of}"
        then = "see the cases below, and correct the program or the case"
    elif reached < branches:
        verdict, then = of, "add cases that reach the marked code, or note why none can"
    else:
        verdict, then = of, "nothing to do"
    return Glance(not differing, verdict, NO_LOSS, then)
