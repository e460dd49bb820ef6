"""Documents of `prove`."""

from __future__ import annotations

from channelsim.channel.documents.results import Results, Seconds
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.channel.prove.result import Undecidable, Verdict


class ProveDocument(Results, frozen=True, kw_only=True, tag="channelsim document prove 1"):
    """The comparison of a validator's programs in two targets.

    `programs` are their tree hashes in hex, `bounds` and `models` what a proof rests on, in words.
    `paths` are pairs of paths: `confirmed` of them were run for real, for `unconfirmed` no input
    was found, and on `bounded` ones a program looks at evidence, or a state without a form, of
    which larger ones are left out. `samples` were run besides. A finding is an input that tells
    the programs apart.
    """

    command = "prove"

    against: str
    validator: str
    verdict: Verdict
    programs: tuple[str, str]
    bounds: tuple[str, ...]
    models: tuple[str, ...]
    paths: Figure
    confirmed: Figure
    unconfirmed: Figure
    bounded: Figure
    samples: Figure
    undecided: tuple[Undecidable, ...]
    seconds: Seconds
    findings: tuple[Finding, ...]
