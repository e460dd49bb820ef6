"""Documents of `cost`."""

from __future__ import annotations

from channelsim.channel.documents.results import Results
from channelsim.channel.findings.finding import FAILED_CHECK, Figure, Finding
from channelsim.channel.lab.costs.snapshot import Changes, Snapshot


class CostDocument(Results, frozen=True, kw_only=True, tag="channelsim document cost 1"):
    """Measured costs; a `block` holds so much.

    `refused` are whole spends that the node refused, with its reason, and `left_out` those of more
    mojos than it can give. `check` says how the costs differ from stored ones.
    """

    command = "cost"

    costs: Snapshot
    block: Figure
    refused: dict[str, str]
    left_out: tuple[str, ...] = ()
    check: Changes | None = None

    def every_finding(self) -> tuple[Finding, ...]:
        """The spends that the node refused, the costs that rose, and those that are gone."""
        texts = [f"refused by the node: {name}: {why}" for name, why in self.refused.items()]
        if self.check is not None:
            texts += [f"higher than stored: {change}" for change in self.check.risen]
            texts += [f"no longer measured: {name}" for name in self.check.gone]
        return tuple(map(_dear, texts))


def _dear(text: str) -> Finding:
    return Finding(rule="cost", place="", severity=FAILED_CHECK, text=text)
