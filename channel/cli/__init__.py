"""The command line: one file per command in `commands`, and what commands share beside it.

It imports every other package; none imports it.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from channelsim import plugins, watchdog
from channelsim.channel.system import interrupt

if TYPE_CHECKING:
    from channelsim.channel.cli.app import Command

USAGE = 2
FAILED = 1
INTERNAL = 3


def main(command: Command | None = None) -> None:
    """Run the command line, or only this command. Bad use is one line on stderr and exit code 2."""
    # Modules and sessions are many objects and few cycles: look for cycles less often.
    gc.set_threshold(20_000, 20, 20)
    with interrupt.listening(last=True):
        try:
            with watchdog.watching():
                _name_copied_checkout()
                code = _run(command)
        except KeyboardInterrupt:
            code = _interrupted()
        _name_unusable_plugins()
    sys.exit(code)


def _run(command: Command | None) -> int:
    """Run a command, by default the one that the arguments name; its exit code."""
    with interrupt.held():  # until the code below can catch it
        from typer.exceptions import Exit, TyperException

        from channelsim.channel.cli.app import commands
        from channelsim.channel.cli.messages import complain, discard, wrong_arguments
        from channelsim.channel.errors import UsageError
        from channelsim.channel.report.streams import open_streams
        from channelsim.games.errors import IllegalMove

        open_streams()
    code: object
    try:
        try:
            # Not a call of the app: that would turn every interrupt into an exit of its own.
            tree = command or commands
            with tree.make_context(tree.name, sys.argv[1:]) as context:
                code = tree.invoke(context)
        except Exit as end:
            code = end.exit_code
        sys.stdout.flush()
    except interrupt.Ended as end:
        code = end.code
    except SystemExit as end:
        code = end.code
        if plugins.blamed(end):
            complain(plugins.described(end))
            code = USAGE
    except TyperException as error:
        # A group without a command raises its help as if it were an error.
        if error.message.startswith("Usage:"):
            print(error.message)
        else:
            complain(wrong_arguments(error))
        code = USAGE
    except UsageError as error:
        complain(str(error))
        plugins.forgive(str(error))
        code = USAGE
    except (plugins.WrongAnswer, IllegalMove) as error:
        failed = isinstance(error, plugins.WrongAnswer) and error.__cause__ is not None
        if failed and os.environ.get("CHANNELSIM_DEBUG"):
            raise
        complain(f"{error}; CHANNELSIM_DEBUG=1 shows the traceback" if failed else str(error))
        code = USAGE
    except BrokenPipeError:
        # The reader of our output has closed it.
        discard(sys.stdout)
        code = 0
    except OSError as error:
        if plugins.blamed(error):
            complain(plugins.described(error))
            return USAGE
        complain(f"the output cannot be written ({error.strerror})")
        code = USAGE
        discard(sys.stdout)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if os.environ.get("CHANNELSIM_DEBUG"):
            raise
        if plugins.blamed(error):
            complain(f"{plugins.described(error)}; CHANNELSIM_DEBUG=1 shows the traceback")
            return USAGE
        whose = "a bug of ours"
        if others := plugins.in_use():
            whose += f", or of a plug-in in use ({_few(others)})"
        complain(
            f"internal error, {whose}: {type(error).__name__}: {error}"
            " (CHANNELSIM_DEBUG=1 shows where)"
        )
        code = INTERNAL
    return code if isinstance(code, int) else 0


def _few(names: tuple[str, ...]) -> str:
    """The first names of a list, and how many follow."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _name_copied_checkout() -> None:
    """Print a line if the command of a copied checkout runs the code of the original."""
    from channelsim.channel.cli.copied_checkout import copied_checkout

    if line := copied_checkout(sys.argv[0], sys.prefix):
        from channelsim.channel.cli.messages import complain

        complain(line)


def _name_unusable_plugins() -> None:
    """Print a line for each plug-in that was left out, with the reason."""
    from channelsim.channel.cli.messages import complain

    for line in plugins.complaints():
        complain(line)


def _interrupted() -> int:
    """Report an interrupt that came before the command had anything to report."""
    from channelsim.channel.cli.messages import complain

    complain("interrupted")
    if "--json" in sys.argv:
        print('{"interrupted": true}')
    return interrupt.exit_code()
