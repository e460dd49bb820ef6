"""One side of a channel in this process, for `peer listen` and `peer connect`."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan, get
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.rpc_server import read_address
from channelsim.channel.chain.several_nodes import SeveralNodes
from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.cli.disputes import adversary_and_step
from channelsim.channel.cli.endings import check_unfunded
from channelsim.channel.cli.fees import NOT_GIVEN, changed_limits
from channelsim.channel.cli.new_channel import NewChannel, begin_channel
from channelsim.channel.cli.nodes import (
    Certificate,
    NodeKey,
    NodeUrl,
    check_network,
    node_addresses,
    nodes_at,
    wait_until_synced,
)
from channelsim.channel.cli.options import (
    MOST_MOJOS,
    MaxFee,
    MaxFees,
    file_option,
    game_names,
    refuse,
    whole,
)
from channelsim.channel.cli.passphrases import PassphraseFile, passphrase_of
from channelsim.channel.cli.prompt import Prompt
from channelsim.channel.cli.running import line_printer, report_trouble, until_interrupted
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import Pairing, read_fingerprint, read_identity
from channelsim.channel.peer.agreement import MOST_SPACING
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.limits import (
    LEAST_BYTES,
    LEAST_STATES,
    MOST_BYTES,
    MOST_STATES,
    Limits,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.proposals import MOST_TIMEOUT
from channelsim.channel.protocol.state import Side
from channelsim.channel.report.peer_lines import PeerLines
from channelsim.channel.report.terminal import console
from channelsim.channel.session.agreed_hands import account_of
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.linked_peer import Place, run_linked
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.session_events import BlockMade
from channelsim.channel.session.setup import (
    ASK,
    DEFAULT_HANDS,
    DEFAULT_STACK,
    DEFAULT_STAKES,
    DEFAULT_TIMEOUT,
    DEFAULT_UNIT,
    NAMES,
    Setup,
    check,
    default_policy,
)
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.simulation.linked_adversary import LinkedAdversary
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
from channelsim.games.rotations import ROTATIONS

LISTEN_ADDRESS = "127.0.0.1:0"


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """The options of both commands; None where the user gave none."""

    node: NodeUrl = None
    cert: Certificate = None
    key: NodeKey = None
    peer: Annotated[
        str | None,
        typer.Option(metavar="FINGERPRINT", help="The other side's `peer identity`."),
    ] = None
    wallet_key: Annotated[
        Path | None,
        file_option("A file with the secret key of the wallet that pays: 64 hex digits."),
    ] = None
    game: Annotated[
        str | None,
        typer.Option(help="A game, several separated by commas, which take turns, or `horse`."),
    ] = None
    hands: Annotated[int | None, whole(1, 100_000, f"How many hands ({DEFAULT_HANDS}).")] = None
    unit: Annotated[int | None, whole(1, MOST_MOJOS, f"A unit, in mojos ({DEFAULT_UNIT}).")] = None
    stack: Annotated[int | None, whole(1, MOST_MOJOS, f"A stake, in units ({DEFAULT_STACK}).")] = (
        None
    )
    balance: Annotated[
        int | None,
        whole(1, MOST_MOJOS, "What each side puts into the channel, in mojos (10 stakes)."),
    ] = None
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
            f"The most states of the channel; near that it is closed ({Limits().states}).",
        ),
    ] = None
    most_bytes: Annotated[
        int | None,
        whole(
            LEAST_BYTES,
            MOST_BYTES,
            f"The most bytes that this side keeps of the states ({Limits().bytes}).",
        ),
    ] = None
    max_fee: MaxFee = None
    max_fees: MaxFees = None
    policy: Annotated[
        str | None,
        typer.Option(help="How this side plays (the game's first policy); with `ask`, you play."),
    ] = None
    adversary: Annotated[
        str | None,
        typer.Option(
            help="Be this adversary (see `dispute list`), NAME or NAME@STEP, to test another"
            " implementation. It stores nothing, so DIR must be new."
        ),
    ] = None
    passphrase_file: PassphraseFile = None


TERMS = (
    *("peer", "wallet_key", "game", "hands", "unit", "stack", "balance", "spacing"),
    *("unroll_timeout", "game_timeout", "most_states", "most_bytes"),
)
"""Options that a channel that has begun cannot change."""


def run_peer(
    side: Side, directory: Path, address: str | None, options: PeerOptions, *, as_json: bool
) -> int:
    """Play one side, from the beginning or from where DIR is; the exit code.

    The receiver listens at `address`, to which the initiator connects; None: as in the settings.
    """
    going_on = is_complete(directory)
    if going_on and (options.adversary is not None or read_settings(directory).adversary):
        raise UsageError(f"{directory}: an adversary stores nothing: name a new directory for it")
    if options.adversary is not None:
        adversary_and_step(options.adversary)
    passphrase = passphrase_of(directory, options.passphrase_file)
    nodes = _node_addresses(directory, options)
    with closing(nodes_at(nodes)) as chain:
        if going_on:
            _refuse_terms(directory, address, options)
        else:
            begin_channel(directory, _new_channel(side, address, options, nodes), chain, passphrase)
        with opened(directory, passphrase) as data:
            if data.config.side is not side:
                other = "connect" if side is Side.RECEIVER else "listen"
                raise UsageError(f"{directory}: this is the {data.config.name}: `peer {other}`")
            wait_until_synced(chain)
            check_network(chain, data.config.agg_sig_data)
            pairing = Pairing(read_identity(directory, passphrase), data.settings.counterparty)
            settings = _change_settings(data, address, options, nodes)
            data = dataclasses.replace(data, settings=settings)
            fees = FeeLimits(options.max_fee, options.max_fees) if going_on else NOT_GIVEN
            return _Process(data, chain, pairing, fees, as_json=as_json).run()


class _Process:
    """The process of one side."""

    def __init__(
        self,
        directory: DataDirectory,
        chain: SeveralNodes,
        pairing: Pairing,
        fees: FeeLimits,
        *,
        as_json: bool,
    ) -> None:
        self._directory = directory
        self._chain = chain
        self._pairing = pairing
        self._as_json = as_json
        config, settings = directory.config, directory.settings
        self._setup = setup_of(config, settings)
        self._lines = PeerLines(config.side, line_printer(as_json=as_json))
        self._input = LineInput()
        self._decks = DeckThreads()
        self._peer = Peer(config)
        self._open = ExitStack()
        actor = self._actor(settings.adversary, chain)
        self._lines(BlockMade(self._peer.state.block.peak))
        self._runner = PeerRunner(
            self._peer,
            actor,
            chain,
            self._player(),
            self._decks,
            [self._lines],
            waits_for_link=config.side is Side.INITIATOR and self._peer.state.block.peak == 0,
            fee_limits=changed_limits(self._peer, fees, directory.path),
            on_trouble=report_trouble,
        )

    def run(self) -> int:
        """Run until the channel has ended, or an interrupt; the exit code."""
        try:
            with polled() as interrupted:
                ended = asyncio.run(self._run(interrupted))
        finally:
            self._input.stop()
            self._decks.close()
            self._open.close()
        state = self._peer.state
        if not ended:
            self._lines.add("Interrupted", "stopped; start again with the same DIR to go on")
            return exit_code()
        clean = state.closed is not None and state.play is not None
        balances = f"; balances {list(state.play.state.balances)}" if clean and state.play else ""
        account = account_of(self._setup, state, self._peer.config.side)
        if account.reason:
            self._lines.add("HandsUnplayed", str(account), **asdict(account))
        self._lines.add("Ended", f"{state.phase.value}{balances}")
        if state.phase is Phase.FAILED:
            check_unfunded(self._directory.path, self._peer, self._chain)
        return exit_code(False, failed=state.closed is None or account.failed)

    async def _run(self, interrupted: Callable[[], bool]) -> bool:
        settings = self._directory.settings
        place = Place(read_address(settings.address), settings.listens)
        work = run_linked(self._runner, place, self._pairing, self._tell, self._bound)
        return await until_interrupted(work, interrupted)

    def _actor(self, name: str, chain: SeveralNodes) -> Actor:
        if not name:
            durable = DurablePeer(self._peer, self._directory.store)
            watched = WatchedPeer(durable, self._directory.path / FOLDER)
            return self._open.enter_context(closing(watched))
        kind, step = adversary_and_step(name)
        adversary: type[Adversary] = get(kind)
        chance = Chance(derive(self._peer.config.secret, "adversary"))
        at = adversary.default_step if step is None else step
        return LinkedAdversary(adversary(self._peer, Plan(at, chance, chain, _never)))

    def _player(self) -> SidePlayer:
        side, settings = self._peer.config.side, self._directory.settings
        if settings.policy != ASK:
            decide = by_policy(settings.policy, self._peer.config.secret)
            return SidePlayer(self._setup, self._peer, decide)
        out = console(stderr=self._as_json)
        prompt = Prompt(out, NAMES[side.other], self._setup.games, self._input)
        return SidePlayer(
            self._setup,
            self._peer,
            lambda game, game_id, player: prompt.decide(game, player),
            lambda number: prompt.another(number, self._setup.game(number)),
        )

    def _bound(self, address: tuple[str, int]) -> None:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        fingerprint = self._pairing.identity.fingerprint
        self._lines.add("Listening", f"listening at {host}:{address[1]}, as {fingerprint}")

    def _tell(self, line: str) -> None:
        self._lines.add("Link", line)


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
            policies=_policies(config.side, settings.policy, settings.games),
            confirmations=config.agreement.confirmations,
            unroll_timeout=config.agreement.unroll_timeout,
            game_timeout=settings.game_timeout,
            rotation=settings.rotation or None,
            spacing=config.agreement.spacing,
        )
    )


def _policies(side: Side, ours: str, games: tuple[str, ...]) -> tuple[str, str]:
    """Our policy, and any for the other side."""
    pair = [default_policy(games)] * 2
    pair[side] = ours
    return pair[0], pair[1]


def _node_addresses(directory: Path, options: PeerOptions) -> tuple[NodeAddress, ...]:
    if not options.node and is_complete(directory):
        refuse("give --node as well", cert=options.cert or None, key=options.key or None)
        return read_settings(directory).nodes
    return node_addresses(options.node, options.cert, options.key)


def _refuse_terms(directory: Path, address: str | None, options: PeerOptions) -> None:
    """Refuse what cannot be changed: the terms of a channel."""
    refuse(
        f"{directory} has a channel already, with terms of its own",
        **{name: getattr(options, name) for name in TERMS},
    )
    if address is not None:
        read_address(address)


def _change_settings(
    data: DataDirectory,
    address: str | None,
    options: PeerOptions,
    nodes: tuple[NodeAddress, ...],
) -> Settings:
    """Take over what may change, in a directory that no other process has. Raises `UsageError`."""
    before = data.settings
    after = replace(
        before,
        node=nodes[0],
        more_nodes=nodes[1:],
        policy=options.policy or before.policy,
        address=address or before.address,
    )
    setup_of(data.config, after)
    if after != before:
        write_settings(data.path, after)
    return after


def _new_channel(
    side: Side, address: str | None, options: PeerOptions, nodes: tuple[NodeAddress, ...]
) -> NewChannel:
    """The channel that the options of a first start describe. Raises `UsageError`."""
    if options.peer is None or options.wallet_key is None or options.game is None:
        raise UsageError("a new DIR needs --peer, --wallet-key and --game (see --help)")
    if address is None:
        if side is Side.INITIATOR:
            raise UsageError("--address: name where the receiver listens, as it prints it")
        address = LISTEN_ADDRESS
    read_address(address)
    read_fingerprint(options.peer)
    rotation = ROTATIONS.get(options.game.strip())
    if rotation is not None and rotation.dealer_chooses:
        raise UsageError(
            f"--game {rotation.name}: two peers agree on the order of their games; name a rotation"
            " that has one, or games"
        )
    games = rotation.games if rotation else game_names(options.game)
    unit = options.unit or DEFAULT_UNIT
    stack = options.stack or (rotation.stack if rotation else DEFAULT_STACK)
    policy = options.policy or default_policy(games)
    setup = Setup(
        games=games,
        seed="",
        hands=options.hands or (rotation.hands if rotation else DEFAULT_HANDS),
        unit=unit,
        stack=stack,
        balance=options.balance or unit * stack * DEFAULT_STAKES,
        policies=_policies(side, policy, games),
        rotation=rotation.name if rotation else None,
    )
    usual = Limits()
    return NewChannel(
        side=side,
        setup=check(setup),
        nodes=nodes,
        address=address,
        counterparty=options.peer,
        wallet_key=options.wallet_key,
        adversary=options.adversary or "",
        limits=Limits(options.most_states or usual.states, options.most_bytes or usual.bytes),
        fees=FeeLimits(options.max_fee, options.max_fees),
        spacing=options.spacing,
        unroll_timeout=options.unroll_timeout,
        game_timeout=options.game_timeout,
    )
