"""Run a command again whenever one of its files is saved, a line for each round."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from channelsim import plugins
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target_inputs import target_files
from channelsim.channel.report.plain import printable
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system.file_changes import Snapshot, snapshot
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.games.errors import IllegalMove
from channelsim.watchdog import Overrun

PERIOD = 0.3
"""Seconds between two looks at the files."""

NAMED = 3
"""Changed files that a line names; the rest are counted."""

Check = Callable[[], None]
"""Called by a round now and then. Raises `FilesChanged`, which ends the round."""


class FilesChanged(Exception):
    """A file was saved: what this round examines is no longer there."""


@dataclass(frozen=True, slots=True)
class Round:
    """The result of one round: its exit code, and one line of text."""

    code: int
    text: str
    interrupted: bool = False


def watched_target(name: str) -> Callable[[], Iterable[Path]]:
    """The files of a target that the command line names. Raises `UsageError` for a game."""
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        raise UsageError(f"--watch: {printable(name)}: no target file (.toml) to watch")
    return lambda: target_files(path)


def watch(files: Callable[[], Iterable[Path]], run: Callable[[Check], Round]) -> int:
    """Run rounds, each after a change of the files, until Ctrl-C or SIGTERM.

    A round that a change or a signal ends has no line. Files that cannot be used for now, and code
    of the author's that fails or never ends, are a round with exit code 2. Returns the exit code of
    the last whole round.
    """
    watched = _Watched(files)
    code: int | None = None
    number = 1
    try:
        while True:
            try:
                done = run(watched.check)
            except UsageError as error:
                done = Round(2, str(error))
            except FilesChanged:
                watched.settle()
                continue
            except (plugins.WrongAnswer, IllegalMove) as error:
                done = Round(2, str(error))
            except (Exception, SystemExit, Overrun) as error:
                if not plugins.blamed(error):
                    raise
                done = Round(2, plugins.described(error))
            if done.interrupted:
                break
            code = done.code
            say(console(), f"round {number}{watched.changes}: {done.text}")
            sys.stdout.flush()
            number += 1
            if not watched.wait():
                break
    except KeyboardInterrupt:
        pass
    return exit_code() if code is None else code


class _Watched:
    """The files as they were at the beginning of a round, and what has changed before it."""

    def __init__(self, files: Callable[[], Iterable[Path]]) -> None:
        self._files = files
        self._seen: Snapshot = snapshot(files())
        self._changed: dict[str, None] = {}
        self._last = monotonic()

    @property
    def changes(self) -> str:
        """The files that were changed since the last line, for the next one."""
        names, self._changed = list(self._changed), {}
        if not names:
            return ""
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f" ({', '.join(names[:NAMED])}{more} changed)"

    def check(self) -> None:
        """Raise `FilesChanged` if a file has changed; looks once in a period."""
        if monotonic() - self._last >= PERIOD:
            self._last = monotonic()
            if self._look():
                raise FilesChanged

    def wait(self) -> bool:
        """Wait for a change; false if a signal came first."""
        with polled() as interrupted:
            while not interrupted():
                if self._look():
                    self.settle()
                    return True
                sleep(PERIOD)
        return False

    def settle(self) -> None:
        """Wait until no more files change: an editor may save several."""
        sleep(PERIOD)
        while self._look():
            sleep(PERIOD)

    def _look(self) -> bool:
        now = snapshot(self._files(), self._seen)
        changed = self._seen.changed(now)
        self._seen = now
        self._changed.update(dict.fromkeys(path.name for path in changed))
        return bool(changed)
