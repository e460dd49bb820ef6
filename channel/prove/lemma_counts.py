"""Results of proofs together with the checks of their lemmas, when one campaign has both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from channelsim.channel.prove.checked import FunctionsAgree
from channelsim.channel.prove.proof import Proof
from channelsim.channel.prove.result import BROKEN, CHECKED, COMPARED, ProofResult, Undecidable

FALSE = "a lemma does not hold"


def with_checks(proofs: Sequence[Proof]) -> tuple[ProofResult, ...]:
    """The results. The text of a lemma has the number of inputs of its check, and a proof that uses
    a lemma which its check shows to be false is none."""
    checks = [proof for proof in proofs if isinstance(proof.question.claim, FunctionsAgree)]
    return tuple(_with_checks(proof, checks) for proof in proofs)


def _with_checks(proof: Proof, checks: Iterable[Proof]) -> ProofResult:
    result = proof.result()
    for check in checks:
        if check.question.validator != result.validator:
            continue
        lemmas = tuple(_counted(check, lemma) for lemma in result.lemmas)
        result = msgspec.structs.replace(result, lemmas=lemmas)
        differs = [gap for part in check.examined for gap in part.undecided]
        used = any(_is_about(check, lemma) for lemma in lemmas)
        if differs and used and result.verdict not in BROKEN:
            false = Undecidable(f"{FALSE}: {differs[0][0]}", "", 1)
            undecided = (false, *result.undecided)
            result = msgspec.structs.replace(result, verdict="undecided", undecided=undecided)
    return result


def _counted(check: Proof, lemma: str) -> str:
    """The text of a lemma with the inputs of its check, if that is whole and finds nothing."""
    claim = check.question.claim
    assert isinstance(claim, FunctionsAgree)
    if check.verdict != CHECKED or not _is_about(check, lemma):
        return lemma
    text, _, _ = lemma.partition(COMPARED)
    which = "all " if claim.total is not None else ""
    return f"{text}{COMPARED}{which}{claim.inputs:,} inputs"


def _is_about(check: Proof, lemma: str) -> bool:
    """True if this is the check of the lemma with this text."""
    claim = check.question.claim
    assert isinstance(claim, FunctionsAgree)
    return lemma.startswith(f"{claim.source.name}: `{claim.source.function}`")
