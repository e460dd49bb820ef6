"""The work of `channelsim node`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from time import monotonic, sleep
from typing import Any

from chia_wallet_sdk import Address, SecretKey

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.constants import (
    POOL_BLOCKS,
)
from channelsim.channel.chain.control_calls import ControlCalls
from channelsim.channel.chain.rpc_server import LOCAL, read_address
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.cli.commands.node import BLOCK_TIME, ServeOptions
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.protocol.wallet import address_of, wallet_key, wallet_seed
from channelsim.channel.report.node_log import NodeLog
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.session.identity import node_seed
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.games.amounts import counted

POLL_TIME = 0.05
"""Seconds between two looks at the mempool."""


def serve(options: ServeOptions) -> int:
    """Serve a full node of a test chain, with funded wallets, until Ctrl-C."""
    as_json = options.form.as_json
    address = read_address(options.listen) if options.listen is not None else LOCAL
    number = node_seed(options.seed.encode())
    pool_cost = (
        POOL_BLOCKS * options.max_block_cost
        if options.max_mempool_cost is None
        else options.max_mempool_cost
    )
    settings = NodeSettings(options.mix, options.max_block_cost, pool_cost, options.agg_sig_data)
    stored = (
        nullcontext(SimulatedChain(number, settings))
        if options.state is None
        else stored_chain(options.state, number, settings)
    )
    with (
        stored as chain,
        polled() as interrupted,
        chain.served(address, ControlCalls(chain).calls) as url,
    ):
        secrets = [
            derive(options.seed.encode(), "wallet", number) for number in range(options.wallets)
        ]
        funded = [_funded(chain, secret) for secret in secrets]
        about = {
            "url": url,
            "genesis_challenge": chain.ledger.genesis_challenge.hex(),
            "agg_sig_data": chain.agg_sig_data().hex(),
            "height": chain.peak(),
            "wallets": funded,
        }
        # The log begins before anyone can know the address.
        log = None if as_json or options.quiet else NodeLog(chain)
        _show(about, as_json=as_json)
        if options.block_on_push:
            is_due = _when_pushed(chain)
        elif options.no_blocks:
            is_due = _never
        else:
            is_due = _each(options.block_every or BLOCK_TIME)
        pause = min(POLL_TIME, options.block_every or POLL_TIME)
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
