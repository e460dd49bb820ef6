"""`channelsim play`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from channelsim.channel.chain.spacing import HOME_SPACING, PUBLIC_SPACING
from channelsim.channel.cli.options import (
    MOST_MOJOS,
    MaxFee,
    MaxFees,
    Mix,
    OutputForm,
    Quiet,
    ReportFile,
    SeedOrNone,
    TranscriptFile,
    file_option,
    game_names,
    policy_pair,
    refuse,
    whole,
)
from channelsim.channel.cli.session_files import report_file, transcript_file
from channelsim.channel.cli.sessions import run_session
from channelsim.channel.crypto.hkdf import fresh_seed
from channelsim.channel.session.script import Script
from channelsim.channel.session.script import read as read_script
from channelsim.channel.session.setup import (
    ASK,
    DEFAULT_HANDS,
    DEFAULT_STACK,
    DEFAULT_STAKES,
    DEFAULT_TIMEOUT,
    DEFAULT_UNIT,
    Setup,
    check,
    default_policy,
)
from channelsim.games.rotations import ROTATIONS, Rotation

T = TypeVar("T")


def command(
    game: Annotated[
        str,
        typer.Argument(
            help="A game (see `channelsim games`), several separated by commas, `horse` or"
            " `dealers-choice`."
        ),
    ],
    hands: Annotated[int | None, whole(1, 100_000, "How many hands (3).")] = None,
    seed: SeedOrNone = None,
    unit: Annotated[int | None, whole(1, MOST_MOJOS, "A unit, in mojos (100).")] = None,
    stack: Annotated[int | None, whole(1, MOST_MOJOS, "A player's stake, in units (10).")] = None,
    balance: Annotated[
        int | None,
        whole(1, MOST_MOJOS, "What each side puts into the channel, in mojos (10 stakes)."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="How the initiator plays, and the receiver: A or A,B (the game's first policy; a"
            " game without that policy plays its first one). With `ask` you play: `ask` alone or"
            " first for the initiator, `A,ask` for the receiver."
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(help="A betting structure: no, pot or fixed (the game's usual one)."),
    ] = None,
    choices: Annotated[
        str | None,
        typer.Option(
            "--of", help="The games of dealers-choice, separated by commas (all games with a deck)."
        ),
    ] = None,
    script: Annotated[
        Path | None, file_option("A TOML file that fixes entropy and actions.")
    ] = None,
    *,
    form: OutputForm,
    transcript: TranscriptFile = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    max_fee: MaxFee = None,
    max_fees: MaxFees = None,
    adversary: Annotated[
        str | None,
        typer.Option(
            help="Let the receiver be this adversary (see `dispute list`): NAME, or NAME@STEP. One"
            " hand, unless --hands says more; several games are live at once."
        ),
    ] = None,
    mix: Mix = False,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes",
            help="Run the node and both peers as processes that talk over the network; the digest"
            " is the same.",
        ),
    ] = False,
) -> int:
    """Play hands in a channel, from funding to clean shutdown.

    Example: channelsim play {game} --seed 7 --policy ask,random
    """
    as_json = form.as_json
    if adversary is not None:
        refuse("does not go with --adversary, which does not follow a script", script=script)
        refuse("does not go with --adversary: it plays the usual terms", limit=limit)
        refuse("does not go with --adversary, which lets no dealer choose", of=choices)
        # The adversaries take as long to import as all the rest, and most sessions have none.
        from channelsim.channel.cli.disputes import (
            adversary_and_step,
            described_scenario,
            processes_of,
            run_dispute,
        )

        name, step = adversary_and_step(adversary)
        scenario = described_scenario(
            name,
            games=game,
            step=step,
            seed=seed,
            hands=hands,
            unit=unit,
            stack=stack,
            contribution=balance,
            policies=None if policy is None else policy_pair(policy),
            max_fee=max_fee,
            max_fees=max_fees,
            mixed=mix,
        )
        with (
            report_file(report, transcript=transcript) as page,
            transcript_file(transcript) as file,
            processes_of(scenario, apart=processes) as apart,
        ):
            return run_dispute(
                scenario,
                file.write,
                file.finish,
                as_json=as_json,
                quiet=quiet,
                anywhere=step is None,
                page=page,
                apart=apart,
            )
    fixed = Script() if script is None else read_script(script)
    rotation = ROTATIONS.get(game.strip())
    games = _games(game, rotation, choices)
    if rotation is not None:
        refuse(f"{rotation.name} has the limits of its games", limit=limit)
    unit = _first(unit, fixed.unit, DEFAULT_UNIT)
    stack = _first(stack, fixed.stack, rotation.stack if rotation else DEFAULT_STACK)
    usual_hands = rotation.hands if rotation else DEFAULT_HANDS
    spacing = PUBLIC_SPACING if mix else HOME_SPACING
    setup = check(
        Setup(
            games=games,
            seed=_first(seed, fixed.seed, fresh_seed()),
            hands=_first(hands, len(fixed.hand) or usual_hands),
            unit=unit,
            stack=stack,
            balance=_first(balance, fixed.balance, unit * stack * DEFAULT_STAKES),
            policies=_policies(policy, games),
            script=None if script is None else fixed,
            rotation=rotation.name if rotation else None,
            limit=limit,
            max_fee=max_fee,
            max_fees=max_fees,
            unroll_timeout=spacing * DEFAULT_TIMEOUT,
            game_timeout=spacing * DEFAULT_TIMEOUT,
            spacing=spacing,
            mixed=mix,
        ),
        str(script),
    )
    with report_file(report, transcript=transcript) as page, transcript_file(transcript) as file:
        return run_session(
            setup,
            file.write,
            file.finish,
            as_json=as_json,
            quiet=quiet,
            script=script,
            processes=processes,
            page=page,
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


def _first(*candidates: T | None) -> T:
    return next(candidate for candidate in candidates if candidate is not None)
