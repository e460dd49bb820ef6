"""Progress on stderr: a line at a terminal, with the time left where the work is known.

Elsewhere, such as in the log of CI, it is a new line every minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task, TaskID
from rich.table import Column
from rich.text import Text

from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.report.terminal import console, say
from channelsim.games.amounts import counted

SELDOM = 0.1
"""Seconds between two updates of the line, at least."""

MINUTE = 60.0
"""Seconds between two lines where there is no terminal."""

LATER = 1.0
"""Seconds of work before the time left is estimated."""


class Bar:
    """Reports progress: on the line of `progress`, or a line every minute if there is a `text`."""

    def __init__(
        self,
        progress: Progress | None = None,
        task: TaskID | None = None,
        unit: str = "step",
        clock: float | None = None,
        text: str = "",
    ) -> None:
        self._progress, self._task, self._unit = progress, task or TaskID(0), unit
        self._clock, self._text = clock, text
        self._start = monotonic()
        self._last = self._start if progress is None else 0.0

    @property
    def live(self) -> bool:
        """True if the progress is one live line at a terminal."""
        return self._progress is not None

    def __call__(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Report the work done, and the total where it is known; a `note` replaces the numbers."""
        now = monotonic()
        if now - self._last < (MINUTE if self._progress is None else SELDOM):
            return
        self._last = now
        if note is None:
            amount = counted(round(done if total is None else total), self._unit)
            note = amount if total is None else f"{done:,.0f} of {amount}"
            note += "" if self.live else f", {_clock(now - self._start)}"
        if self._progress is None:
            if self._text:
                print(f"{self._text}: {note}", file=sys.stderr, flush=True)
            return
        still = not self._progress.live.auto_refresh
        self._progress.update(self._task, completed=done, total=total, note=note, refresh=still)

    def note(self, text: str) -> None:
        """Report on work that is limited by time."""
        self(monotonic() - self._start, self._clock, text)

    def say(self, text: str) -> None:
        """Print lines on stderr, above the progress line, while the work goes on."""
        say(self._progress.console if self._progress else console(stderr=True), text)

    def phase(self, text: str) -> None:
        """Begin another phase of the work."""
        self._text = text if self._text else ""
        if self._progress is not None:
            self._last = 0.0
            self._progress.reset(self._task, total=None, description=text, note="")
            self._progress.refresh()


@contextmanager
def progress(
    text: str,
    unit: str = "step",
    *,
    shown: bool = True,
    clock: float | None = None,
    still: bool = False,
) -> Iterator[Bar]:
    """Show progress on stderr while the block runs, if `shown`.

    `clock`: the planned duration in seconds. A `still` line has no thread that refreshes it, which
    would disturb measurements.
    """
    if not (shown and sys.stderr.isatty()):
        yield Bar(unit=unit, text=text if shown else "")
        return
    err = console(stderr=True)
    with Progress(
        _Line(clock, err),
        console=err,
        transient=True,
        auto_refresh=not still,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as shown_progress:
        task = shown_progress.add_task(text, total=None, note="")
        yield Bar(shown_progress, task, unit, clock)


class StatusLine:
    """Shows how far a campaign is: a line at a terminal, otherwise a new one every minute."""

    def __init__(self, bar: Bar, unit: str) -> None:
        self._bar, self._unit, self.say = bar, unit, bar.say

    def __call__(self, status: CampaignStatus) -> None:
        """Show a status."""
        note = status_text(status, self._unit)
        if not self._bar.live:
            left = f", {_clock(status.left)} left" if status.left is not None else ""
            note += f", {_clock(status.seconds)}{left}"
        # Earlier runs do not count for the time left.
        self._bar(status.work - status.begun, status.total - status.begun, note)


@contextmanager
def campaign_progress(
    text: str, unit: str, *, quiet: bool = False, clock: float | None = None
) -> Iterator[StatusLine]:
    """The line of a campaign. `unit` is one of its work, in the singular; `clock` its planned
    duration in seconds."""
    with progress(text, unit, shown=not quiet, clock=clock) as bar:
        yield StatusLine(bar, unit)


def status_text(status: CampaignStatus, unit: str) -> str:
    """The figures of a campaign, the most important first.

    >>> status_text(CampaignStatus(2, 8, 50, 200, 0, 10.0, {"findings": 1, "paths": 7}), "case")
    '50 of 200 cases, 1 finding, 7 paths, 5 cases a second, 2 of 8 shards'
    """
    counts = [counted(n, name.removesuffix("s")) for name, n in status.counts.items()]
    return ", ".join(
        (
            f"{status.work:,} of {counted(status.total, unit)}",
            *counts,
            *([_rate(status.rate, unit)] if status.rate > 0 else []),
            f"{status.shards} of {counted(status.planned, 'shard')}",
        )
    )


def _rate(rate: float, unit: str) -> str:
    """Units a second, or in the shortest time in which there is one.

    >>> _rate(1234.5, "case"), _rate(0.5, "case"), _rate(0.002, "adversary")
    ('1,234 cases a second', '30 cases a minute', '7 adversaries an hour')
    """
    for seconds, time in ((1, "a second"), (60, "a minute")):
        if round(rate * seconds):
            return f"{counted(round(rate * seconds), unit)} {time}"
    return f"{counted(round(rate * 3600), unit)} an hour"


class _Line(ProgressColumn):
    """The progress line, with fewer parts where the terminal is too narrow for all."""

    def __init__(self, clock: float | None, console: Console) -> None:
        super().__init__(Column(no_wrap=True, overflow="crop"))
        self._clock, self._console = clock, console

    def render(self, task: Task) -> Text:
        """The text of the line."""
        elapsed = task.elapsed or 0.0
        left = 0.0
        if self._clock is not None:
            left = self._clock - elapsed
        elif task.total and task.completed and elapsed > LATER:
            left = elapsed * (task.total - task.completed) / task.completed
        times = f"{_clock(elapsed)}, {_clock(left)} left" if left > 0 else _clock(elapsed)
        return Text(fitting(self._console.width - 1, task.description, task.fields["note"], times))


def fitting(width: int, what: str, note: str, times: str) -> str:
    """The parts that fit into this many columns; the times matter most.

    >>> fitting(60, "cases", "3 of 10 cases", "0:05, 0:12 left")
    'cases: 3 of 10 cases, 0:05, 0:12 left (Ctrl-C stops it)'
    >>> fitting(40, "cases", "3 of 10 cases", "0:05, 0:12 left")
    'cases: 3 of 10 cases, 0:05, 0:12 left'
    >>> fitting(35, "cases", "3 of 10 cases", "0:05, 0:12 left")
    '3 of 10 cases, 0:05, 0:12 left'
    >>> fitting(35, "cases", "3 of 10 cases, 2 findings", "0:05, 0:12 left")
    '3 of 10 cases, 0:05, 0:12 left'
    >>> fitting(16, "cases", "3 of 10 cases", "0:05, 0:12 left")
    '0:05, 0:12 left'
    """
    parts = note.split(", ") if note else []
    cut = [", ".join((*parts[:count], times)) for count in range(len(parts), -1, -1)]
    whole = f"{what}: {cut[0]}"
    candidates = (f"{whole} (Ctrl-C stops it)", whole, *cut)
    return next((text for text in candidates if len(text) <= width), "")


def _clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds.

    >>> _clock(75.4), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
