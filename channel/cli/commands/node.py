"""`channelsim node`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

import typer
from chia_wallet_sdk import Address, SecretKey

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.constants import BLOCK_COST, POOL_BLOCKS
from channelsim.channel.chain.control_calls import ControlCalls
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
from channelsim.channel.report.node_log import NodeLog
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
    no_blocks: Annotated[
        bool, typer.Option("--no-blocks", help="Make only the blocks that `chain make` asks for.")
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
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print no log of bundles and blocks.")
    ] = False,
    *,
    form: OutputForm,
) -> int:
    """Serve a full node of a new test chain, with the usual RPC and funded wallets, until Ctrl-C.

    It first prints its URL, the network's genesis challenge and AGG_SIG_ME data, and the wallets,
    and then a line for each bundle and each block that is not empty; with --json, only the first,
    in one line. Without --state, the chain ends with the command. The same seed gives the same
    wallets. Its mempool is as strict as that of a real node. `channelsim chain` makes blocks,
    reorganises, funds addresses, and goes back to snapshots.

    Example: channelsim node --block-on-push
    """
    as_json = form.as_json
    if block_on_push:
        refuse("blocks come with --block-on-push already", block_every=block_every)
    if no_blocks:
        refuse("--no-blocks is given", block_every=block_every, block_on_push=block_on_push)
    address = read_address(listen) if listen is not None else LOCAL
    number = node_seed(seed.encode())
    pool_cost = POOL_BLOCKS * max_block_cost if max_mempool_cost is None else max_mempool_cost
    settings = NodeSettings(mix, max_block_cost, pool_cost, agg_sig_data)
    stored = (
        nullcontext(SimulatedChain(number, settings))
        if state is None
        else stored_chain(state, number, settings)
    )
    with (
        stored as chain,
        polled() as interrupted,
        chain.served(address, ControlCalls(chain).calls) as url,
    ):
        secrets = [derive(seed.encode(), "wallet", number) for number in range(wallets)]
        funded = [_funded(chain, secret) for secret in secrets]
        about = {
            "url": url,
            "genesis_challenge": chain.ledger.genesis_challenge.hex(),
            "agg_sig_data": chain.agg_sig_data().hex(),
            "height": chain.peak(),
            "wallets": funded,
        }
        # The log begins before anyone can know the address.
        log = None if as_json or quiet else NodeLog(chain)
        _show(about, as_json=as_json)
        if block_on_push:
            is_due = _when_pushed(chain)
        elif no_blocks:
            is_due = _never
        else:
            is_due = _each(block_every or BLOCK_TIME)
        pause = min(POLL_TIME, block_every or POLL_TIME)
        while not interrupted():
            sleep(pause)
            if is_due():
                chain.farm()
            if log is not None:
                _show_lines(log.taken())
        if log is not None:
            _show_lines(log.end())
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


def _when_pushed(chain: SimulatedChain) -> Callable[[], bool]:
    """A block is due whenever a bundle is pending."""
    return lambda: chain.pending_count() > 0


def _never() -> bool:
    """No block is due but those that are asked for."""
    return False


def _each(seconds: float) -> Callable[[], bool]:
    """A block is due every so many seconds."""
    due = monotonic() + seconds

    def is_due() -> bool:
        """True once for each block that is due; late ones are not made up for."""
        nonlocal due
        now = monotonic()
        if now < due:
            return False
        due = max(due + seconds, now)
        return True

    return is_due


def _show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(console(), line)


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
