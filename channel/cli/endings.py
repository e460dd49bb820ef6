"""End a channel from its data directory: for `close` and `recover`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.nodes import (
    check_network,
    nodes_at,
    nodes_of,
    wait_until_synced,
)
from channelsim.channel.cli.option_groups import EndingOptions
from channelsim.channel.cli.running import (
    fee_limits,
    has_ended,
    line_printer,
    report_trouble,
    with_link,
)
from channelsim.channel.cli.secret_files import passphrase_of
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import Pairing, read_identity
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer_text.last_lines import (
    end_of_channel,
    publishing_notice,
    waiting_notice,
)
from channelsim.channel.peer_text.peer_lines import PeerLines
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.ending_player import EndingPlayer, nothing_left
from channelsim.channel.session.fee_maxima import changed_limits
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.session_events import BlockMade
from channelsim.channel.session.setup import check_policy
from channelsim.channel.session.side_player import by_policy
from channelsim.channel.store.data_directory import (
    is_complete,
    no_channel,
    opened,
    read_settings,
)
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.channel.watch.watch_data import FOLDER


def end_channel(options: EndingOptions, reason: str | None, *, publish_old: bool = False) -> int:
    """End a channel, to the last payout, on chain for this reason, or with the other side (None).

    `publish_old` publishes the newest state of an old copy of the store. Returns the exit code.
    """
    directory = options.channel.directory
    if not is_complete(directory):
        raise no_channel(directory)
    if read_settings(directory).adversary:
        raise UsageError(
            f"{directory}: an adversary stores nothing: there is nothing to close here"
        )
    chain = nodes_at(nodes_of(directory, options.channel.nodes))
    passphrase = passphrase_of(directory, options.channel.passphrase_file)
    with closing(chain), opened(directory, passphrase) as data:
        wait_until_synced(chain, patient=True)
        check_network(chain, data.config.agg_sig_data)
        if options.policy is not None:
            check_policy(options.policy, data.settings.games)
        lines = PeerLines(data.config.side, line_printer(as_json=options.channel.form.as_json))
        peer = Peer(data.config)
        with (
            closing(WatchedPeer(DurablePeer(peer, data.store), directory / FOLDER)) as actor,
            closing(DeckThreads()) as decks,
            polled() as interrupted,
        ):
            limits = changed_limits(peer, fee_limits(options.channel.fees), directory)
            lines(BlockMade(peer.state.block.peak))
            _check_copy(directory, peer, lines, publish=publish_old, alone=reason is not None)
            decide = by_policy(options.policy or data.settings.policy, data.config.secret)
            runner = PeerRunner(
                peer,
                actor,
                chain,
                EndingPlayer(peer, decide, reason, old_copy=publish_old),
                decks,
                [lines],
                poll_time=options.every,
                fee_limits=limits,
                on_trouble=report_trouble,
            )
            if reason is None:
                pairing = Pairing(read_identity(directory, passphrase), data.settings.counterparty)
                work = with_link(runner, data, pairing, lines)
            else:
                work = runner.run(nothing_left)
            ended = has_ended(work, interrupted, lines)
        if not ended:
            return exit_code()
        lines.add("Ended", end_of_channel(directory, data.config, peer.state, chain).text)
        return 0


def _check_copy(
    directory: Path, peer: Peer, lines: PeerLines, *, publish: bool, alone: bool
) -> None:
    """Warn of what an old copy of the store does: it waits, or is published if `publish` says so.

    `alone`: the other side is not asked. Raises `UsageError` for a store that is not known to be
    an old copy, and if the person at the terminal does not want it published.
    """
    if publish:
        notice = publishing_notice(directory, peer.state)
        if notice is not None:
            complain(notice)
            if not _confirmed(f"publish state {peer.play.newest.state.number}?"):
                raise UsageError(f"{directory}: not confirmed: nothing was published")
    elif alone:
        waits = waiting_notice(peer.state)
        if waits is not None:
            lines.add("OldCopy", waits)


def _confirmed(question: str) -> bool:
    """Ask the person at the terminal; in a script the option itself is the answer."""
    if not sys.stdin.isatty():
        return True
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
