"""Plug-ins on which results depend: in the configuration of a campaign, and on its workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from channelsim import plugins
from channelsim.channel.errors import UsageError

_PREFIX = "plug-in "


def plugin_inputs(counts: Callable[[str, str], bool]) -> dict[str, str]:
    """Version and SHA-256 of the packages with plug-ins that count, for `Configuration.inputs`.

    `counts` gets the group (`games`) and the name of each plug-in. Loads none of them.
    """
    return {f"{_PREFIX}{package}": version for package, version in plugins.versions(counts).items()}


def check_plugins(inputs: Mapping[str, str]) -> None:
    """Check that a worker has the plug-ins of a campaign with these inputs. Raises `UsageError`."""
    here = plugin_inputs(lambda group, name: True)
    for name, version in inputs.items():
        if name.startswith(_PREFIX) and here.get(name) != version:
            what = f"has another {name} than" if name in here else f"lacks the {name} with which"
            raise UsageError(
                f"a worker {what} the campaign began; install the same one everywhere, and"
                " start again if it was changed"
            )
