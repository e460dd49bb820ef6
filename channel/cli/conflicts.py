"""Options that do not go together: one table, and one line of error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from channelsim.channel.cli.options import is_given, refuse


class Conflict(NamedTuple):
    """Options of a `command` that are `refused`, for a `reason`, beside or without another option.

    Options and arguments by their names, separated by spaces. A group of commands stands for all of
    its commands, and an empty name for all commands.
    """

    command: str
    refused: str
    reason: str
    beside: str = ""
    without: str = ""


_ONE_DISPUTE = "is of one dispute: name an adversary instead of --all"
_ROUNDS = "does not go with --watch, which prints a line for each round"

CONFLICTS = (
    Conflict("cost", "tolerance", "goes with --check FILE", without="check"),
    Conflict("crosscheck", "out", _ROUNDS, beside="watch"),
    Conflict(
        "dispute run",
        "at side weather fees max-fee max-fees crowd hands staggered old-copy most-states"
        " most-bytes mix processes",
        "--all tries every one of them; leave it out, or name an adversary instead",
        beside="all",
    ),
    Conflict("dispute run", "transcript report", _ONE_DISPUTE, beside="all"),
    *(
        Conflict("dispute run", refused, f"goes with --all{why}", without="all")
        for refused, why in (
            ("seeds", "; one dispute has one --seed"),
            ("jobs cluster", "; one dispute runs in one process"),
            ("out resume junit sarif", ", which is a campaign"),
        )
    ),
    Conflict("dispute run", "at", "is the step of an adversary: name one", without="name"),
    Conflict(
        "dispute run",
        "fees max-fee max-fees crowd staggered most-states most-bytes",
        "does not go with --old-copy, with which both sides play hands that they agreed on",
        beside="old-copy",
    ),
    Conflict("node", "block-every", "blocks come with --block-on-push already", "block-on-push"),
    Conflict("node", "block-every block-on-push", "--no-blocks is given", beside="no-blocks"),
    Conflict("peer", "cert key", "give --node as well", without="node"),
    *(
        Conflict("play", refused, f"does not go with --adversary{why}", beside="adversary")
        for refused, why in (
            ("script", ", which does not follow a script"),
            ("limit", ": it plays the usual terms"),
            ("of", ", which lets no dealer choose"),
        )
    ),
    Conflict("report", "output", "is for a page, which has no format", beside="format"),
    Conflict("watch", "max-fee", "only with --fee-key", without="fee-key"),
    Conflict("", "json junit sarif work resume cluster", _ROUNDS, beside="watch"),
    Conflict(
        "fuzz",
        "resume cluster",
        "needs --work: a search for some time is not a campaign",
        without="work",
    ),
    Conflict("fuzz", "seconds", "does not go with --work: one or the other", beside="work"),
    Conflict("fuzz", "update-corpus", "needs --corpus DIR, the folder of cases", without="corpus"),
    Conflict("", "resume", "needs --out DIR, the folder of the campaign", without="out"),
    Conflict("", "text", "does not go with --json: one or the other", beside="json"),
)
"""All pairs of options that do not go together; the first that is broken is named."""


def check_conflicts(command: str, parameters: Iterable[Any], values: Mapping[str, Any]) -> None:
    """Check the values of a command's parameters. Raises `UsageError` for the first conflict."""
    known = {max(each.opts, key=len).removeprefix("--"): values[each.name] for each in parameters}
    given = {name: value for name, value in known.items() if is_given(value)}
    for conflict in CONFLICTS:
        if conflict.command and not f"{command} ".startswith(f"{conflict.command} "):
            continue
        lacks = conflict.without in known and conflict.without not in given
        if lacks or conflict.beside in given:
            names = {name: given.get(name) for name in conflict.refused.split()}
            refuse(conflict.reason, **names)
