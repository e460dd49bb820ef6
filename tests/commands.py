"""Run the commands whose arguments are on stdin, as JSON, and print their results as JSON."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

from channelsim.channel.cli import main


def run(arguments: list[str]) -> dict[str, object]:
    """The exit code of `channelsim` with these arguments, and its output."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    sys.argv = ["channelsim", *arguments]
    code: object = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return {"code": code, "out": text(out), "err": text(err)}


def text(stream: TextIOWrapper) -> str:
    """What was written to a stream."""
    stream.seek(0)
    return stream.read()


if __name__ == "__main__":
    json.dump([run(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
