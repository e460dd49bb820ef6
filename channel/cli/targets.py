"""The target of a command, with what its author should know of its sources."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from channelsim.channel.cli.messages import complain
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.source_warnings import source_warnings
from channelsim.channel.lab.targets.target import Target


def load_target(text: str) -> Target:
    """A target as the command line names it; it may lack programs. Raises `UsageError`.

    Each warning about its sources is a line on stderr.
    """
    target = load(text, partial=True)
    for warning in source_warnings(target):
        complain(f"warning: {warning}")
    return target


HOME = Path(".channelsim")
"""The folder in the current folder for what commands store of targets."""


def stored_folder(target: Target) -> Path:
    """The folder of a target, for what commands store without being told where."""
    return HOME / _slug(target.name)


def _slug(name: str) -> str:
    """A folder name for a target, different for different targets and without separators."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = slug == name.lower().replace(" ", "-")
    return slug if plain else f"{slug or 'target'}-{sha256(name.encode()).hexdigest()[:8]}"
