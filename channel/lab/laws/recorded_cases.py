"""Law: the programs decide every recorded case as the file of honest play says."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from channelsim.channel.lab.cases.trial import (
    DISAGREEMENT,
    GRIEFING,
    THEFT,
    UNSLASHABLE,
    LabFinding,
    Trial,
)
from channelsim.channel.lab.laws import Needs
from channelsim.games.vectors import check_program, resolve_case

_SEVERITY = {
    ("valid", "slash"): (THEFT, "an honest move is slashed: its mover loses everything"),
    ("valid", "raise"): (GRIEFING, "an honest move makes the program raise"),
    ("slash", "valid"): (UNSLASHABLE, "a cheat that the file has is legal to the program"),
    ("slash", "raise"): (THEFT, "a cheat that the file has makes the program raise"),
}


class RecordedCases:
    """Runs every case of the file, once for each tally."""

    name = "recorded cases"
    every = 1
    needs = Needs.RECORDS

    def check(self, trial: Trial) -> Iterator[LabFinding]:
        """Run all cases at the first trial of a tally."""
        target = trial.target
        if trial.tally.tried[self.name]:
            return
        for case in target.honest:
            trial.tally.tried[self.name] += 1
            for wrong in check_program(case, target.name, target.programs):
                got = wrong.rpartition("got ")[2]
                severity, text = _SEVERITY.get(
                    (case.expect, got), (DISAGREEMENT, f"a recorded case: {wrong}")
                )
                asked = resolve_case(case, target.name, target.hashes)
                shown = msgspec.to_builtins(case)
                yield LabFinding(
                    *(self.name, case.validator, severity, text, f"recorded: {text}", shown),
                    *(asked.move, case.mover_share, asked.evidence, None),
                    case.amount - case.mover_share,
                )


LAW = RecordedCases()
