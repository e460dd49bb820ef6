"""The command line: one thin file for each command of `channelsim`.

It imports every other package; none imports it.
"""

from __future__ import annotations

import os
import sys

from channel.system import interrupt

USAGE = 2
FAILED = 1
INTERNAL = 3


def main() -> None:
    """Run the command line. Bad use is one line on stderr and exit code 2."""
    with interrupt.listening(last=True):
        try:
            code = _run()
        except KeyboardInterrupt:
            code = _interrupted()
    sys.exit(code)


def _run() -> int:
    """Run the command that the arguments name; its exit code."""
    with interrupt.held():  # until there is somebody to catch it
        from typer.exceptions import Exit, TyperException

        from channel.cli.app import commands
        from channel.cli.options import complain, in_one_line
        from channel.errors import UsageError
        from channel.report.terminal import open_streams

        open_streams()
    code: object
    try:
        try:
            # Not `app()`, which makes an exit of its own of every interrupt.
            with commands.make_context("channelsim", sys.argv[1:]) as context:
                code = commands.invoke(context)
        except Exit as end:
            code = end.exit_code
        sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except TyperException as error:
        # A group without a command raises its help as if it were an error.
        if error.message.startswith("Usage:"):
            print(error.message)
        else:
            complain(in_one_line(error))
        code = USAGE
    except UsageError as error:
        complain(str(error))
        code = USAGE
    except BrokenPipeError:
        # Whoever reads our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        complain(f"the output cannot be written ({error.strerror})")
        code = USAGE
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("CHANNELSIM_DEBUG"):
            raise
        complain(
            f"internal error, a bug of ours: {type(error).__name__}: {error}"
            " (CHANNELSIM_DEBUG=1 shows where)"
        )
        code = INTERNAL
    return code if isinstance(code, int) else 0


def _interrupted() -> int:
    """Tell of an interrupt before there was anything else to tell."""
    print("channelsim: interrupted", file=sys.stderr)
    if "--json" in sys.argv:
        print('{"interrupted": true}')
    return interrupt.exit_code()
