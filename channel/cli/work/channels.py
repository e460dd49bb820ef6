"""The work of `channelsim channels`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.options import OutputForm
from channelsim.channel.cli.secret_files import given_passphrase
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer_text.channel_overview import (
    overview_lines,
    overview_of_peer,
    overview_without_keys,
)
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.store.data_directory import is_complete, no_channel
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.keys_file import is_encrypted, read_keys, read_terms
from channelsim.channel.store.overview import decode_overview
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.store_copy import copied_store


def show_channels(directory: Path, passphrase_file: Path | None, form: OutputForm) -> int:
    """Show what data directories hold: states, games, coins, and what is due by which height."""
    as_json = form.as_json
    passphrase = given_passphrase(passphrase_file)
    channels, bad = [], list[UsageError]()
    for path in _within(directory):
        try:
            channels.append({"directory": f"{path}", **_overview(path, passphrase)})
        except UsageError as error:
            bad.append(error)
    if channels and as_json:
        print_json({"channels": channels})
    elif channels:
        _show(channels)
    for reason in bad:
        complain(f"{reason}")
    return 2 if bad else 0


def _show(channels: list[dict[str, Any]]) -> None:
    terminal = console()
    for channel in channels:
        say(terminal, f"{channel['directory']}:", "bold")
        for line in overview_lines(channel):
            say(terminal, f"    {line}")


def _within(directory: Path) -> list[Path]:
    if is_complete(directory):
        return [directory]
    try:
        directories = sorted(path for path in directory.iterdir() if is_complete(path))
    except OSError as error:
        raise UsageError(f"{directory}: cannot be read ({error.strerror})") from None
    if not directories:
        raise no_channel(directory)
    return directories


def _overview(directory: Path, passphrase: bytes) -> dict[str, Any]:
    with copied_store(directory) as store:
        if is_encrypted(directory) and not passphrase:
            try:
                data = store.overview()
                stored = decode_overview(data) if data else None
                return overview_without_keys(read_terms(directory), stored)
            except msgspec.DecodeError as error:
                raise UsageError(f"{directory}: damaged: {error}") from None
        peer = Peer(read_keys(directory, passphrase))
        DurablePeer(peer, SealedStore(store, peer.config.secret))
        return overview_of_peer(peer)
