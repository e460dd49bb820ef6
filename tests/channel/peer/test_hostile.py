"""Every hostile message, in the opening, during play and at the shutdown."""

from __future__ import annotations

from tests.channel.peer import (
    hostile_batches,
    hostile_funding,
    hostile_introductions,
    hostile_shutdowns,
    hostile_steps,
)
from tests.channel.peer.hostile import Case, refuse


@hostile_introductions.CASES.each()
def test_an_introduction_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)


@hostile_funding.CASES.each()
def test_a_funding_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)


@hostile_steps.CASES.each()
def test_another_step_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)


@hostile_batches.CASES.each()
def test_a_batch_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)


@hostile_shutdowns.CASES.each()
def test_a_shutdown_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)
