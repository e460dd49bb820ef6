"""The constants of the embedded chain: those of public networks, before their forks by height.

Reference: `DEFAULT_CONSTANTS` in chia/consensus/default_constants.py of chia-blockchain 2.7.5.
"""

from __future__ import annotations

from hashlib import sha256

from chia_rs import ConsensusConstants
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint8, uint16, uint32, uint64, uint128

BLOCK_COST = 11_000_000_000
"""The most that the spends of a block may cost, on public networks."""

POOL_BLOCKS = 10
"""The cost of a mempool in blocks, on public networks."""

LEAST_BLOCK_COST = 200_000_000
"""A block of this cost can hold any spend of a channel."""

MOST_POOL_COST = 100 * BLOCK_COST

BLOCK_REWARD = 2_000_000_000_000
"""The block reward in mojos, paid in one coin."""

COST_PER_BYTE = 12_000

BLOCK_SECONDS = 19
"""Seconds from block to block: about 4608 a day, as on public networks."""

NEVER = uint32((1 << 32) - 1)
"""The height of a fork that this chain does not have: the reference node's tests have none."""

_SIZED: tuple[tuple[type[int], dict[str, int]], ...] = (
    (
        uint8,
        {
            "MIN_BLOCKS_PER_CHALLENGE_BLOCK": 16,
            "NUM_SPS_SUB_SLOT": 64,
            "SIGNIFICANT_BITS": 8,
            "NUMBER_ZERO_BITS_PLOT_FILTER_V1": 9,
            "NUMBER_ZERO_BITS_PLOT_FILTER_V2": 9,
            "MIN_PLOT_SIZE_V1": 32,
            "MAX_PLOT_SIZE_V1": 50,
            "PLOT_SIZE_V2": 28,
            "NUM_SP_INTERVALS_EXTRA": 3,
            "NUMBER_OF_TIMESTAMPS": 11,
            "MAX_VDF_WITNESS_SIZE": 64,
            "WEIGHT_PROOF_THRESHOLD": 2,
            "PLOT_V1_PHASE_OUT_EPOCH_BITS": 8,
            "MIN_PLOT_STRENGTH": 2,
            "MAX_PLOT_STRENGTH": 17,
            "FILTER_WINDOW_SIZE": 16,
            "MAX_EFFECTIVE_PLOT_FILTER_BITS": 13,
        },
    ),
    (uint16, {"DISCRIMINANT_SIZE_BITS": 1024, "SUB_SLOT_TIME_TARGET": 600}),
    (
        uint32,
        {
            "SLOT_BLOCKS_TARGET": 32,
            "MAX_SUB_SLOT_BLOCKS": 128,
            "DIFFICULTY_CHANGE_MAX_FACTOR": 3,
            "SUB_EPOCH_BLOCKS": 384,
            "EPOCH_BLOCKS": 4608,
            "MAX_FUTURE_TIME2": 120,
            "WEIGHT_PROOF_RECENT_BLOCKS": 1000,
            "MAX_BLOCK_COUNT_PER_REQUESTS": 32,
            "BLOCKS_CACHE_SIZE": 5120,
            "MAX_GENERATOR_REF_LIST_SIZE": 512,
            "PLOT_FILTER_128_HEIGHT": 10_542_000,
            "PLOT_FILTER_64_HEIGHT": 15_592_000,
            "PLOT_FILTER_32_HEIGHT": 20_643_000,
        },
    ),
    (
        uint64,
        {
            "SUB_SLOT_ITERS_STARTING": 1 << 27,
            "DIFFICULTY_STARTING": 7,
            "POOL_SUB_SLOT_ITERS": 37_600_000_000,
            "MAX_COIN_AMOUNT": (1 << 64) - 1,
            "COST_PER_BYTE": COST_PER_BYTE,
        },
    ),
    (uint128, {"DIFFICULTY_CONSTANT_FACTOR": 1 << 67}),
)

_FORKS = "HARD_FORK_HEIGHT HARD_FORK2_HEIGHT SOFT_FORK8_HEIGHT SOFT_FORK9_HEIGHT"

_SIGNATURES = "PARENT PUZZLE AMOUNT PUZZLE_AMOUNT PARENT_AMOUNT PARENT_PUZZLE"
"""The kinds of signatures but AGG_SIG_ME, in the order of their codes, which begin with 43."""


def constants_of(
    agg_sig_data: bytes, block_cost: int, pool_cost: int, genesis_challenge: bytes | None = None
) -> ConsensusConstants:
    """The constants of a network; its AGG_SIG_ME data is its genesis challenge by default."""
    genesis_challenge = genesis_challenge or agg_sig_data
    arguments: dict[str, object] = {
        name: sized(value) for sized, values in _SIZED for name, value in values.items()
    }
    arguments["GENESIS_CHALLENGE"] = bytes32(genesis_challenge)
    arguments["AGG_SIG_ME_ADDITIONAL_DATA"] = bytes32(agg_sig_data)
    for code, kind in enumerate(_SIGNATURES.split(), 43):
        data = sha256(agg_sig_data + bytes([code])).digest()
        arguments[f"AGG_SIG_{kind}_ADDITIONAL_DATA"] = bytes32(data)
    for farmer in ("POOL", "FARMER"):
        arguments[f"GENESIS_PRE_FARM_{farmer}_PUZZLE_HASH"] = bytes32(genesis_challenge)
    arguments |= dict.fromkeys(_FORKS.split(), NEVER)
    arguments |= {
        "MAX_BLOCK_COST_CLVM": uint64(block_cost),
        "MEMPOOL_BLOCK_BUFFER": uint8(min(max(1, pool_cost // block_cost), 255)),
        "PLOT_FILTER_V2_RELATIVE_HEIGHT": [NEVER] * 9,
        "TESTNET": True,
    }
    return ConsensusConstants(**arguments)  # type: ignore[arg-type]
