"""Proofs in a file: what was proved of which programs and rules, within which bounds, by what.

A file says that a proof was made; it is none itself. Whoever reads one checks that it belongs to
the programs, rules, bounds and versions at hand, and trusts the rest. Its digest, and figures that
have to agree, expose a file that was damaged or edited by hand, and not one that was forged.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec

from channelsim.channel.campaign.engine import Seconds
from channelsim.channel.errors import UsageError
from channelsim.channel.prove.result import CHECKED, ProofResult
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, format_of
from channelsim.games.decoding import document_error

FORMAT = "channelsim proofs 1"
NAME = "proofs.json"
"""The file in a game's package, beside a target, and in the folder of a campaign."""


class ProofFile(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag=FORMAT,
):
    """The proofs of a target, or that its programs are equal to those of another (`against`).

    Each size of a move was examined for at most `limit` seconds of work. `versions` are those of
    this package and of the solver. `digest` is the SHA-256 of everything else.
    """

    target: str
    against: str | None
    versions: dict[str, str]
    limit: Seconds
    models: tuple[str, ...]
    proofs: tuple[ProofResult, ...]
    digest: str = ""

    def json(self) -> bytes:
        """The file, with its digest."""
        whole = msgspec.structs.replace(self, digest=_digest(self))
        return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"

    def proof(self, validator: str, claim: str, shape: str = "") -> ProofResult | None:
        """The proof of a claim about a validator, in states of a shape if it is named; None where
        the file has none."""
        return next(
            (proof for proof in self.proofs if _key(proof) == (validator, claim, shape)),
            None,
        )


def _digest(file: ProofFile) -> str:
    plain = msgspec.structs.replace(file, digest="", limit=float(file.limit))
    return sha256(msgspec.json.encode(plain)).hexdigest()


def read(path: Path) -> ProofFile:
    """The proofs in a file. Raises `UsageError`, naming the file and what is wrong with it."""
    data = input_files.read(path, input_files.LINES)
    if not data.strip():
        raise UsageError(f"{path}: is empty, so no file of proofs")
    tag = format_of(data)
    if tag is not None and tag != FORMAT and tag.startswith("channelsim proofs"):
        raise UsageError(
            f"{path}: proofs of another version: the format is {tag[:60]!r}, not {FORMAT!r}; make"
            " them again with `channelsim prove`"
        )
    try:
        file = msgspec.json.decode(data, type=ProofFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        check_kind(path, data, Kind.PROOFS)
        reason = document_error(error, data, ProofFile)
        raise UsageError(f"{path}: no file of proofs: {reason}") from None
    if file.digest != _digest(file):
        raise UsageError(f"{path}: was changed after it was written; make it again")
    for number, proof in enumerate(file.proofs):
        problem = _problem(proof)
        if any(_key(proof) == _key(other) for other in file.proofs[:number]):
            problem = "is there twice"
        if problem:
            raise UsageError(f"{path}: {proof.name}: {problem}; make it again")
    return file


def _key(proof: ProofResult) -> tuple[str, str, str]:
    return proof.validator, proof.claim, proof.shape


def _problem(proof: ProofResult) -> str:
    """The reason why a proof contradicts itself; "" if it does not."""
    if proof.verdict == CHECKED and (proof.undecided or not proof.samples):
        return "checked, although nothing was"
    if not proof.is_proved:
        return ""
    if proof.undecided:
        return f"{proof.verdict}, although something is undecided"
    if set(proof.sizes) != set(range(proof.longest + 2)):
        return f"{proof.verdict}, although sizes of the move were left out"
    if proof.confirmed + proof.unconfirmed != proof.paths or not proof.confirmed:
        return f"{proof.verdict}, although its paths do not add up"
    return ""
