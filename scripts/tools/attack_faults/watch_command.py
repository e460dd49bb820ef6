"""Faults in the loop of `channelsim watch`: which data it goes on with, and what its user hears."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.watch import channel_watch
from channelsim.channel.watch.channel_watch import ChannelWatch
from channelsim.channel.watch.watch_data import read_watch_data
from channelsim.channel.watch.watch_lines import WatchLine
from scripts.tools.attack_faults.planting import Fault, changing, function, own_probe

# --- the data that are copied again --------------------------------------------------------------


def _never(right: Any, watch: Any) -> None:
    return None


def _old_watcher(right: Any, watch: Any) -> None:
    watcher = watch._watcher  # noqa: SLF001
    right(watch)
    watch._watcher = watcher  # noqa: SLF001


def _last_data(reach: Any, right: Any, watch: Any) -> None:
    """Take what was copied last, and forget what was known."""
    right(watch)
    try:
        copied = read_watch_data(watch._folder)  # noqa: SLF001
    except UsageError:
        return
    if watch.data != copied:
        reach.mark()
        if not reach.probes:
            watch.data = copied
            watch._watcher = watch._new_watcher()  # noqa: SLF001


def _older_newest(reach: Any, right: Any, watch: Any) -> None:
    """Take no newest state without all states before it."""
    before = watch.data
    right(watch)
    if watch.data.newest != before.newest and len(watch.data.states) <= len(before.states) + 1:
        reach.mark()
        if not reach.probes:
            watch.data = before
            watch._watcher = watch._new_watcher()  # noqa: SLF001


def _ends_at_torn_copy(reach: Any, right: Any, watch: Any) -> None:
    right(watch)
    try:
        read_watch_data(watch._folder)  # noqa: SLF001
    except UsageError:
        reach.mark()
        if not reach.probes:
            raise


# --- what the user hears -------------------------------------------------------------------------


def _other_verdict(line: WatchLine) -> WatchLine:
    return line if line.good is None else replace(line, good=not line.good)


def _steps_only(right: Any, line: WatchLine, before: WatchLine | None) -> bool:
    return before is None or line.step != before.step


def _notices_again(right: Any, watch: Any, *given: Any) -> Any:
    watch._noticed = ()  # noqa: SLF001
    return right(watch, *given)


def _trouble_again(right: Any, watch: Any, text: str) -> None:
    watch._trouble = ""  # noqa: SLF001
    right(watch, text)


def _trouble_once(right: Any, watch: Any, *given: Any) -> Any:
    trouble = watch._trouble  # noqa: SLF001
    line = right(watch, *given)
    watch._trouble = trouble  # noqa: SLF001
    return line


WATCH_COMMAND = (
    Fault(
        "watch-never-reads-again",
        "watcher",
        "`watch` does not read data that are copied again",
        function(ChannelWatch, "read_again", _never),
    ),
    Fault(
        "watch-keeps-its-watcher",
        "watcher",
        "`watch` reads data that are copied again, and goes on with the states from before",
        function(ChannelWatch, "read_again", _old_watcher),
    ),
    Fault(
        "watch-forgets-what-it-knew",
        "watcher",
        "`watch` takes what was copied last, also older data, and forgets what it knew",
        own_probe(ChannelWatch, "read_again", _last_data),
    ),
    Fault(
        "watch-wants-all-states",
        "watcher",
        "`watch` takes no newer state while states before it are missing",
        own_probe(ChannelWatch, "read_again", _older_newest),
    ),
    Fault(
        "watch-ends-at-a-torn-copy",
        "watcher",
        "`watch` ends when its data are copied and not whole yet",
        own_probe(ChannelWatch, "read_again", _ends_at_torn_copy),
    ),
    Fault(
        "watch-calls-bad-ends-good",
        "watcher",
        "`watch` calls a good end of the channel bad, and a bad one good",
        changing(channel_watch, "line_of", _other_verdict),
    ),
    Fault(
        "watch-prints-each-look",
        "watcher",
        "`watch` prints a line for each look",
        changing(WatchLine, "has_news", lambda is_new: True),
    ),
    Fault(
        "watch-prints-steps-only",
        "watcher",
        "`watch` prints a line for a new step only, not when a spend is due or late",
        function(WatchLine, "has_news", _steps_only),
    ),
    Fault(
        "watch-does-not-say-why",
        "watcher",
        "`watch` says of a notice about fees only that there is one",
        changing(channel_watch, "notice_text", lambda text: "there is a notice about fees"),
    ),
    Fault(
        "watch-repeats-notices",
        "watcher",
        "`watch` tells of the same notices about fees with each look",
        function(ChannelWatch, "line", _notices_again),
    ),
    Fault(
        "watch-repeats-trouble",
        "watcher",
        "`watch` tells of each look that fails",
        function(ChannelWatch, "look_failed", _trouble_again),
    ),
    Fault(
        "watch-tells-trouble-once",
        "watcher",
        "`watch` tells of trouble with its node only once",
        function(ChannelWatch, "line", _trouble_once),
    ),
)
