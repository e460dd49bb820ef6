"""`channelsim peer listen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.nodes import Certificate, NodeKey, NodeUrl
from channelsim.channel.cli.options import (
    InText,
    Json,
    MaxFee,
    MaxFees,
    file_argument,
    json_wanted,
)
from channelsim.channel.cli.passphrases import PassphraseFile
from channelsim.channel.cli.peers import (
    AdversaryName,
    Balance,
    Counterparty,
    Games,
    GameTimeout,
    Hands,
    MostBytes,
    MostStates,
    PeerOptions,
    Policy,
    Spacing,
    Stack,
    Unit,
    UnrollTimeout,
    WalletKey,
    run_peer,
)
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.protocol.state import Side


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where to listen (a free local port)."),
    ] = None,
    node: NodeUrl = None,
    cert: Certificate = None,
    key: NodeKey = None,
    peer: Counterparty = None,
    wallet_key: WalletKey = None,
    game: Games = None,
    hands: Hands = None,
    unit: Unit = None,
    stack: Stack = None,
    balance: Balance = None,
    spacing: Spacing = None,
    unroll_timeout: UnrollTimeout = None,
    game_timeout: GameTimeout = None,
    most_states: MostStates = None,
    most_bytes: MostBytes = None,
    max_fee: MaxFee = None,
    max_fees: MaxFees = None,
    policy: Policy = None,
    adversary: AdversaryName = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: InText = False,
) -> int:
    """Play the receiver, who waits for the initiator to connect, until the channel has ended.

    A new DIR needs --node, --peer, --game and --wallet-key. A DIR that has a channel resumes it,
    even after a kill; only the address, the node, the policy and the maxima of fees can then be
    changed. It prints each event; with --json, as a line of JSON. Exit code 1: the channel did not
    end by a clean shutdown.

    Example: channelsim peer listen bob --node URL --peer HEX --game {game} --wallet-key FILE
    """
    options = PeerOptions(
        address=address,
        nodes=node,
        certificates=cert,
        keys=key,
        counterparty=peer,
        wallet_key=wallet_key,
        games=game,
        hands=hands,
        unit=unit,
        stack=stack,
        balance=balance,
        spacing=spacing,
        unroll_timeout=unroll_timeout,
        game_timeout=game_timeout,
        most_states=most_states,
        most_bytes=most_bytes,
        fees=FeeLimits(max_fee, max_fees),
        policy=policy,
        adversary=adversary,
        passphrase_file=passphrase_file,
    )
    return run_peer(Side.RECEIVER, directory, options, as_json=json_wanted(json, text))
