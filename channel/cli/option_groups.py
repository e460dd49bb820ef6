"""Groups of options that several commands take; each option is declared once.

A command that takes a group has an option for each of its fields, in their order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.cli.options import (
    MOST_MOJOS,
    Jobs,
    Json,
    MaxFee,
    MaxFees,
    NoProgress,
    OutputForm,
    file_argument,
    file_option,
    flag,
    option_group,
    real,
    text,
    whole,
)
from channelsim.channel.protocol.bounds import (
    LEAST_BYTES,
    LEAST_STATES,
    MOST_BYTES,
    MOST_SPACING,
    MOST_STATES,
    MOST_TIMEOUT,
    USUAL_BYTES,
    USUAL_STATES,
)
from channelsim.channel.session.defaults import (
    DEFAULT_HANDS,
    DEFAULT_STACK,
    DEFAULT_TIMEOUT,
    DEFAULT_UNIT,
    MAX_HANDS,
)

PASSPHRASE_VARIABLE = "CHANNELSIM_PASSPHRASE"
"""The variable of the environment that may have the passphrase of a data directory."""

Out = Annotated[
    Path | None,
    file_option("Store the campaign in this folder, so that it can be resumed and viewed."),
]
Resume = Annotated[bool, flag("Resume the campaign in --out.")]
Cluster = Annotated[
    str | None,
    text("Run on a Dask cluster, such as tcp://host:8786.", "ADDRESS"),
]
Directory = Annotated[Path, file_argument("The data directory of one channel.")]
ChainUrl = Annotated[
    str, typer.Option("--node", metavar="URL", help="The URL that `channelsim node` printed.")
]
USUAL_NODE = "http://127.0.0.1:8555"
"""The URL of `channelsim node` where the port is free."""
PassphraseFile = Annotated[
    Path | None,
    file_option(
        f"A file whose first line is the passphrase of DIR (or ${PASSPHRASE_VARIABLE}, or a"
        " prompt).",
        "--passphrase-file",
    ),
]


@option_group
class ReportFiles:
    """The options of checking commands that name report files."""

    junit: Annotated[Path | None, file_option("Write a JUnit report to this file.", "--junit")] = (
        None
    )
    sarif: Annotated[Path | None, file_option("Write a SARIF report to this file.", "--sarif")] = (
        None
    )


NO_REPORTS = ReportFiles()
"""No report is written."""


@option_group
class CampaignOptions:
    """The options that campaigns share."""

    jobs: Jobs = None
    json: Json = False
    reports: ReportFiles = NO_REPORTS
    out: Out = None
    resume: Resume = False
    cluster: Cluster = None
    quiet: NoProgress = False


@option_group
class FuzzCampaign(CampaignOptions):
    """The options of `fuzz`, whose searches for some time have a folder, too."""

    out: Annotated[
        Path | None,
        file_option(
            "The folder of findings (.channelsim/NAME/findings); stored ones are tried first."
        ),
    ] = None


@option_group
class AttackCampaign(CampaignOptions):
    """The options of `attack`, whose searches for some time have a folder, too."""

    out: Annotated[
        Path | None,
        file_option(
            "Store the campaign in this folder, so that it can be resumed and viewed; with"
            " --seconds, its findings, which are tried first."
        ),
    ] = None


@option_group
class SessionFiles:
    """How a session or dispute runs, what it prints, and the files that it writes."""

    form: OutputForm
    transcript: Annotated[
        Path | None, file_option("Write every message, block and decision to this file.")
    ] = None
    report: Annotated[
        Path | None, file_option("Write a page for the browser to this file (.html).")
    ] = None
    processes: Annotated[
        bool,
        flag("Run the node and both peers as processes of their own; the digest is the same."),
    ] = False


@option_group
class NodeOptions:
    """Full nodes by their URLs, and the client's certificates and keys."""

    node: Annotated[
        list[str] | None,
        text(
            "The RPC of a full node, as `channelsim node` has. Of several, the first that"
            " answers is read, and spends are pushed to all.",
            "URL",
        ),
    ] = None
    cert: Annotated[
        list[Path] | None,
        file_option(
            "The client's certificate (PEM), if the node wants one: one for all https nodes, or"
            " one for each."
        ),
    ] = None
    key: Annotated[list[Path] | None, file_option("The client's key (PEM), likewise.")] = None


@option_group
class FeeOptions:
    """The player's maxima of fees; None where the user gave nothing."""

    max_fee: MaxFee = None
    max_fees: MaxFees = None


@option_group
class StakeOptions:
    """How many hands are played, and for how much; None where the user gave nothing."""

    hands: Annotated[int | None, whole(1, MAX_HANDS, f"How many hands ({DEFAULT_HANDS}).")] = None
    unit: Annotated[int | None, whole(1, MOST_MOJOS, f"A unit, in mojos ({DEFAULT_UNIT}).")] = None
    stack: Annotated[
        int | None, whole(1, MOST_MOJOS, f"A player's stake, in units ({DEFAULT_STACK}).")
    ] = None
    balance: Annotated[
        int | None,
        whole(1, MOST_MOJOS, "What each side puts into the channel, in mojos (10 stakes)."),
    ] = None


@option_group
class TermOptions:
    """What a channel that has begun cannot change; None where the user gave nothing."""

    peer: Annotated[
        str | None,
        text("The other side's `peer identity`.", "FINGERPRINT"),
    ] = None
    wallet_key: Annotated[
        Path | None,
        file_option("A file with the secret key of the wallet that pays: 64 hex digits."),
    ] = None
    game: Annotated[
        str | None,
        text("A game, several separated by commas, which take turns, or `horse`."),
    ] = None
    stakes: StakeOptions
    spacing: Annotated[
        int | None,
        whole(
            1,
            MOST_SPACING,
            "What this side multiplies its blocks by, where not every block has transactions"
            f" ({PUBLIC_SPACING} on mainnet and testnet11, {HOME_SPACING} elsewhere).",
        ),
    ] = None
    unroll_timeout: Annotated[
        int | None,
        whole(
            1,
            MOST_TIMEOUT,
            f"The blocks of the unroll timeout ({DEFAULT_TIMEOUT} times the spacing), the same on"
            " both sides.",
        ),
    ] = None
    game_timeout: Annotated[
        int | None,
        whole(
            1,
            MOST_TIMEOUT,
            f"The blocks of the timeout of games ({DEFAULT_TIMEOUT} times the spacing): those that"
            " this side proposes, and the most that it accepts.",
        ),
    ] = None
    most_states: Annotated[
        int | None,
        whole(
            LEAST_STATES,
            MOST_STATES,
            f"The most states of the channel; near that it is closed ({USUAL_STATES}).",
        ),
    ] = None
    most_bytes: Annotated[
        int | None,
        whole(
            LEAST_BYTES,
            MOST_BYTES,
            f"The most bytes that this side keeps of the states ({USUAL_BYTES}).",
        ),
    ] = None


@option_group
class ChannelOptions:
    """The options of commands that run the peer of a data directory."""

    directory: Directory
    nodes: NodeOptions
    fees: FeeOptions
    passphrase_file: PassphraseFile = None
    form: OutputForm


@option_group
class PeerOptions:
    """The options of `peer listen` and `peer connect`."""

    channel: ChannelOptions
    terms: TermOptions
    policy: Annotated[
        str | None,
        text("How this side plays (the game's first policy); with `ask`, you play."),
    ] = None
    adversary: Annotated[
        str | None,
        text(
            "Be this adversary (see `dispute list`), NAME or NAME@STEP, to test another"
            " implementation. It stores nothing, so DIR must be new."
        ),
    ] = None


@option_group
class EndingOptions:
    """The options of `close` and `recover`."""

    channel: ChannelOptions
    policy: Annotated[
        str | None, text("How to finish live games (the policy in the settings).")
    ] = None
    every: Annotated[float, real(0.01, 3600, "Seconds between two queries of the chain.")] = 1.0
