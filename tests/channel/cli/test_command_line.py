"""Every command: how options are read, and the messages for wrong ones.

The commands are those of the application, so a new one is here without being named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
import typer

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.cli.app import commands
from channelsim.channel.session.defaults import MAX_HANDS
from channelsim.channel.simulation.bounds import MOST_FEES, MOST_HANDS
from channelsim.games import registry
from channelsim.games.names import nearest
from tests.channel.command import Ran, channelsim

Capsys = pytest.CaptureFixture[str]
Command = tuple[str, ...]


def walk(group: Any, path: Command = ()) -> Iterator[tuple[Command, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from walk(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(walk(commands))
GROUPS: list[Command] = [(), *sorted({path[:-1] for path in COMMANDS if len(path) > 1})]


def hints(command: Any) -> dict[str, Any]:
    found = get_type_hints(command.callback)
    return {name: hint for name, hint in found.items() if name != "return"}


NUMBERS = [
    (path, parameter)
    for path, command in COMMANDS.items()
    for parameter in command.params
    if hints(command).get(parameter.name) in (int, float, int | None, float | None)
    and not getattr(parameter, "count", True)  # an argument has none
]


def option(parameter: Any) -> str:
    return str(max(parameter.opts, key=len))


def wrong_use(ran: Ran) -> str:
    """The one line that wrong use gets: exit code 2, nothing on stdout."""
    assert (ran.code, ran.out) == (2, ""), ran
    assert ran.err.startswith("channelsim: ")
    assert ran.err.count("\n") == 1
    assert ran.err[:-1].isprintable()
    return ran.err


def test_the_walk_finds_them() -> None:
    assert {("play",), ("dispute", "run"), ("vectors", "make")} <= set(COMMANDS)
    assert len(NUMBERS) > 15


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_unknown_option(capsys: Capsys, path: Command) -> None:
    said = wrong_use(channelsim(capsys, *path, "--bogus"))
    assert "--bogus" in said
    assert f"`channelsim {' '.join(path)} --help`" in said


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_option_without_its_value(capsys: Capsys, path: Command) -> None:
    """The hint names the command's own help, also where typer does not say which command it is."""
    takes_value = [one for one in COMMANDS[path].params if getattr(one, "is_flag", True) is False]
    for parameter in takes_value[:1]:
        if not parameter.count:
            said = wrong_use(channelsim(capsys, *path, option(parameter)))
            assert option(parameter) in said
            assert f"`channelsim {' '.join(path)} --help`" in said


@pytest.mark.parametrize("path", [*COMMANDS, *GROUPS], ids=" ".join)
def test_a_value_for_a_flag(capsys: Capsys, path: Command) -> None:
    said = wrong_use(channelsim(capsys, *path, "--help=3"))
    assert f"`{' '.join(('channelsim', *path))} --help`" in said


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_option_nearly_right(capsys: Capsys, path: Command) -> None:
    for parameter in COMMANDS[path].params:
        name = option(parameter)
        if name.startswith("--") and len(name) > 6:
            assert name in wrong_use(channelsim(capsys, *path, f"{name[:-2]}{name[-1]}"))
            break


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_an_unknown_command(capsys: Capsys, path: Command) -> None:
    assert "'bogus'" in wrong_use(channelsim(capsys, *path, "bogus"))


@pytest.mark.parametrize(
    "path", [path for path in COMMANDS if any(one.required for one in COMMANDS[path].params)]
)
def test_a_missing_argument(capsys: Capsys, path: Command) -> None:
    assert " is missing" in wrong_use(channelsim(capsys, *path))


@pytest.mark.parametrize("path", [*COMMANDS, *GROUPS], ids=" ".join)
def test_help_is_plain_has_an_example_and_fits(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, path: Command
) -> None:
    for columns in (80, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        ran = channelsim(capsys, *path, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.isascii()
        assert "Example: channelsim" in " ".join(ran.out.split())
        # Behind the name of an argument dots say that there may be several.
        assert "..." not in re.sub(r"(\[ARGS\]|[\[{]?(files|games|names)[\]}]?)\.\.\.", "", ran.out)
        assert max(map(len, ran.out.splitlines())) <= columns


FILES = [
    (path, parameter)
    for path, command in COMMANDS.items()
    for parameter in command.params
    if "Path" in str(hints(command).get(parameter.name))
]


@pytest.mark.parametrize(
    ("path", "parameter"), FILES, ids=[" ".join((*p, option(o))) for p, o in FILES]
)
def test_an_empty_name_is_not_the_current_folder(
    capsys: Capsys, path: Command, parameter: Any
) -> None:
    named = option(parameter)
    if named.startswith("-"):
        given = [f"{named}="]
    else:
        named = named.upper()
        arguments = [one for one in COMMANDS[path].params if not option(one).startswith("-")]
        given = ["x"] * arguments.index(parameter) + [""]
    said = wrong_use(channelsim(capsys, *path, *given))
    assert f"{named} '': no name of a file" in said


WRONG = [
    "abc",
    "",
    "-1",
    "1.5.2",
    "1_0",
    "inf",
    "-inf",
    "nan",
    "1e300",
    str(10**30),
    "9" * 5000,
    "٣",
    "0x10",
    "\x1b[31m",
]


@pytest.mark.parametrize(
    ("path", "parameter"), NUMBERS, ids=[" ".join((*p, option(o))) for p, o in NUMBERS]
)
def test_a_number_is_read_and_bounded(capsys: Capsys, path: Command, parameter: Any) -> None:
    name = option(parameter)
    assert parameter.metavar == "N", "made by channelsim.channel.cli.options"
    said = wrong_use(channelsim(capsys, *path, f"{name}=abc"))
    found = re.search(rf"{name} abc: a (?:whole )?number from ([\d.,]+) to ([\d,]+) \(see ", said)
    assert found
    read = reader(path, parameter)
    least, most = (bound.replace(",", "") for bound in found.groups())
    assert (read(least), read(most)) == (float(least), float(most))
    for value in [*WRONG, str(int(most) + 1)]:
        with pytest.raises(typer.BadParameter, match=r"a (whole )?number from") as refused:
            read(value)
        assert refused.value.message.startswith(value[:50] or "''")
        assert len(refused.value.message) < 150


@pytest.mark.parametrize(
    "path", [p for p in COMMANDS if "seed" in hints(COMMANDS[p])], ids=" ".join
)
def test_a_seed_that_is_no_text(capsys: Capsys, path: Command) -> None:
    said = wrong_use(channelsim(capsys, *path, "--seed=a\udcff"))
    assert "--seed a?: not text in this terminal's encoding" in said


@pytest.mark.parametrize("value", WRONG)
def test_a_wrong_number_is_named(capsys: Capsys, value: str) -> None:
    for command in ("play --hands", "fuzz --seconds"):
        *path, name = command.split()
        said = wrong_use(channelsim(capsys, *path, f"{name}={value}"))
        shown = "".join(sign if sign.isprintable() else "?" for sign in value[:50])
        assert said.startswith(f"channelsim: {name} {shown}")


def reader(path: Command, parameter: Any) -> Any:
    """What reads an option's value: the parser in its annotation."""
    annotated = get_type_hints(COMMANDS[path].callback, include_extras=True)[parameter.name]
    return annotated.__metadata__[0].parser


def test_the_bounds_are_those_of_the_parts_that_keep_them() -> None:
    readers = {(" ".join(path), option(one)): reader(path, one) for path, one in NUMBERS}
    for command, name, most in [
        ("play", "--balance", BLOCK_REWARD),
        ("play", "--hands", MAX_HANDS),
        ("dispute run", "--fees", MOST_FEES),
        ("dispute run", "--hands", MOST_HANDS),
    ]:
        read = readers[command, name]
        assert read(str(most)) == most
        with pytest.raises(typer.BadParameter):
            read(str(most + 1))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("play spcepoker", "did you mean spacepoker?"),
        ("play spacepoker,chess", "'chess'"),
        ("play spacepoker --policy agressive,caller", "--policy agressive (did you mean aggress"),
        ("play spacepoker --adversary silnt", "did you mean silent"),
        ("play spacepoker --adversary dead --policy calller", "did you mean caller?"),
        ("dispute run silnt", "did you mean silent"),
        ("dispute run silent --weather reorg", "did you mean reorgs?"),
        ("dispute run silent --side inisiator", "--side inisiator (did you mean initiator?)"),
        ("dispute run silent --game calpokr", "did you mean calpoker?"),
        ("crosscheck spcepoker", "did you mean spacepoker?"),
        ("mutants spacepoker --validator comitA", "did you mean commitA?"),
        ("vectors make spcepoker -o x", "did you mean spacepoker?"),
        ("vectors chek x", "Did you mean 'check'"),
    ],
)
def test_the_nearest_right_name(capsys: Capsys, arguments: str, says: str) -> None:
    assert says in wrong_use(channelsim(capsys, *arguments.split()))


def test_names_are_cut_and_cleaned(capsys: Capsys) -> None:
    for command in ("play", "dispute run", "crosscheck"):
        said = wrong_use(channelsim(capsys, *command.split(), "\x1b[2J" + "x" * 100_000))
        assert len(said) < 100_500
    assert nearest("x" * 10_000, registry.names()) == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "play spacepoker --text --json",
        "replay x --text --json",
        "bench --text --json",
        "dispute run dead --text --json",
        "dispute run dead --seeds 3",
        "dispute run dead --jobs 2",
        "dispute run silent@3 --at 5",
        "dispute run silent@3 --at 3",
        "dispute run silent --staggered",
        "dispute run silent --game",
        "dispute run silent --weather=",
        "dispute run silent --side=",
        "dispute run silent@",
        "dispute run silent@1234567890",
        "dispute run --all --at 0",
        "dispute run --all --side receiver",
        "dispute run --all --weather calm",
        "dispute run --all --fees 0",
        "dispute run --all --max-fee 0",
        "dispute run --all --max-fees 0",
        "dispute run --all --hands 1",
        "dispute run --all --staggered",
        "dispute run --all --transcript x",
        "play spacepoker --adversary dead --script x",
        "cost spacepoker --tolerance 1",
        "vectors check",
    ],
)
def test_options_that_do_not_go_together(capsys: Capsys, arguments: str) -> None:
    wrong_use(channelsim(capsys, *arguments.split()))


def test_an_empty_game_is_not_the_default(capsys: Capsys) -> None:
    assert "no game is named" in wrong_use(channelsim(capsys, "dispute", "run", "dead", "--game="))
