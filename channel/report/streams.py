"""The standard streams, which accept any text."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from channelsim.channel.report.plain import HANDLER


def open_streams() -> None:
    """Make standard output and error accept any text, in plain letters if necessary.

    A stream that was closed before the start is replaced by the null device.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = "ascii" if _c_locale() else stream.encoding
            stream.reconfigure(encoding=encoding, errors=HANDLER)


def _c_locale() -> bool:
    """True if the user chose the locale C, in which Python would still write UTF-8."""
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    chosen = next((value for name in names if (value := os.environ.get(name))), "")
    asked = os.environ.get("PYTHONUTF8") == "1" or os.environ.get("PYTHONIOENCODING")
    return chosen in ("C", "POSIX") and not asked
