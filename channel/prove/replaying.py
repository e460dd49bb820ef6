"""Try a counterexample again: run the claim that it breaks on its stored inputs."""

from __future__ import annotations

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import OWN_HASH, OWN_PROGRAM, replaced
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.questions import Bounds, questions
from channelsim.clsp.values import BadValue, Value, deserialize

WITHOUT_A_LAW = ("rules", "holds")
"""The claims that are asked for without a law."""


def still_breaks(target: Target, finding: Finding) -> list[str]:
    """A line if the inputs of a finding still break its claim about this target; else none.

    Raises `UsageError` for a claim that there is not, and for inputs that cannot be read.
    """
    name, program = finding.place, target.programs.get(finding.place)
    if program is None or name not in target.present:
        raise UsageError(f"{target.name} has no program of {name}")
    try:
        environment: Value = deserialize(bytes.fromhex(finding.brun["inputs"]))
        environment = replaced(environment, OWN_HASH, program.hash)
        environment = replaced(environment, OWN_PROGRAM, program.value)
    except (KeyError, ValueError, TypeError, BadValue):
        raise UsageError("the finding's brun: its inputs are not those of a validator") from None
    return [finding.text] if _claim(target, finding).is_broken(environment) else []


def _claim(target: Target, finding: Finding) -> Claim:
    laws = () if finding.cause in WITHOUT_A_LAW else (finding.cause,)
    longest = 0 if finding.call is None else len(finding.call.move) // 2
    for question in questions((target,), finding.place, Bounds(longest), laws):
        if question.claim.name == finding.cause:
            return question.claim
    raise UsageError(f"{target.name}: there is no claim {finding.cause!r} about {finding.place}")
