"""Run the command line: `python -m channelsim`, and the command `channelsim`.

An interrupt while Python still imports ends the process in silence, as it has nothing to report.
"""

import os
import signal


def _end_at_once(signum: int, frame: object) -> None:
    os._exit(128 + signum)


# Where a shell ignores interrupts for a command in the background, they stay ignored.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end_at_once)

from channelsim.channel.cli import main  # noqa: E402 (the handler comes first)

__all__ = ("main",)

if __name__ == "__main__":
    main()
