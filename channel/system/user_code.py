"""Load a Python file of the user's own, with its errors in one line."""

from __future__ import annotations

import sys
import traceback
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from channelsim import plugins
from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files
from channelsim.channel.system.interrupt import Ended
from channelsim.channel.system.time_limit import OutOfTime
from channelsim.watchdog import Overrun, note_author

NOT_THEIRS = (KeyboardInterrupt, Ended, OutOfTime, Overrun)
"""What comes out of a call of the user's code and is no error of that code: signals, and limits.
Anything else is an error of the user's, `SystemExit` included."""


def load(path: Path) -> ModuleType:
    """Run a file as a module under a name of its own. Raises `UsageError`, naming the line.

    It is run each time, and found in no search path: it hides no module, and none hides it. What it
    prints goes to stderr: our output may be a document.
    """
    text = input_files.read_text(path, input_files.SOURCE)
    name = f"channelsim_user_{sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__dict__["print"] = plugins.to_stderr
    note_author(str(path))
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        raise UsageError(f"{path}: line {error.lineno}: not Python: {error.msg}") from None
    except NOT_THEIRS:
        raise
    except BaseException as error:
        raise UsageError(failure(path, error)) from None
    return module


def failure(path: Path, error: BaseException) -> str:
    """An exception of a user's file in one line: the last line of the file that it passed."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    place = f"line {lines[-1]}: " if lines else ""
    message = f": {error}" if str(error) else ""
    return f"{path}: {place}{type(error).__name__}{message}"
