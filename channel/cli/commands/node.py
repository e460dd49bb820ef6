"""`channelsim node`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

import typer
from chia_wallet_sdk import Address, SecretKey

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.constants import BLOCK_COST, POOL_BLOCKS
from channelsim.channel.chain.rpc_server import LOCAL, read_address
from channelsim.channel.chain.simulator import (
    LEAST_BLOCK_COST,
    MOST_POOL_COST,
    NodeSettings,
    SimulatedChain,
)
from channelsim.channel.cli.options import (
    Mix,
    OutputForm,
    Seed,
    file_option,
    hash_of,
    real,
    refuse,
    whole,
)
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.protocol.wallet import address_of, wallet_key, wallet_seed
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.session.identity import node_seed
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.games.amounts import counted

BLOCK_TIME = 2.0
"""Seconds from one block to the next, unless the user chooses."""

POLL_TIME = 0.05
"""Seconds between two looks at the mempool."""

MOST_WALLETS = 1000


def command(
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where to listen (a free port of this machine)."),
    ] = None,
    block_every: Annotated[
        float | None, real(0.01, 86_400, f"Make a block every so many seconds ({BLOCK_TIME:g}).")
    ] = None,
    block_on_push: Annotated[
        bool, typer.Option("--block-on-push", help="Make a block whenever a bundle is pending.")
    ] = False,
    wallets: Annotated[int, whole(0, MOST_WALLETS, "How many funded wallets to print.")] = 2,
    mix: Mix = False,
    max_block_cost: Annotated[
        int, whole(LEAST_BLOCK_COST, BLOCK_COST, "The most that a block's spends may cost.")
    ] = BLOCK_COST,
    max_mempool_cost: Annotated[
        int | None,
        whole(
            LEAST_BLOCK_COST,
            MOST_POOL_COST,
            f"The most that the mempool's bundles may cost ({POOL_BLOCKS} blocks).",
        ),
    ] = None,
    agg_sig_data: Annotated[
        bytes | None,
        typer.Option(
            parser=hash_of,
            metavar="HEX",
            help="What signatures on this network are for (AGG_SIG_ME); the genesis challenge.",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        file_option("Store the chain in this file, and continue a chain that it holds."),
    ] = None,
    seed: Seed = "node",
    *,
    form: OutputForm,
) -> int:
    """Serve a full node of a new test chain, with the usual RPC and funded wallets, until Ctrl-C.

    It first prints its URL, the network's genesis challenge and AGG_SIG_ME data, and the wallets;
    with --json, in one line. Without --state, the chain ends with the command. The same seed gives
    the same wallets. Its mempool is as strict as that of a real node.

    Example: channelsim node --block-on-push
    """
    as_json = form.as_json
    if block_on_push:
        refuse("blocks come with --block-on-push already", block_every=block_every)
    address = read_address(listen) if listen is not None else LOCAL
    number = node_seed(seed.encode())
    pool_cost = POOL_BLOCKS * max_block_cost if max_mempool_cost is None else max_mempool_cost
    settings = NodeSettings(mix, max_block_cost, pool_cost, agg_sig_data)
    stored = (
        nullcontext(SimulatedChain(number, settings))
        if state is None
        else stored_chain(state, number, settings)
    )
    with stored as chain, polled() as interrupted, chain.served(address) as url:
        secrets = [derive(seed.encode(), "wallet", number) for number in range(wallets)]
        funded = [_funded(chain, secret) for secret in secrets]
        about = {
            "url": url,
            "genesis_challenge": chain.ledger.genesis_challenge.hex(),
            "agg_sig_data": chain.agg_sig_data().hex(),
            "height": chain.peak(),
            "wallets": funded,
        }
        _show(about, as_json=as_json)
        _make_blocks(chain, None if block_on_push else block_every or BLOCK_TIME, interrupted)
    return exit_code()


def _funded(chain: SimulatedChain, secret: bytes) -> dict[str, Any]:
    """A wallet with a coin, as JSON data; one of a stored chain has the coins that are left."""
    key = wallet_key(secret, "wallet")
    puzzle_hash = address_of(key)
    if not chain.had(puzzle_hash):
        chain.give(puzzle_hash, 1)
    coins = sorted(
        (seen.coin for seen in chain.coins_at(puzzle_hash)), key=lambda coin: coin.amount
    )
    return {
        "address": Address(puzzle_hash, "txch").encode(),
        "puzzle_hash": puzzle_hash.hex(),
        "secret_key": SecretKey.from_seed(wallet_seed(secret, "wallet")).to_bytes().hex(),
        "synthetic_secret_key": bytes(key).hex(),
        "coin": coins[-1].id.hex() if coins else None,
        "mojos": sum(coin.amount for coin in coins),
    }


def _make_blocks(
    chain: SimulatedChain, seconds: float | None, interrupted: Callable[[], bool]
) -> None:
    """Make a block every so many seconds, or (None) whenever a bundle is pending."""
    due = monotonic() + (seconds or 0.0)
    while not interrupted():
        sleep(min(POLL_TIME, seconds or POLL_TIME))
        if seconds is None:
            if chain.pending_count():
                chain.farm()
        elif monotonic() >= due:
            chain.farm()
            due = max(due + seconds, monotonic())


def _show(about: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json_line(about), flush=True)
        return
    terminal = console()
    say(terminal, f"node: {about['url']} (Ctrl-C stops it)")
    say(terminal, f"genesis challenge: {about['genesis_challenge']}")
    say(terminal, f"AGG_SIG_ME data:   {about['agg_sig_data']}")
    for number, wallet in enumerate(about["wallets"], 1):
        say(terminal, f"wallet {number}: {wallet['address']}, {counted(wallet['mojos'], 'mojo')}")
        say(terminal, f"    puzzle hash          {wallet['puzzle_hash']}")
        say(terminal, f"    secret key           {wallet['secret_key']}")
        say(terminal, f"    synthetic secret key {wallet['synthetic_secret_key']}")
