"""Objects of the CLVM interpreter belong to one thread: none is left for the garbage collector."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import pytest

from channelsim.channel.lab.crosscheck.chunks import run_chunk
from channelsim.channel.lab.targets.loading import load


def test_no_interpreter_object_is_left_to_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: dropped.append(one.exc_value))
    target = load("calpoker")
    gc.collect()
    gc.disable()
    try:
        work = threading.Thread(target=run_chunk, args=(target, "seed", 1, 256))
        work.start()
        work.join()
        gc.collect()
    finally:
        gc.enable()
    assert not dropped
