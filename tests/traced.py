"""Functions of ours that a call reaches, and how often a reader of it comes back to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

import channelsim

OURS = Path(channelsim.__file__).parent


def is_function(code: CodeType) -> bool:
    """True for what a `def` makes; not for modules, classes, comprehensions and lambdas."""
    return bool(code.co_flags & CO_OPTIMIZED) and not code.co_name.startswith("<")


class Trace:
    """What ran of our packages, in blocks in which it is `watching`; other code is passed over.

    `returns` counts how often execution came to a file that it had left before, by a call or by the
    end of one; `called_back` counts only calls, each compared with the call before it. With a
    function's code `within`, only its calls and what they call counts.
    """

    def __init__(self, within: CodeType | None = None) -> None:
        self._within = within
        self._depth = 0
        self.returns = self.called_back = 0
        self._codes: set[CodeType] = set()
        self._ours: dict[str, bool] = {}
        self._at, self._left = "", set[str]()
        self._called, self._left_by_call = "", set[str]()

    @contextmanager
    def watching(self) -> Iterator[Trace]:
        """Watch this thread in this block; a trace goes on in the next one."""
        sys.setprofile(self._watch)
        try:
            yield self
        finally:
            sys.setprofile(None)

    def functions(self) -> list[tuple[str, str]]:
        """File and name of each function that was called, in order."""
        return sorted((c.co_filename, c.co_qualname) for c in self._codes if is_function(c))

    def _watch(self, frame: FrameType, event: str, argument: object) -> None:
        if self._within is not None:
            is_one = frame.f_code is self._within
            self._depth += is_one and event == "call"
            if not self._depth:
                return
            self._depth -= is_one and event == "return"
        if event == "call":
            code = frame.f_code
            if self._is_ours(code.co_filename):
                self._codes.add(code)
                if code.co_filename != self._called:
                    self._left_by_call.add(self._called)
                    self._called = code.co_filename
                    self.called_back += self._called in self._left_by_call
                self._enter(code.co_filename)
        elif event == "return" and frame.f_back is not None:
            self._enter(frame.f_back.f_code.co_filename)

    def _enter(self, file: str) -> None:
        if file != self._at and self._is_ours(file):
            self._left.add(self._at)
            self._at = file
            self.returns += file in self._left

    def _is_ours(self, file: str) -> bool:
        if file not in self._ours:
            self._ours[file] = Path(file).is_relative_to(OURS)
        return self._ours[file]


def traced(call: Callable[[], object]) -> Trace:
    """The trace of one call."""
    with Trace().watching() as trace:
        call()
    return trace
