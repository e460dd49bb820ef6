"""Options of commands that use a full node: its URL, and the client's certificate and key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.chain.full_node import Credentials, RpcChain
from channelsim.channel.cli.options import file_option
from channelsim.channel.errors import UsageError

NodeUrl = Annotated[
    str | None,
    typer.Option("--node", metavar="URL", help="The RPC of a full node, as `channelsim node` has."),
]
Certificate = Annotated[
    Path | None, file_option("The client's certificate (PEM), if the node wants one.", "--cert")
]
NodeKey = Annotated[Path | None, file_option("The client's key (PEM).", "--key")]


def node_of(url: str | None, certificate: Path | None, key: Path | None) -> RpcChain:
    """The node of these options. Raises `UsageError`."""
    if url is None:
        raise UsageError(
            "--node: name the URL of a full node; `channelsim node` starts one for tests"
        )
    if (certificate is None) != (key is None):
        raise UsageError("--cert and --key: both, or neither")
    if certificate is None or key is None:
        return RpcChain(url)
    return RpcChain(url, Credentials(certificate, key))
