"""The law that no run costs more than a block holds."""

from __future__ import annotations

from channelsim.channel.prove.laws.cost import WithinTheLimit
from tests.channel.prove.laws.trials import record, subject, tried

LONG = f"0x{'77' * 500_000}"


def hashed(times: int) -> str:
    """A validator that hashes 500,000 bytes, so often one after the other."""
    test = f"(sha256 {' '.join([LONG] * times)})"
    return f"(if (= (strlen MOVE) 1) (if {test} {record()} ()) ())"


def test_a_cheap_program_is_within_the_limit() -> None:
    assert tried(WithinTheLimit(subject(hashed(1))), [0, 1]) == ("proved", None)


def test_a_program_that_might_exceed_the_limit_is_undecided() -> None:
    # The bound is far above what it costs for real.
    assert tried(WithinTheLimit(subject(hashed(3))), [0, 1]) == ("undecided", None)
