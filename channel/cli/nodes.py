"""Options of commands that use full nodes: their URLs, and the client's certificates and keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Annotated

import typer

from channelsim.channel.chain.full_node import Credentials, NodeError, NodeSyncing, RpcChain
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.rpc import PATIENCE, Patience
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.options import LONGEST, file_option
from channelsim.channel.errors import UsageError
from channelsim.channel.store.data_directory import MOST_NODES, NodeAddress

NodeUrl = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="URL",
        help="The RPC of a full node, as `channelsim node` has. Of several, the first that answers"
        " is read, and spends are pushed to all.",
    ),
]
Certificate = Annotated[
    list[Path] | None,
    file_option(
        "The client's certificate (PEM), if the node wants one: one for all https nodes, or one"
        " for each.",
        "--cert",
    ),
]
NodeKey = Annotated[list[Path] | None, file_option("The client's key (PEM), likewise.", "--key")]

HASTY = Patience(attempts=2)
"""Limits of a call to one of several nodes: there is another one to ask."""

PAUSE = 1.0
"""Seconds between two questions to a node that is syncing."""


def node_addresses(
    urls: Sequence[str] | None, certificates: Sequence[Path] | None, keys: Sequence[Path] | None
) -> tuple[NodeAddress, ...]:
    """The addresses of the nodes that options name. Raises `UsageError`.

    >>> node_addresses(["http://a:1", "https://b:2"], [Path("/c")], [Path("/k")])
    (NodeAddress(url='http://a:1', certificate='', key=''), \
NodeAddress(url='https://b:2', certificate='/c', key='/k'))
    """
    pairs = list(zip(certificates or (), keys or (), strict=False))
    if not len(pairs) == len(certificates or ()) == len(keys or ()):
        raise UsageError("--cert and --key: both, or neither")
    if len(urls or ()) > MOST_NODES:
        raise UsageError(f"--node: at most {MOST_NODES} nodes")
    secure = sum(not url.startswith("http://") for url in urls or ())
    if len(pairs) > 1 and len(pairs) != secure:
        raise UsageError(
            "--cert and --key: one pair for all nodes with https, or a pair for each of them"
        )
    addresses = []
    for url in urls or ():
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
