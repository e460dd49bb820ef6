"""Digests of everything of a target that decides on what a campaign finds."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import msgspec

from channelsim.channel.campaign.plugin_inputs import check_plugins, plugin_inputs
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system import input_files


def target_inputs(target: Target) -> dict[str, str]:
    """Digests in hex, by what they are of.

    Tree hashes of the programs; SHA-256 of an author's file of rules and of recorded play. The
    rules of an installed game are named; packages of plug-ins with the game, a policy of it, or a
    law have their version and a digest.
    """
    found = {f"program {name}": one.hash.hex() for name, one in target.with_referee.items()}
    if target.rules is not None:
        found["rules"] = target.rules
    if target.rules_file is not None:
        data = input_files.read(target.rules_file, input_files.SOURCE)
        found["file of rules"] = sha256(data).hexdigest()
    if target.honest:
        found["recorded play"] = sha256(msgspec.json.encode(target.honest)).hexdigest()
    return found | plugin_inputs(
        lambda group, name: group == "laws" or name.partition(":")[0] == target.rules
    )


def check_inputs(target: Target, inputs: Mapping[str, str]) -> None:
    """Check on a worker that a target is the one of its campaign, which has these inputs.

    A file of rules does not travel: it may have changed, or be another one on another machine.
    Raises `UsageError`.
    """
    check_plugins(inputs)
    for name, digest in target_inputs(target).items():
        if inputs.get(name) != digest:
            raise UsageError(
                f"{target.name}: a worker has another {name} than the campaign began with;"
                " install the same one everywhere, and start again if it was changed"
            )
