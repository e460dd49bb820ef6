"""Closed and full streams, and encodings other than UTF-8."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.sampling import one_in

PLAY = "play spacepoker --hands 1 --seed streams"
BAD_USE = ("dispute run nobody", "play --seed", f"{PLAY} -o x")
SAID = ("dispute run silnt --seed '♠'", f"{PLAY} --text", "--help")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a shell of its own; `channelsim` stands for it."""
    program = f"'{sys.executable}' -c 'from channelsim.channel.cli import main; main()'"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("channelsim", program)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )


def one_line(ran: subprocess.CompletedProcess[bytes]) -> str:
    lines = ran.stderr.decode().splitlines()
    assert ran.returncode == 2, ran
    assert len(lines) == 1
    assert lines[0].startswith("channelsim: ")
    return lines[0]


def test_no_standard_input_where_a_person_is_asked() -> None:
    ran = shell(f"channelsim {PLAY} --policy ask <&-")
    assert ran.returncode == 2
    last = ran.stderr.decode().splitlines()[-1]
    assert last == "channelsim: the input ended where a decision was needed"


def test_no_standard_output() -> None:
    ran = shell("channelsim games >&-")
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_full_disk() -> None:
    assert "cannot be written" in one_line(shell("channelsim games > /dev/full"))


@pytest.mark.parametrize("command", one_in(3, BAD_USE))
def test_bad_use_where_no_message_can_be_written(command: str) -> None:
    assert shell(f"channelsim {command} 2> /dev/full").returncode == 2


@pytest.mark.parametrize("command", one_in(2, ["games", PLAY, f"{PLAY} --text"]))
def test_a_reader_that_closes_the_pipe(command: str) -> None:
    ran = shell(f"channelsim {command} | head -c 1", PYTHONUNBUFFERED="1")
    assert len(ran.stdout) == 1
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("game", one_in(2, ["spacepoker", "calpoker"]))
def test_a_terminal_without_unicode(game: str) -> None:
    ran = shell(
        f"channelsim play {game} --hands 1 --seed 'Grüße'",
        PYTHONIOENCODING="ascii",
        LC_ALL="C.UTF-8",
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.decode("ascii"))["seed"] == "Grüße"


@pytest.mark.parametrize("command", one_in(2, SAID))
def test_the_locale_c(command: str) -> None:
    """Python would write UTF-8 there; a user who chose that locale wants plain letters."""
    ran = shell(f"channelsim {command}", LC_ALL="C")
    assert ran.stdout + ran.stderr
    assert (ran.stdout + ran.stderr).isascii()


def test_a_seed_that_is_no_text() -> None:
    assert "--seed" in one_line(shell("channelsim play spacepoker --seed $'\\xff\\xfe'"))


def test_no_command_shows_the_help_and_nothing_else() -> None:
    ran = shell("channelsim")
    assert b"Usage:" in ran.stdout
    assert ran.stderr == b""
