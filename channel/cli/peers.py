"""One side of a channel in this process, for `peer listen` and `peer connect`."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import asdict

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan
from channelsim.channel.adversaries.linked import LinkedAdversary
from channelsim.channel.adversaries.registry import get
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.rpc_server import read_address
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.cli.disputes import adversary_and_step
from channelsim.channel.cli.new_channel import (
    begin_channel,
    policies_of,
)
from channelsim.channel.cli.nodes import (
    check_network,
    nodes_at,
    nodes_of,
    wait_until_synced,
)
from channelsim.channel.cli.option_groups import PeerOptions
from channelsim.channel.cli.options import (
    refuse,
)
from channelsim.channel.cli.prompt import Prompt
from channelsim.channel.cli.running import (
    fee_limits,
    has_ended,
    line_printer,
    report_trouble,
    with_link,
)
from channelsim.channel.cli.secret_files import passphrase_of
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import Pairing, read_identity
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer_text.last_lines import check_unfunded, end_of_peer
from channelsim.channel.peer_text.peer_lines import PeerLines
from channelsim.channel.protocol.state import Side
from channelsim.channel.report.terminal import console
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.fee_maxima import NOT_GIVEN, changed_limits
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.peer_runner import PeerRunner, begins_with_link
from channelsim.channel.session.session_events import BlockMade, Listener
from channelsim.channel.session.setup import (
    ASK,
    NAMES,
    Setup,
    check,
)
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.store.data_directory import (
    DataDirectory,
    NodeAddress,
    Settings,
    is_complete,
    opened,
    read_settings,
    write_settings,
)
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.channel.system.line_input import LineInput
from channelsim.channel.watch.watch_data import FOLDER
from channelsim.games.chance import Chance


def run_peer(side: Side, address: str | None, options: PeerOptions) -> int:
    """Play one side, from the beginning or from where its directory is; the exit code.

    The receiver listens at `address`, to which the initiator connects; None: as in the settings.
    """
    directory = options.channel.directory
    going_on = is_complete(directory)
    if going_on and (options.adversary is not None or read_settings(directory).adversary):
        raise UsageError(f"{directory}: an adversary stores nothing: name a new directory for it")
    if options.adversary is not None:
        adversary_and_step(options.adversary)
    passphrase = passphrase_of(directory, options.channel.passphrase_file)
    nodes = nodes_of(directory, options.channel.nodes)
    with closing(nodes_at(nodes)) as chain:
        if not going_on:
            begin_channel(side, address, options, nodes, chain, passphrase)
        else:
            terms = asdict(options.terms)
            given = {**terms.pop("stakes"), **terms}
            refuse(f"{directory} has a channel already, with terms of its own", **given)
            if address is not None:
                read_address(address)
        with opened(directory, passphrase) as data:
            if data.config.side is not side:
                other = "connect" if side is Side.RECEIVER else "listen"
                raise UsageError(f"{directory}: this is the {data.config.name}: `peer {other}`")
            wait_until_synced(chain, patient=going_on)
            check_network(chain, data.config.agg_sig_data)
            pairing = Pairing(read_identity(directory, passphrase), data.settings.counterparty)
            settings = _change_settings(data, address, options.policy, nodes)
            data = dataclasses.replace(data, settings=settings)
            fees = fee_limits(options.channel.fees) if going_on else NOT_GIVEN
            return _play(data, chain, pairing, fees, as_json=options.channel.form.as_json)


def _play(
    data: DataDirectory, chain: SeveralNodes, pairing: Pairing, fees: FeeLimits, *, as_json: bool
) -> int:
    """Run the peer of a directory until the channel has ended, or an interrupt; the exit code."""
    config, setup = data.config, setup_of(data.config, data.settings)
    lines = PeerLines(config.side, line_printer(as_json=as_json))
    peer, typed = Peer(config), LineInput()
    with ExitStack() as stack:
        actor = stack.enter_context(_actor(peer, data, chain, setup.games))
        decks = stack.enter_context(closing(DeckThreads()))
        stack.callback(typed.stop)
        lines(BlockMade(peer.state.block.peak))
        player, follows = _player(peer, setup, data.settings.policy, typed, as_json=as_json)
        runner = PeerRunner(
            peer,
            actor,
            chain,
            player,
            decks,
            [lines, *follows],
            waits_for_link=begins_with_link(peer),
            fee_limits=changed_limits(peer, fees, data.path),
            on_trouble=report_trouble,
        )
        with polled() as interrupted:
            work = with_link(runner, data, pairing, lines, f", as {pairing.identity.fingerprint}")
            if not has_ended(work, interrupted, lines):
                return exit_code()
    end = end_of_peer(setup, peer.state, config.side)
    if end.unplayed:
        lines.add("HandsUnplayed", end.unplayed, **end.account)
    lines.add("Ended", end.text)
    if peer.phase is Phase.FAILED:
        check_unfunded(data.path, peer.state, chain.coin(config.wallet.coin.id))
    return exit_code(False, failed=end.failed)


def _actor(
    peer: Peer, data: DataDirectory, chain: SeveralNodes, games: tuple[str, ...]
) -> AbstractContextManager[Actor]:
    """The peer with its store, or the adversary that the settings name."""
    if not data.settings.adversary:
        return closing(WatchedPeer(DurablePeer(peer, data.store), data.path / FOLDER))
    name, step = adversary_and_step(data.settings.adversary)
    adversary: type[Adversary] = get(name)
    chance = Chance(derive(peer.config.secret, "adversary"))
    at = adversary.default_step if step is None else step
    plan = Plan(at, chance, chain, _never, games)
    return nullcontext(LinkedAdversary(adversary(peer, plan)))


def _player(
    peer: Peer, setup: Setup, policy: str, typed: LineInput, *, as_json: bool
) -> tuple[SidePlayer, list[Listener]]:
    """The player with this policy, or the person whose input is typed, who follows the hands."""
    if policy != ASK:
        return SidePlayer(setup, peer, by_policy(policy, peer.config.secret)), []
    out = console(stderr=as_json)
    side = peer.config.side
    prompt = Prompt(out, NAMES[side], NAMES[side.other], setup.games, typed)
    person = SidePlayer(
        setup,
        peer,
        lambda game, game_id, player: prompt.decide(game, player),
        lambda number: prompt.another(number, setup.game(number)),
    )
    return person, [prompt.follow]


def _never(back: int, bundle: Bundle | None = None) -> bool:
    """Replace no blocks: this is a real node."""
    return False


def setup_of(config: Config, settings: Settings) -> Setup:
    """The session that a data directory is of. Raises `UsageError`."""
    return check(
        Setup(
            games=settings.games,
            seed="",
            hands=settings.hands,
            unit=settings.unit,
            stack=settings.stack,
            balance=config.agreement.contributions[config.side],
            policies=policies_of(config.side, settings.policy, settings.games),
            confirmations=config.agreement.confirmations,
            unroll_timeout=config.agreement.unroll_timeout,
            game_timeout=settings.game_timeout,
            rotation=settings.rotation or None,
            spacing=config.agreement.spacing,
        )
    )


def _change_settings(
    data: DataDirectory,
    address: str | None,
    policy: str | None,
    nodes: tuple[NodeAddress, ...],
) -> Settings:
    """Take over what may change, in a directory that no other process has. Raises `UsageError`."""
    before = data.settings
    after = replace(
        before,
        node=nodes[0],
        more_nodes=nodes[1:],
        policy=policy or before.policy,
        address=address or before.address,
    )
    setup_of(data.config, after)
    if after != before:
        write_settings(data.path, after)
    return after
