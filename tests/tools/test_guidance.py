"""Guided and drawn scripts are compared by what their sessions reach."""

from __future__ import annotations

import pytest

from channelsim.games.names import DEFAULT
from scripts.tools import guidance
from scripts.tools.guidance import drawn, guided, reached


def test_both_begin_with_the_same_script_and_count_what_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guidance, "EVERY", 1)
    lines: list[str] = []
    first = reached(drawn((DEFAULT,), "seed 2", 1), lines.append)
    assert first == reached(guided((DEFAULT,), "seed 2", 1), lines.append)
    assert first[0] > 5
    assert lines[0] == lines[1]
    assert lines[0].startswith("1 sessions: ")
    twice = [*drawn((DEFAULT,), "seed 2", 1)] * 2
    assert reached(iter(twice), lines.append) == first
