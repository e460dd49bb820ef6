"""The document of a conformance, from the results of its checks."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.documents.conform import CheckResult, ConformDocument, Status
from channelsim.channel.kit.conformance import INTERRUPTED
from channelsim.channel.lab.targets.target import Target


def document(
    target: Target, seed: str, results: Sequence[CheckResult], digest: str | None
) -> ConformDocument:
    """The results as a document."""
    interrupted = any(result.unchecked == INTERRUPTED for result in results)
    return ConformDocument(
        target=target.name,
        dealer=target.dealer,
        seed=seed,
        interrupted=interrupted,
        digest=None if interrupted else digest,
        failed=sum(result.result is Status.FAILED for result in results),
        checks=tuple(results),
    )
