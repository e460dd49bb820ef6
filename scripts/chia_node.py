"""A genuine Chia full node for tests: chia-blockchain's simulator, served on loopback alone.

    HOME=… CHIA_ROOT=… CHIA_KEYS_ROOT=… python scripts/chia_node.py CHAIN [OPTIONS]

It runs in a virtual environment that has chia-blockchain, and not this project. The folder
CHIA_ROOT gets a configuration, TLS certificates, a fixed key and small plots; it can be kept for
later runs, but not moved. CHAIN names the chain, which is new or goes on. Once the node answers,
one line of JSON is printed. It ends with SIGTERM, or when its standard input ends. SIGUSR1 lets it
call itself not synced, and synced again the next time.

Nothing listens but the RPC, on a free port unless `--port` is given: no daemon, no wallet. Blocks
are made on demand (`farm_block`). With `--agg-sig-data`, signatures of its network are for these 32
bytes and not for the genesis challenge, as a network's configuration can say. With `--listen`, it
takes other nodes at the announced `peer_port`; `--follow PORT` connects it to such a node, from
which it takes the chain, and with which it shares bundles.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import threading
import time
from pathlib import Path

from chia.apis import StubMetadataRegistry
from chia.cmds.sim_funcs import create_chia_directory, generate_plots, select_fingerprint
from chia.consensus.constants import replace_str_to_bytes
from chia.full_node.full_node import FullNode
from chia.protocols.outbound_message import NodeType
from chia.server import server as node_server
from chia.server.signal_handlers import SignalHandlers
from chia.server.start_service import Service
from chia.simulator.add_blocks_in_batches import add_blocks_in_batches
from chia.simulator.block_tools import BlockTools, test_constants
from chia.simulator.full_node_simulator import FullNodeSimulator
from chia.simulator.simulator_full_node_rpc_api import SimulatorFullNodeRpcApi
from chia.simulator.simulator_protocol import ReorgProtocol
from chia.simulator.start_simulator import PLOT_SIZE, PLOTS
from chia.types.peer_info import UnresolvedPeerInfo
from chia.util.bech32m import decode_puzzle_hash
from chia.util.chia_logging import initialize_logging
from chia.util.config import load_config, override_config
from chia.util.keychain import Keychain
from chia.util.network import WebServer
from chia_rs.sized_ints import uint128

ROOT = Path(os.environ["CHIA_ROOT"]).resolve()

KEY = "abandon " * 23 + "art"
"""The words of the farmer's key: the same plots and the same first coins in every run."""

LOOPBACK = "127.0.0.1"
SECONDS_TO_END = 10
ALONE = "alone"

CONSTANTS = test_constants.replace(DIFFICULTY_CONSTANT_FACTOR=uint128(2**21))
"""Those of the simulator, with plots that win 16 times as often: a block takes half the work."""


class Simulator(FullNodeSimulator):
    """The simulator, which also replaces blocks near the end of a sub-epoch.

    Its own way asks for blocks of the last signage points of a slot alone, and there are none of
    them while a sub-epoch's summary is due: it would try slot after slot without end.
    """

    async def reorg_from_index_to_new_index(self, request: ReorgProtocol) -> None:
        """Replace the blocks above a height by others, up to a new height."""
        blocks = (await self.get_all_full_blocks())[: request.old_index + 1]
        chain = self.bt.get_consecutive_blocks(
            request.new_index - request.old_index,
            farmer_reward_puzzle_hash=request.puzzle_hash,
            pool_reward_puzzle_hash=request.puzzle_hash,
            block_list_input=blocks,
            guarantee_transaction_block=True,
            seed=request.seed or b"",
        )
        await add_blocks_in_batches(chain[len(blocks) :], self.full_node)


def make_root() -> None:
    """Make the configuration, the certificates, the key and the plots, unless they are there.

    A node that starts meanwhile waits for them.
    """
    ROOT.parent.mkdir(parents=True, exist_ok=True)
    with (ROOT.parent / "making").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = ROOT / "complete"
        if complete.exists():
            return
        fingerprint = select_fingerprint(None, KEY, True)
        config = create_chia_directory(ROOT, fingerprint, None, None, False, False)
        asyncio.run(generate_plots(config, ROOT, fingerprint, True))
        complete.touch()


def free_port() -> int:
    """A port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


async def serve(given: argparse.Namespace, announced: int) -> None:
    """Serve the RPC of the node of this chain until SIGTERM."""
    chain, port, agg_sig_data = given.chain, given.port or free_port(), given.agg_sig_data
    # A node does not connect to one with its own certificate.
    ssl = "wallet/public_wallet" if given.follow else "full_node/public_full_node"
    config = override_config(
        load_config(ROOT, "config.yaml"),
        {
            "self_hostname": LOOPBACK,
            "full_node.rpc_port": port,
            "full_node.start_rpc_server": True,
            "full_node.enable_upnp": False,
            "full_node.ssl.public_crt": f"config/ssl/{ssl}.crt",
            "full_node.ssl.public_key": f"config/ssl/{ssl}.key",
            "full_node.database_path": f"db/{chain}.sqlite",
            "simulator.use_current_time": True,
            "simulator.auto_farm": False,
        },
    )
    simulator, own = config["simulator"], config["full_node"]
    tools = BlockTools(
        CONSTANTS,
        ROOT,
        config_overrides={"simulator.use_current_time": True},
        automated_testing=False,
        plot_dir=simulator["plot_directory"],
        keychain=Keychain(),
    )
    if agg_sig_data is not None:
        # Not by the configuration, which other nodes have too.
        changes = {"AGG_SIG_ME_ADDITIONAL_DATA": agg_sig_data}
        tools.constants = replace_str_to_bytes(tools.constants, **changes)
    await tools.setup_keys(
        fingerprint=int(simulator["key_fingerprint"]),
        reward_ph=decode_puzzle_hash(simulator["farming_address"]),
    )
    await tools.setup_plots(
        num_og_plots=PLOTS,
        num_pool_plots=0,
        num_non_keychain_plots=0,
        plot_size=PLOT_SIZE,
        num_v2_plots=PLOTS,
    )
    initialize_logging("full_node", {**own["logging"], "log_stdout": False}, ROOT)
    node = await FullNode.create(config=own, root_path=ROOT, consensus_constants=tools.constants)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, toggle_synced, own)
    # The lock of a service is named after it: nodes of several chains can share a root.
    service = f"full_node_{chain}"
    server = Service(
        root_path=ROOT,
        config={**config, service: own},
        node=node,
        peer_api=Simulator(node, tools, config),
        node_type=NodeType.FULL_NODE,
        advertised_port=0 if given.listen else None,
        connect_peers={UnresolvedPeerInfo(LOOPBACK, port) for port in given.follow},
        service_name=service,
        on_connect_callback=node.on_connect,
        network_id=own["selected_network"],
        rpc_info=(SimulatorFullNodeRpcApi, port),
        connect_to_daemon=False,
        stub_metadata_for_type=StubMetadataRegistry,
    )
    async with SignalHandlers.manage() as signal_handlers:
        await server.setup_process_global_state(signal_handlers=signal_handlers)
        about = {"address": simulator["farming_address"]}
        announcing = asyncio.ensure_future(announce(announced, port, about, node))
        await server.run()
        announcing.cancel()


def toggle_synced(config: dict[str, object]) -> None:
    """Let a node call itself not synced, or synced again.

    One of the simulator's network is always synced, and one of any other network never is without
    other nodes. The name has no other meaning once the node runs.
    """
    network = "simulator0" if config["selected_network"] == ALONE else ALONE
    config["selected_network"] = network


class LoopbackServer(WebServer):
    """The server for other nodes, which are on this machine."""

    @classmethod
    async def create(cls, hostname: str, **settings: object) -> WebServer:
        """Listen on loopback alone, whatever the host."""
        return await super().create(hostname=LOOPBACK, **settings)


async def announce(announced: int, port: int, more: dict[str, str], node: FullNode) -> None:
    """Write how the node is asked to this descriptor, once it listens."""
    while True:
        try:
            _, writer = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        break
    keys = ROOT / "config" / "ssl" / "full_node"
    about = {
        "url": f"https://{LOOPBACK}:{port}",
        "certificate": str(keys / "private_full_node.crt"),
        "key": str(keys / "private_full_node.key"),
        "peer_port": node.server.webserver and node.server.get_port(),
        **more,
    }
    os.write(announced, json.dumps(about).encode() + b"\n")


def end_with_standard_input() -> None:
    """End when whoever started this process has ended, or closes the pipe."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


if __name__ == "__main__":
    # Making plots prints thousands of lines, some past Python: standard output is for one line.
    original = os.dup(1)
    os.dup2(2, 1)
    make_root()
    node_server.WebServer = LoopbackServer
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    parser = argparse.ArgumentParser()
    parser.add_argument("chain")
    parser.add_argument("--port", type=int)
    parser.add_argument("--agg-sig-data")
    parser.add_argument("--listen", action="store_true")
    parser.add_argument("--follow", metavar="PORT", type=int, action="append", default=[])
    asyncio.run(serve(parser.parse_args(), original))
