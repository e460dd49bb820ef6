"""`channelsim prove`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import (
    CampaignOptions,
)
from channelsim.channel.cli.options import (
    DAY,
    TargetName,
    file_option,
    flag,
    option_group,
    real,
    text,
    whole,
)

LONGEST, MOST_PAIRS, MOST_SHAPES = 1024, 100, 10_000
"""The longest move or atom in bytes, the most pairs, and the last shape, that can be named."""
MOST_INPUTS = 10**12
"""The most inputs of a check that can be named."""
WORK = 120.0
"""Seconds of work for each part, unless `--seconds` says otherwise."""


@option_group
class ProveOptions:
    """The options of `prove`."""

    target: TargetName
    validator: Annotated[str | None, text("Only claims about this validator (all).", "NAME")] = None
    against: Annotated[
        str | None,
        text("Prove that the programs of this target do the same instead.", "TARGET"),
    ] = None
    law: Annotated[
        list[str] | None,
        text("Prove this law instead, or all (repeatable).", "NAME"),
    ] = None
    move_bytes: Annotated[
        int | None, whole(0, LONGEST, "The longest move in bytes (as play allows).")
    ] = None
    evidence_pairs: Annotated[
        int | None, whole(0, MOST_PAIRS, "The most pairs inside each other in evidence (4).")
    ] = None
    shape: Annotated[
        int | None, whole(1, MOST_SHAPES, "Only states of the shape with this number (all).")
    ] = None
    checks: Annotated[
        bool,
        flag("Only compare lemmas, hand values and showdowns with the rules, by real runs."),
    ] = False
    check: Annotated[
        list[str] | None,
        text("Only those of them with this in their name (repeatable).", "TEXT"),
    ] = None
    inputs: Annotated[
        int | None,
        whole(
            1,
            MOST_INPUTS,
            "Compare each of these on so many inputs, and 1,000 showdowns at most"
            " (with --checks 10,000,000).",
        ),
    ] = None
    evidence_bytes: Annotated[
        int | None, whole(1, LONGEST, "The longest atom of evidence in bytes (33).")
    ] = None
    seconds: Annotated[
        float,
        real(0.1, DAY, "How long to work at most on each size of a move, in processor seconds."),
    ] = WORK
    proof: Annotated[
        Path | None, file_option("Write the proofs to this file, which `conform --proofs` checks.")
    ] = None
    campaign: CampaignOptions


def command(options: ProveOptions) -> int:
    """Prove claims about programs on every input, or show an input that breaks one.

    Without --against, a program is held against its rules; where there are none, or with --law,
    against laws that need none. Exit code 0: all is proved; 1: a claim is broken, or undecided.

    Example: channelsim prove my-validators.toml --against {game} --proof proofs.json
    """
    from channelsim.channel.cli.work.prove import prove

    return prove(options)
