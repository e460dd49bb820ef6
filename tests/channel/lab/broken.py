"""A copy of our Chialisp sources with one place changed, as a target file names it."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

from channelsim.clsp.programs import SOURCE
from channelsim.games import registry

ENDLESS = """
(mod (H A) (include *standard-cl-23*)
  (defun go (x) (go (strlen (pubkey_for_exp x))))
  (go (f (r (r A))))
)
"""
"""A validator that never ends. Its operator costs more than it takes, so it fills a block soon."""


def target_file(folder: Path, game: str, *changes: tuple[str, str, str], referee: str = "") -> Path:
    """Write a target whose sources are ours but for `changes`: (file, what stands, what then)."""
    tree = folder / "tree"
    copytree(SOURCE, tree)
    for name, old, new in changes:
        path = tree / name
        text = path.read_text("utf-8")
        assert text.count(old) >= 1, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), "utf-8")
    lines = [f'name = "a copy"\nrules = "{game}"\ninclude = ["tree"]\n[programs]']
    lines += [f'{name} = "tree/{game}/{name}.clsp"' for name in registry.get(game).validators]
    if referee:
        lines.append(f'[referee]\nprogram = "{referee}"')
    path = folder / "target.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
