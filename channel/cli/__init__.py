"""The command line: `channelsim`. Each command is a thin file; the work is elsewhere."""

from __future__ import annotations

import os
import sys

from channel.cli.app import app
from channel.errors import UsageError

USAGE = 2
FAILED = 1
INTERNAL = 3


def main() -> None:
    """Run the command line. Bad use is one line on stderr and exit code 2."""
    from typer.exceptions import Abort, Exit, TyperException

    try:
        code = app(standalone_mode=False)
    except (Exit, SystemExit) as end:
        code = getattr(end, "exit_code", getattr(end, "code", 0))
    except (Abort, KeyboardInterrupt):
        print("channelsim: interrupted", file=sys.stderr)
        code = 130
    except TyperException as error:
        _complain(error.format_message())
        code = USAGE
    except UsageError as error:
        _complain(str(error))
        code = USAGE
    except BrokenPipeError:
        # Whoever reads our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("CHANNELSIM_DEBUG"):
            raise
        _complain(
            f"internal error, a bug of ours: {type(error).__name__}: {error}"
            " (CHANNELSIM_DEBUG=1 shows where)"
        )
        code = INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def _complain(text: str) -> None:
    line = " ".join(text.split())
    print(f"channelsim: {line}", file=sys.stderr)
