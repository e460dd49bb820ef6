"""The work of `channelsim play`."""

from __future__ import annotations

from dataclasses import asdict

from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.cli.commands.play import PlayOptions
from channelsim.channel.cli.options import (
    game_names,
    policy_pair,
    refuse,
)
from channelsim.channel.cli.session_files import displayed
from channelsim.channel.cli.sessions import run_session
from channelsim.channel.cli.stakes import stakes_of
from channelsim.channel.crypto.hkdf import fresh_seed
from channelsim.channel.session.defaults import (
    DEFAULT_TIMEOUT,
)
from channelsim.channel.session.script import Script
from channelsim.channel.session.script import read as read_script
from channelsim.channel.session.setup import ASK, Setup, check, default_policy
from channelsim.games.rotations import ROTATIONS, Rotation


def play(options: PlayOptions) -> int:
    """Play hands in a channel, from funding to clean shutdown."""
    files = options.files
    if options.adversary is not None:
        # The adversaries take as long to import as all the rest, and most sessions have none.
        from channelsim.channel.attack.disputes import dispute_script
        from channelsim.channel.cli.disputes import (
            adversary_and_step,
            described_scenario,
            dispute_with_files,
        )

        name, step = adversary_and_step(options.adversary)
        scenario = described_scenario(
            name,
            games=options.game,
            step=step,
            seed=options.seed,
            policies=None if options.policy is None else policy_pair(options.policy),
            mixed=options.mix,
            **asdict(options.stakes),
            **asdict(options.fees),
        )
        attack = dispute_script(scenario)
        return dispute_with_files(attack, files, quiet=options.quiet, anywhere=step is None)
    script = Script() if options.script is None else read_script(options.script)
    rotation = ROTATIONS.get(options.game.strip())
    games = _games(options.game, rotation, options.choices)
    if rotation is not None:
        refuse(f"{rotation.name} has the limits of its games", limit=options.limit)
    seed = script.seed if options.seed is None else options.seed
    spacing = PUBLIC_SPACING if options.mix else HOME_SPACING
    setup = check(
        Setup(
            games=games,
            seed=fresh_seed() if seed is None else seed,
            policies=_policies(options.policy, games),
            script=None if options.script is None else script,
            limit=options.limit,
            unroll_timeout=spacing * DEFAULT_TIMEOUT,
            game_timeout=spacing * DEFAULT_TIMEOUT,
            spacing=spacing,
            mixed=options.mix,
            **stakes_of(options.stakes, rotation, script),
            **asdict(options.fees),
        ),
        str(options.script),
    )
    with displayed(files, quiet=options.quiet) as (display, file):
        return run_session(
            setup,
            file.write,
            file.finish,
            display,
            script=options.script,
            processes=files.processes,
        )


def _games(text: str, rotation: Rotation | None, choices: str | None) -> tuple[str, ...]:
    """The games of a session. Raises `UsageError`."""
    if rotation is None or not rotation.dealer_chooses:
        refuse("names the games of dealers-choice", of=choices)
    if rotation is None:
        return game_names(text)
    return rotation.games if choices is None else game_names(choices)


def _policies(text: str | None, games: tuple[str, ...]) -> tuple[str, str]:
    """Both peers' policies. Against a person (`ask` alone), the default policy plays."""
    default = default_policy(games)
    text = default if text is None else text
    first, second = policy_pair(text)
    return (ASK, default) if first == ASK and "," not in text else (first, second)
