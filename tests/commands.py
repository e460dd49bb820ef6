"""Take the steps on stdin, a JSON list, in one process, and print the results of its commands.

A list of arguments is a command; an object maps files to write to their texts.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from glob import glob
from io import BytesIO, TextIOWrapper
from pathlib import Path

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
    return {"code": code, "out": written(out), "err": written(err)}


def written(stream: TextIOWrapper) -> str:
    """What was written to a stream."""
    stream.seek(0)
    return stream.read()


def expanded(arguments: list[str]) -> list[str]:
    """The arguments, with `*` replaced as a shell does."""
    found = [sorted(glob(one)) if "*" in one else [one] for one in arguments]
    return [one for some in found for one in some]


if __name__ == "__main__":
    results = []
    for step in json.load(sys.stdin):
        if isinstance(step, list):
            results.append(run(expanded(step)))
        else:
            for file, text in step.items():
                Path(file).write_text(text, "utf-8")
    json.dump(results, sys.stdout)
