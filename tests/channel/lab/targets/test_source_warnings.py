"""What an author is told of sources that compile to something else than they seem to."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.source_warnings import source_warnings
from channelsim.clsp.compiler import compile_source
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy
from tests.sampling import one_row_in

ZERO = "(if (= MOVE 0x00)\n  (list 0 0 0)\n"


def as_module(path: Path, dialect: str, first: str = "") -> None:
    """Turn a `(mod …)` of the toy into a module of this dialect."""
    text = path.read_text().strip()
    assert text.startswith("(mod ")
    assert text.endswith(")")
    includes = [line for line in text.splitlines() if line.strip().startswith("(include")]
    for line in includes:
        text = text.replace(line + "\n", "")
    kept = "\n".join(line for line in includes if "standard" not in line)
    exported = "(export " + text[len("(mod ") :]
    path.write_text(f"(include {dialect})\n{first}{kept}\n{exported}\n")


@pytest.mark.parametrize("dialect", ["*standard-cl-21*", "*standard-cl-23*"])
def test_an_import_says_which_program_counts(
    dialect: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = toy(tmp_path)
    commit, bid = tmp_path / "commit.clsp", tmp_path / "bid.clsp"
    commit.write_text(commit.read_text().replace('(include "hashes/bid.clinc")', ""))
    as_module(commit, "*standard-cl-23*", "(import bid exposing (program_hash as BID_HASH))\n")
    as_module(bid, dialect)
    before = sorted(tmp_path.iterdir())
    target = load(str(path))
    assert target.programs["bid"].hash in target.programs["commit"].serialized
    ran = channelsim(capsys, "crosscheck", path, "--cases", 300, "--jobs", 1)
    assert ran.code == 0
    assert sorted(tmp_path.iterdir()) == before
    reveal = {"reveal": target.programs["reveal"]}
    alone = compile_source(bid, others=reveal).hash
    if dialect == "*standard-cl-23*":
        assert (ran.err, alone) == ("", target.programs["bid"].hash)
    else:
        assert alone != target.programs["bid"].hash
        assert ran.err.startswith("channelsim: warning: a toy: commit imports bid ")
        assert ran.err.count("\n") == 1
        assert alone.hex()[:16] in ran.err
        assert target.programs["bid"].hash.hex()[:16] in ran.err


@pytest.mark.parametrize(
    ("written", "lost"),
    one_row_in(
        4,
        [
            ("(if (= MOVE 0x00) 1 0)", True),
            ("(if 1 (list MOVE 0x0000) 0)", True),
            ("(= MOVE 0x00)", False),
            ("(if (= MOVE 0x0001) 1 0)", False),
            ('(if (= MOVE "0x00") 1 0)', False),
        ],
    ),
)
def test_a_zero_byte_that_is_lost_is_named_once(
    written: str, lost: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, source = toy(tmp_path), tmp_path / "reveal.clsp"
    source.write_text(
        source.read_text().replace(
            "(include *standard-cl-23*)", f"(include *standard-cl-23*)\n(defun g (MOVE) {written})"
        )
    )
    line = 1 + source.read_text()[: source.read_text().index(written)].count("\n")
    warnings = source_warnings(load(str(path)))
    assert len(warnings) == lost
    assert all(f"{source}:{line}: this zero byte" in warning for warning in warnings)
    for command in (
        ("crosscheck", path, "--cases", 50),
        ("fuzz", path, "--work", "1", "--out", tmp_path / "o"),
    ):
        ran = channelsim(capsys, *command, "--jobs", 1)
        assert ran.err.count("this zero byte") == lost
