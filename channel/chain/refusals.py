"""Names of refusals, as the reference node has them.

Reference: `Err` in chia/util/errors.py of chia-blockchain 2.7.5, as far as a bundle can meet it
(`manager` is chia/full_node/mempool_manager.py, `node` chia/full_node/full_node.py).
"""

from __future__ import annotations

import re

from channelsim.channel.chain.interface import Answer

NAMES = {
    1: "UNKNOWN",
    2: "INVALID_BLOCK_SOLUTION",
    3: "INVALID_COIN_SOLUTION",
    4: "DUPLICATE_OUTPUT",
    5: "DOUBLE_SPEND",
    6: "UNKNOWN_UNSPENT",
    7: "BAD_AGGREGATE_SIGNATURE",
    8: "WRONG_PUZZLE_HASH",
    10: "INVALID_CONDITION",
    11: "ASSERT_MY_COIN_ID_FAILED",
    12: "ASSERT_ANNOUNCE_CONSUMED_FAILED",
    13: "ASSERT_HEIGHT_RELATIVE_FAILED",
    14: "ASSERT_HEIGHT_ABSOLUTE_FAILED",
    15: "ASSERT_SECONDS_ABSOLUTE_FAILED",
    16: "COIN_AMOUNT_EXCEEDS_MAXIMUM",
    17: "SEXP_ERROR",
    20: "MINTING_COIN",
    23: "BLOCK_COST_EXCEEDS_MAX",
    48: "RESERVE_FEE_CONDITION_FAILED",
    105: "ASSERT_SECONDS_RELATIVE_FAILED",
    114: "ASSERT_MY_PARENT_ID_FAILED",
    115: "ASSERT_MY_PUZZLEHASH_FAILED",
    116: "ASSERT_MY_AMOUNT_FAILED",
    117: "GENERATOR_RUNTIME_ERROR",
    118: "INVALID_COST_RESULT",
    124: "COIN_AMOUNT_NEGATIVE",
    126: "INVALID_SPEND_BUNDLE",
    128: "ASSERT_BEFORE_SECONDS_ABSOLUTE_FAILED",
    129: "ASSERT_BEFORE_SECONDS_RELATIVE_FAILED",
    130: "ASSERT_BEFORE_HEIGHT_ABSOLUTE_FAILED",
    131: "ASSERT_BEFORE_HEIGHT_RELATIVE_FAILED",
    132: "ASSERT_CONCURRENT_SPEND_FAILED",
    133: "ASSERT_CONCURRENT_PUZZLE_FAILED",
    134: "IMPOSSIBLE_SECONDS_RELATIVE_CONSTRAINTS",
    135: "IMPOSSIBLE_SECONDS_ABSOLUTE_CONSTRAINTS",
    136: "IMPOSSIBLE_HEIGHT_RELATIVE_CONSTRAINTS",
    137: "IMPOSSIBLE_HEIGHT_ABSOLUTE_CONSTRAINTS",
    138: "ASSERT_MY_BIRTH_SECONDS_FAILED",
    139: "ASSERT_MY_BIRTH_HEIGHT_FAILED",
    140: "ASSERT_EPHEMERAL_FAILED",
    141: "EPHEMERAL_RELATIVE_CONDITION",
    142: "INVALID_SOFTFORK_CONDITION",
    143: "INVALID_SOFTFORK_COST",
    144: "TOO_MANY_ANNOUNCEMENTS",
    145: "INVALID_MESSAGE_MODE",
    146: "INVALID_COIN_ID",
    147: "MESSAGE_NOT_SENT_OR_RECEIVED",
    148: "INVALID_TRANSACTIONS_GENERATOR_ENCODING",
    149: "TOO_MANY_SPENDS",
}
"""The numbers that the consensus library gives for what is wrong with a bundle."""

ALREADY_INCLUDING = "ALREADY_INCLUDING_TRANSACTION"
CONFLICT = "MEMPOOL_CONFLICT"
DOUBLE_SPEND = "DOUBLE_SPEND"
FEE_TOO_LOW = "INVALID_FEE_LOW_FEE"
FEE_TOO_CLOSE_TO_ZERO = "INVALID_FEE_TOO_CLOSE_TO_ZERO"
FEE_REFUSALS = frozenset((FEE_TOO_LOW, FEE_TOO_CLOSE_TO_ZERO))
"""The refusals of bundles that a higher fee would bring into the mempool."""
UNKNOWN_UNSPENT = "UNKNOWN_UNSPENT"
INVALID_BUNDLE = "INVALID_SPEND_BUNDLE"
SYNCING = "NO_TRANSACTIONS_WHILE_SYNCING"
NOT_JUDGED = frozenset((INVALID_BUNDLE, SYNCING, "MEMPOOL_NOT_INITIALIZED"))
"""The refusals of a node that could not validate a bundle in time, or is not ready: it judges the
same bytes anew. Reference: manager, `pre_validate_spendbundle`; node, `add_transaction`."""
TOO_EARLY = frozenset(("ASSERT_HEIGHT_ABSOLUTE_FAILED", "ASSERT_HEIGHT_RELATIVE_FAILED"))
"""The refusals of bundles that are kept until their height."""

ANSWERS = {
    DOUBLE_SPEND: Answer.ALREADY_SPENT,
    CONFLICT: Answer.PENDING_CONFLICT,
    # It says nothing: what is pending shows whether it is ours, another's, or dropped.
    ALREADY_INCLUDING: Answer.KNOWN,
    **dict.fromkeys(TOO_EARLY, Answer.TOO_EARLY),
}
"""The refusals of a bundle that is mined already, in the way of another, known, or kept."""


_NAME = re.compile("[A-Z][A-Z0-9_]*")


def is_judged(error: str) -> bool:
    """True if a refusal with this error says something about the bundle.

    Any other text than a name is a failure of the call, such as a time-out.

    >>> is_judged("DOUBLE_SPEND"), is_judged("INVALID_SPEND_BUNDLE"), is_judged("timed out")
    (True, False, False)
    """
    return error not in NOT_JUDGED and _NAME.fullmatch(error) is not None


def name_of(number: int | None) -> str:
    """The name of an error of the consensus library.

    >>> name_of(5), name_of(10_000)
    ('DOUBLE_SPEND', 'UNKNOWN')
    """
    return NAMES.get(number or 1, "UNKNOWN")
