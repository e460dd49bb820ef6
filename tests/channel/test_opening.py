"""The handshake: what an honest one does, and what every dishonest one comes to."""

from __future__ import annotations

from tests.channel.hostile import Case, refuse
from tests.channel.hostile_opening import CASES


@CASES.each()
def test_it_is_refused(case: Case) -> None:
    refuse(*case.build(), case.rule)
