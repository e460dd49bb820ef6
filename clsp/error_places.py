"""The place that a compiler's error is about."""

from __future__ import annotations

import re
from pathlib import Path

from channelsim.clsp.chialisp import place, tokens
from channelsim.clsp.source_files import Mention, Reached

_PLACED = re.compile(r"(\S+?)\((\d+)\):(\d+)(?:-\S+\(\d+\):\d+)?: ")
_OPERATOR = re.compile(r"can't compile \(\"?([^\s\")]+)\"?.*")
_WORD = re.compile(r"Invalid character .* in '([^']+)'")


def located(source: Path, read: Reached, reason: str) -> str:
    """The compiler's reason, with the file, line and column that it is about; without a better one,
    of the beginning of the program."""
    for name, mention in read.missing.items():
        if name in reason or name.replace(".", "/") in reason:
            return f"{mention_place(mention)}: there is no file {name} to include"
    placed = _PLACED.match(reason)
    if placed is not None:
        name = Path(placed[1]).name
        file = next((file for file in read.files if file.name == name), source)
        return f"{file}: line {placed[2]}, column {placed[3]}: {reason[placed.end() :]}"
    said = reason.removeprefix("error ").removesuffix(" compiling ()")
    operator, word = _OPERATOR.search(reason), _WORD.search(reason)
    for file in read.files:
        text = read.text(file)
        before = ""
        for token in tokens(text):
            called = operator and before == "(" and token.text == operator[1]
            if called or (word and token.text.endswith(word[1])):
                return f"{file}: {place(text, token.at)}: does not compile: {said}"
            before = token.text
    # Nothing in the reason says where: the program begins here.
    text = read.text(source)
    start = next((token.at for token in tokens(text)), 0)
    return f"{source}: {place(text, start)}: does not compile: {said}"


def mention_place(mention: Mention) -> str:
    """The file, line and column of a name."""
    return f"{mention.file}: {place(mention.text, mention.at)}"
