"""Work in a child process: its result, its errors, and its end where it loops in C."""

from __future__ import annotations

import os
import signal

import pytest

from channelsim.channel.errors import InvariantError
from channelsim.channel.prove import bounded
from channelsim.channel.prove.bounded import within
from channelsim.channel.prove.solver import LATE


def test_the_result_and_the_errors_of_a_child() -> None:
    assert within(5, lambda: b"done") == b"done"

    def fail() -> bytes:
        raise InvariantError("wrong")

    with pytest.raises(InvariantError, match="wrong"):
        within(5, fail)


def test_a_loop_in_c_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MORE", 0.0)
    assert within(1, lambda: b"%d" % sum(range(10**12))) == LATE


def test_a_child_that_is_killed_is_told() -> None:
    def die() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    assert within(5, die) == "a process was ended by signal 9"
