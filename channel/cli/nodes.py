"""Full nodes that commands use: their addresses, their network, and whether they are synced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep

from channelsim.channel.chain.full_node import Credentials, NodeError, NodeSyncing, RpcChain
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.rpc import PATIENCE, Patience
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.option_groups import NodeOptions
from channelsim.channel.cli.options import LONGEST
from channelsim.channel.errors import UsageError
from channelsim.channel.store.data_directory import (
    MOST_NODES,
    NodeAddress,
    is_complete,
    read_settings,
)

HASTY = Patience(attempts=2)
"""Limits of a call to one of several nodes: there is another one to ask."""

PAUSE = 1.0
"""Seconds between two questions to a node that is syncing."""


def nodes_of(directory: Path, options: NodeOptions) -> tuple[NodeAddress, ...]:
    """The nodes that options name, or else those of the directory's settings."""
    stored = read_settings(directory).nodes if is_complete(directory) else ()
    if options.node or not any(address.url for address in stored):
        return node_addresses(options)
    if not options.cert and not options.key:
        return stored
    return node_addresses(replace(options, node=[address.url for address in stored]))


def node_addresses(options: NodeOptions) -> tuple[NodeAddress, ...]:
    """The addresses of the nodes that options name. Raises `UsageError`.

    >>> urls = ["http://a:1", "https://b:2"]
    >>> node_addresses(NodeOptions(node=urls, cert=[Path("/c")], key=[Path("/k")]))
    (NodeAddress(url='http://a:1', certificate='', key=''), \
NodeAddress(url='https://b:2', certificate='/c', key='/k'))
    """
    urls, certificates, keys = options.node or (), options.cert or (), options.key or ()
    pairs = list(zip(certificates, keys, strict=False))
    if not len(pairs) == len(certificates) == len(keys):
        raise UsageError("--cert and --key: both, or neither")
    if len(urls) > MOST_NODES:
        raise UsageError(f"--node: at most {MOST_NODES} nodes")
    secure = sum(not url.startswith("http://") for url in urls)
    if len(pairs) > 1 and len(pairs) != secure:
        raise UsageError(
            "--cert and --key: one pair for all nodes with https, or a pair for each of them"
        )
    addresses = []
    for url in urls:
        check_url(url)
        certificate = key = ""
        if pairs and not url.startswith("http://"):
            pair = pairs.pop(0) if len(pairs) > 1 else pairs[0]
            certificate, key = (str(file.resolve()) for file in pair)
        addresses.append(NodeAddress(url, certificate, key))
    return tuple(addresses)


def check_url(url: str) -> None:
    """Raises `UsageError` for a URL that is none of a node."""
    if not re.match(r"https?://[^/]", url):
        raise UsageError(f"--node {url[:LONGEST]}: the URL of a node is http(s)://HOST:PORT")


def nodes_at(addresses: Sequence[NodeAddress]) -> SeveralNodes:
    """The nodes at these addresses. Raises `UsageError`."""
    if not addresses:
        raise UsageError(
            "--node: name the URL of a full node; `channelsim node` starts one for tests"
        )
    patience = PATIENCE if len(addresses) == 1 else HASTY
    return SeveralNodes(
        [RpcChain(address.url, _credentials(address), patience) for address in addresses]
    )


def _credentials(address: NodeAddress) -> Credentials | None:
    if not address.certificate:
        return None
    return Credentials(Path(address.certificate), Path(address.key))


def check_network(chain: Chain, agg_sig_data: bytes) -> None:
    """Raises `UsageError` if a node is on another network than the channel with these data."""
    if chain.agg_sig_data() != agg_sig_data:
        raise UsageError("--node: it is on another network than the channel")


def wait_until_synced(chain: Chain, *, patient: bool = False) -> None:
    """Wait while nodes are syncing, and print how far they are.

    With `patient`, also while no node can be asked: a channel has money that may be at risk, and a
    machine may start its node after its peers. Otherwise that raises `NodeError`.
    """
    told, missed = "", False
    while True:
        try:
            chain.peak()
        except NodeSyncing as error:
            if told != f"{error}":
                told = f"{error}"
                complain(f"{told}; waiting for it")
        except NodeError as error:
            if not patient:
                raise
            missed = True
            if told != f"{error}":
                told = f"{error}"
                complain(f"{told}; asking again")
        else:
            if missed:
                complain("the node answers again")
            return
        sleep(PAUSE)
