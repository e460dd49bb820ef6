"""The page of the laws, from their registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc

from channelsim.channel.lab.laws import laws


def law_sections() -> Iterator[str]:
    yield (
        "A law is tried at one site in *every*; more often where something new happened. The"
        " targets to which it applies have what it *needs*."
    )
    for law in laws():
        text = cleandoc(import_module(type(law).__module__).__doc__ or "")
        what = re.sub(r"^Law(?: for targets without rules)?: ", "", text)
        about = f"Every {law.every}. Needs {law.needs.value}."
        yield f"## {law.name.capitalize()}\n\n{what[0].upper()}{what[1:]}\n\n{about}"
