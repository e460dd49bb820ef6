"""Every hostile message during play, at the shutdown, and in the bytes below."""

from __future__ import annotations

from tests.channel.peer.hostile import Case, refuse
from tests.channel.peer.hostile_batches import CASES


@CASES.each()
def test_it_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)
