"""Files of proofs: what is read back, and what a changed file says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.prove.proof_file import FORMAT, ProofFile, read
from channelsim.channel.prove.result import Undecidable
from channelsim.channel.system.file_kinds import Kind, kind_of
from tests.channel.written_documents import proof, prove

PROOF = proof(sizes={0: 1, 1: 2}, confirmed=3, unconfirmed=0)
FILE = prove(PROOF).proof_file()


def written(folder: Path, data: bytes) -> Path:
    path = folder / "proofs.json"
    path.write_bytes(data)
    return path


def test_it_is_read_back(tmp_path: Path) -> None:
    file = read(written(tmp_path, FILE.json()))
    assert file.proofs == (PROOF,)
    assert file.proof("end", "equal") == PROOF
    assert file.proof("end", "rules") is None
    assert kind_of(FILE.json()) is Kind.PROOFS


def edited(change: Callable[[Any], None]) -> bytes:
    plain = json.loads(FILE.json())
    change(plain)
    return json.dumps(plain).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (FILE.json()[:-40], "the file is not whole"),
        (b'{"format": "channelsim proofs 9"}', "proofs of another version"),
        (b'{"format": "channelsim document prove 1"}', "a document that --json printed"),
        (edited(lambda file: file["proofs"][0].update(verdict="undecided")), "was changed"),
        (edited(lambda file: file["proofs"][0]["sizes"].update({"1": 7})), "was changed"),
        (edited(lambda file: file["versions"].update(z3="9")), "was changed"),
        (edited(lambda file: file.update(more=1)), "no file of proofs"),
    ],
    ids=("empty", "truncated", "version", "kind", "verdict", "paths", "solver", "field"),
)
def test_a_changed_file_is_refused_in_one_line(tmp_path: Path, data: bytes, says: str) -> None:
    path = written(tmp_path, data)
    with pytest.raises(UsageError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("proofs", "says"),
    [
        ((proof(sizes={0: 1, 1: 2}, confirmed=2, unconfirmed=0),), "do not add up"),
        ((proof(sizes={0: 3}, confirmed=3, unconfirmed=0),), "sizes of the move were left out"),
        (
            (msgspec.structs.replace(PROOF, undecided=(Undecidable("late", "", 1),)),),
            "although something is undecided",
        ),
        ((PROOF, PROOF), "is there twice"),
    ],
    ids=("paths", "sizes", "undecided", "twice"),
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, proofs: tuple[Any, ...], says: str
) -> None:
    """Its digest is right: whoever wrote it computed that as well."""
    forged = prove(*proofs).proof_file()
    with pytest.raises(UsageError, match=says):
        read(written(tmp_path, forged.json()))


def test_what_is_undecided_may_be_stored(tmp_path: Path) -> None:
    late = proof(verdict="undecided", undecided=(Undecidable("late", "", 1),), sizes={})
    file = read(written(tmp_path, prove(late).proof_file().json()))
    assert isinstance(file, ProofFile)
    assert not file.proofs[0].is_proved
    assert FORMAT.encode() in FILE.json()
