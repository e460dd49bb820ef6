"""The engine knows no game: it names none, and plays any two together."""

from __future__ import annotations

import re
from pathlib import Path

from channelsim import channel
from channelsim.games import registry

ENGINE = Path(channel.__file__).parent


def test_no_file_of_the_engine_names_a_game() -> None:
    titles = [registry.get(name).title.partition(":")[0] for name in registry.names()]
    names = [*registry.names(), *titles, *(title.split()[0] for title in titles)]
    # A title's first word may be an ordinary one; as a name it is written with a capital.
    pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    found = {
        f"{file.relative_to(ENGINE)}: {line.strip()}"
        for file in ENGINE.rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if pattern.search(line)
    }
    assert found == set()


def test_no_file_of_the_engine_names_a_policy_or_a_verb_of_one_game() -> None:
    words = {policy for name in registry.names() for policy in registry.get(name).policies}
    words -= {"random"}  # an ordinary word, and an example in help texts
    text = "\n".join(file.read_text("utf-8") for file in ENGINE.rglob("*.py"))
    quoted = {word for word in words if f'"{word}"' in text or f"`{word}`" in text}
    assert quoted == set()
