"""The command line: `channelsim`. Each command is a thin file; the work is elsewhere."""

from __future__ import annotations

import os
import sys

from channel.cli.app import app
from channel.cli.options import complain, in_one_line
from channel.errors import UsageError
from channel.report.terminal import open_streams

USAGE = 2
FAILED = 1
INTERNAL = 3


def main() -> None:
    """Run the command line. Bad use is one line on stderr and exit code 2."""
    from typer.exceptions import Abort, Exit, TyperException

    open_streams()
    try:
        code = app(prog_name="channelsim", standalone_mode=False)
        sys.stdout.flush()
    except (Exit, SystemExit) as end:
        code = getattr(end, "exit_code", getattr(end, "code", 0))
    except (Abort, KeyboardInterrupt):
        complain("interrupted")
        code = 130
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
    sys.exit(code if isinstance(code, int) else 0)
