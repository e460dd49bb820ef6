"""The cost of a bundle according to the consensus library itself."""

from __future__ import annotations

from chia_rs import (
    Coin,
    CoinSpend,
    ConsensusConstants,
    G2Element,
    Program,
    SpendBundle,
    get_conditions_from_spendbundle,
    get_flags_for_height_and_constants,
    run_block_generator2,
    solution_generator,
)
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint8, uint16, uint32, uint64, uint128

from channelsim.channel.chain.coins import Bundle

COST_PER_BYTE, MAX_BLOCK_COST = 12_000, 11_000_000_000


ONES = {
    uint8: """MIN_BLOCKS_PER_CHALLENGE_BLOCK NUM_SPS_SUB_SLOT SIGNIFICANT_BITS
        NUMBER_ZERO_BITS_PLOT_FILTER_V1 NUMBER_ZERO_BITS_PLOT_FILTER_V2 MIN_PLOT_SIZE_V1
        MAX_PLOT_SIZE_V1 PLOT_SIZE_V2 NUM_SP_INTERVALS_EXTRA NUMBER_OF_TIMESTAMPS
        MAX_VDF_WITNESS_SIZE MEMPOOL_BLOCK_BUFFER WEIGHT_PROOF_THRESHOLD
        PLOT_V1_PHASE_OUT_EPOCH_BITS MIN_PLOT_STRENGTH MAX_PLOT_STRENGTH FILTER_WINDOW_SIZE
        MAX_EFFECTIVE_PLOT_FILTER_BITS""",
    uint16: "DISCRIMINANT_SIZE_BITS SUB_SLOT_TIME_TARGET",
    uint32: """SLOT_BLOCKS_TARGET MAX_SUB_SLOT_BLOCKS DIFFICULTY_CHANGE_MAX_FACTOR
        SUB_EPOCH_BLOCKS EPOCH_BLOCKS MAX_FUTURE_TIME2 WEIGHT_PROOF_RECENT_BLOCKS
        MAX_BLOCK_COUNT_PER_REQUESTS BLOCKS_CACHE_SIZE MAX_GENERATOR_REF_LIST_SIZE
        PLOT_FILTER_128_HEIGHT PLOT_FILTER_64_HEIGHT PLOT_FILTER_32_HEIGHT""",
    uint64: "SUB_SLOT_ITERS_STARTING DIFFICULTY_STARTING POOL_SUB_SLOT_ITERS",
    uint128: "DIFFICULTY_CONSTANT_FACTOR",
}
"""What no cost depends on."""

HASHES = """GENESIS_CHALLENGE AGG_SIG_ME_ADDITIONAL_DATA AGG_SIG_PARENT_ADDITIONAL_DATA
    AGG_SIG_PUZZLE_ADDITIONAL_DATA AGG_SIG_AMOUNT_ADDITIONAL_DATA
    AGG_SIG_PUZZLE_AMOUNT_ADDITIONAL_DATA AGG_SIG_PARENT_AMOUNT_ADDITIONAL_DATA
    AGG_SIG_PARENT_PUZZLE_ADDITIONAL_DATA GENESIS_PRE_FARM_POOL_PUZZLE_HASH
    GENESIS_PRE_FARM_FARMER_PUZZLE_HASH"""


def constants(agg_sig_data: bytes) -> ConsensusConstants:
    """Those of the main network, as far as a bundle's cost depends on any."""
    ones = {name: kind(1) for kind, names in ONES.items() for name in names.split()}
    hashes = {name: bytes32(agg_sig_data) for name in HASHES.split()}
    never = uint32(0xFFFFFFFF)
    arguments: dict[str, object] = {
        **ones,
        **hashes,
        "MAX_COIN_AMOUNT": uint64((1 << 64) - 1),
        "MAX_BLOCK_COST_CLVM": uint64(MAX_BLOCK_COST),
        "COST_PER_BYTE": uint64(COST_PER_BYTE),
        "HARD_FORK_HEIGHT": uint32(5_496_000),
        "HARD_FORK2_HEIGHT": never,
        "SOFT_FORK8_HEIGHT": never,
        "SOFT_FORK9_HEIGHT": never,
        "PLOT_FILTER_V2_RELATIVE_HEIGHT": [never] * 9,
        "TESTNET": False,
    }
    return ConsensusConstants(**arguments)  # type: ignore[arg-type]


HEIGHT = 6_000_000
"""After the fork from which on blocks are costed as today."""


def cost_of(bundle: Bundle, agg_sig_data: bytes) -> tuple[int, int, int]:
    """Execution, conditions and all of it, as a mempool counts a bundle."""
    spends = [
        CoinSpend(
            Coin(bytes32(s.coin.parent), bytes32(s.coin.puzzle_hash), uint64(s.coin.amount)),
            Program.from_bytes(s.puzzle),
            Program.from_bytes(s.solution),
        )
        for s in bundle.spends
    ]
    whole = SpendBundle(spends, G2Element.from_bytes(bundle.signature))
    said = get_conditions_from_spendbundle(whole, MAX_BLOCK_COST, constants(agg_sig_data), HEIGHT)
    return said.execution_cost, said.condition_cost, said.cost


def block_cost(bundle: Bundle, agg_sig_data: bytes) -> int:
    """The cost of a block that holds only this bundle, its signature checked."""
    rules = constants(agg_sig_data)
    generator = solution_generator(
        [
            (
                Coin(bytes32(s.coin.parent), bytes32(s.coin.puzzle_hash), uint64(s.coin.amount)),
                s.puzzle,
                s.solution,
            )
            for s in bundle.spends
        ]
    )
    _, _, said = run_block_generator2(
        generator,
        [],
        MAX_BLOCK_COST,
        get_flags_for_height_and_constants(HEIGHT, rules),
        G2Element.from_bytes(bundle.signature),
        None,
        rules,
    )
    assert said is not None
    assert said.validated_signature
    return said.cost
