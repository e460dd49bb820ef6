"""Sessions at a terminal: wrong input at every prompt, colours or none, Unicode or none."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from channelsim.channel.report.narrator import Narrator
from channelsim.channel.report.plain import fitted
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import Setup, check
from channelsim.games import registry
from channelsim.games.contract import Action, Player
from tests.channel.command import channelsim

Capsys = pytest.CaptureFixture[str]

WRONG = [
    *("", "help", "1", "1 2 3", "1 2 3 9", "1 2 3 3", "1 2 3 4 5", "discard", "raise 2", "fold 1"),
    *("Zz 2 3 4", "\x1b[A", "٣ ٤ ٥ ٦", "-1 2 3 4", "x" * 500),
]


def answering(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> Iterator[str]:
    left = iter(answers)
    monkeypatch.setattr("builtins.input", lambda: next(left))
    return left


def test_a_person_gives_cards_away_after_much_wrong_input(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = [*WRONG, "1 2 3 4", "what", "perhaps", "y", *WRONG, "8 7 6 5"]
    left = answering(monkeypatch, answers)
    file = tmp_path / "asked.jsonl"
    options = ("--seed", "ask", "--hands", 2, "--policy", "ask,greedy", "--transcript", file)
    ran = channelsim(capsys, "play", "calpoker", *options)
    assert ran.code == 0
    assert list(left) == []
    document = json.loads(ran.out)
    assert len(document["hands"]) == 2
    given = [
        action["given"]
        for hand in document["hands"]
        for action in hand["actions"]
        if (action["player"], action["verb"]) == ("initiator", "discard")
    ]
    dealt = [hand["cards"]["initiator"]["dealt"] for hand in document["hands"]]
    assert given == [dealt[0][:4], dealt[1][4:]]
    complaints = [line for line in ran.err.splitlines() if " is not a card" in line]
    assert complaints
    assert "you can: discard FOUR CARDS, by number or by name" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setattr("builtins.input", lambda: pytest.fail("asked again"))
    again = channelsim(capsys, "replay", file)
    assert (again.code, json.loads(again.out)) == (0, document)


def test_a_person_folds(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, ["fold", "n"])
    ran = channelsim(capsys, "play", "calpoker", "--seed", 1, "--policy", "ask")
    hand = json.loads(ran.out)["hands"][0]
    assert hand["payouts"] == {"initiator": 0, "receiver": 2000}
    assert "Initiator folds, keeping 0 mojos" in ran.err


def test_what_bob_is_dealt_is_open_and_what_he_gives_is_not(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the second hand Receiver moves first: Initiator decides before he opens what he gave."""
    answering(monkeypatch, ["1 2 3 4", "y", "1 2 3 4"])
    options = ("--seed", 5, "--hands", 2, "--policy", "ask,best-response")
    ran = channelsim(capsys, "play", "calpoker", *options)
    assert ran.code == 0
    _, _, second = ran.err.partition("hand 2:")
    before, _, after = second.partition("Initiator gives away")
    assert "Receiver gives four cards away, face down" in before
    assert "their cards" in before
    assert "Receiver gave" not in before
    assert "Receiver gave" in after


def test_a_game_of_each_kind_by_a_script(capsys: Capsys, tmp_path: Path) -> None:
    secret = "00" * 32
    script = tmp_path / "script.toml"
    script.write_text(
        f'[[hand]]\ninitiator = "{secret[:32]}"\n'
        f'[[hand]]\nreceiver = "{secret}"\n'
        'actions = ["receiver discard 1 2 3 4", "initiator fold"]\n'
    )
    ran = channelsim(capsys, "play", "spacepoker,calpoker", "--script", script, "--seed", "s")
    assert ran.code == 0, ran
    hands = json.loads(ran.out)["hands"]
    assert [hand["game"] for hand in hands] == ["spacepoker", "calpoker"]
    assert hands[1]["payouts"] == {"receiver": 2000, "initiator": 0}
    script.write_text(script.read_text().replace(secret, secret[:32]))
    ran = channelsim(capsys, "play", "spacepoker,calpoker", "--script", script)
    assert ran.code == 2
    assert (
        "hand 2: calpoker needs at least 32 secret bytes of receiver, and there are 16" in ran.err
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("receiver discard 1 2 3", "name 4 cards to give away, not 3"),
        ("receiver discard 1 2 3 9", "'9' is not a card"),
        ("receiver raise 2", "'raise' is not a card"),
        ("initiator fold", "it is receiver's turn"),
    ],
)
def test_a_wrong_script_gets_one_line(capsys: Capsys, tmp_path: Path, line: str, says: str) -> None:
    script = tmp_path / "script.toml"
    script.write_text(f'[[hand]]\nfirst = "receiver"\nactions = ["{line}"]\n')
    ran = channelsim(capsys, "play", "calpoker", "--script", script)
    assert ran.code == 2
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


def test_policies_of_several_games(capsys: Capsys) -> None:
    ran = channelsim(capsys, "play", "spacepoker,calpoker", "--policy", "bluffer")
    assert ran.code == 2
    assert "--policy bluffer: spacepoker has caller" in ran.err
    assert "; calpoker has random, greedy, best-response, ask" in ran.err
    ran = channelsim(capsys, "play", "calpoker", "--policy", "caller", "--hands", 1)
    assert (ran.code, ran.out) == (2, "")
    ran = channelsim(capsys, "play", "calpoker", "--hands", 1)
    assert json.loads(ran.out)["policies"] == {"initiator": "random", "receiver": "random"}


@pytest.mark.parametrize("word", ["quit", "QUIT", " Quit ", "exit", "q"])
def test_quit_at_a_move(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    answering(monkeypatch, [word])
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask")
    assert ran.code == 2
    assert ran.err.endswith("channelsim: you left the table: the session was not finished\n")


@pytest.mark.parametrize("word", ["quit", "QUIT", "n", "No", None])
def test_quit_between_hands_closes_the_channel(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, word: str | None
) -> None:
    left = iter(["FOLD", "perhaps"])

    def typed() -> str:
        answer = next(left, word)
        if answer is None:
            raise EOFError
        return answer

    monkeypatch.setattr("builtins.input", typed)
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask")
    assert ran.code == 0
    document = json.loads(ran.out)
    assert len(document["hands"]) == 1
    assert document["no_more_hands"] == "the initiator declined hand 2"
    assert "you can: yes (or Enter), no, quit" in ran.err


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (
            "bet 9999999999999999999999999999",
            "is out of bounds: bet 0.01 to 9 units (1 to 900 mojos)",
        ),
        ("BET 99", "is out of bounds: bet 0.01 to 9 units (1 to 900 mojos)"),
        ("bet " + "9" * 5000, "is out of bounds: no amount has so many digits"),
        ("bet 0." + "0" * 5000 + "1", "is out of bounds: no amount has so many digits"),
        ("bet 0", "is out of bounds"),
        ("bet -3", "is not an amount"),
        ("bet abc", "'abc' is not an amount"),
        ("bet", "bet needs an amount"),
        ("Raise 3", "cannot raise now; possible: check, bet"),
    ],
)
def test_a_wrong_move_gets_a_reason(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, says: str
) -> None:
    """At the prompt, and with the place in a script."""
    answering(monkeypatch, [typed, "quit"])
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask")
    assert says in " ".join(ran.err.split())
    script = tmp_path / "script.toml"
    script.write_text(f'[[hand]]\nactions = ["initiator {typed}"]\n')
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--script", script)
    assert (ran.code, ran.out) == (2, "")
    assert f"{script}: hand 1, action 1 " in ran.err
    assert says in ran.err


# --- what it looks like --------------------------------------------------------------------------


def shown(encoding: str, **options: Any) -> str:
    """A session of both games as a terminal of this encoding gets it."""
    setup = check(Setup(("calpoker", "spacepoker"), "look", 2, 100, 10, 5000, ("random", "greedy")))
    raw = BytesIO()
    file = TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    console = Console(file=file, width=80, highlight=False, force_terminal=True, **options)
    narrator = Narrator(setup, console)

    class Showing(Deciders):
        def decide(self, name: str, number: int, player: Player) -> Action:
            narrator.lines(registry.get(setup.game(number)).story.view(player))
            return super().decide(name, number, player)

    narrator.finish(Session(Showing(setup), [narrator]).run(), "digest")
    return raw.getvalue().decode(encoding)


ESCAPE = re.compile("\x1b\\[([0-9;]*)m")


def colours(text: str) -> set[str]:
    """The colours that are switched on, by their codes."""
    codes = {code for found in ESCAPE.findall(text) for code in found.split(";")}
    return {code for code in codes if code.isdigit() and 30 <= int(code) <= 49}


def test_real_suits_and_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = shown("utf-8")
    assert set("♣♦♥♠┌│") <= set(text)
    assert "31" in colours(text)  # hearts and diamonds are red
    assert max(len(line) for line in ESCAPE.sub("", text).splitlines()) <= 80


def test_no_colour_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown("utf-8")
    assert colours(text) == set()
    assert set("♣♦♥♠┌│") <= set(text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_plain_letters_where_there_is_no_unicode(encoding: str) -> None:
    text = ESCAPE.sub("", shown(encoding))
    lines = text.splitlines()
    assert "?" not in text
    assert not set("♣♦♥♠┌│") & set(text)
    assert max(map(len, lines)) <= 80
    assert any(line.count("+---+") == 8 for line in lines)
    faces = [line for line in lines if line.startswith("your cards   |")]
    assert re.search(r"\|( [2-9JQKA]|10)[cdhs]\| \|", faces[0])


def test_every_sign_has_a_plain_form_as_wide() -> None:
    for sign in "♣♦♥♠┌┐└┘─│":
        assert len(fitted(sign, "ascii")) == 1
        assert fitted(sign, "ascii").isascii()
        assert fitted(sign, "utf-8") == sign
    assert fitted("♣", "no such encoding") == "c"


def test_a_real_terminal(tmp_path: Path) -> None:
    """The command itself on a pseudo-terminal, wrong input first."""
    master, slave = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    code = "from channelsim.channel.cli import main; main()"
    command = [sys.executable, "-c", code, "play", "calpoker", "--seed", "t", "--policy", "ask"]
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True
    ) as process:
        os.close(slave)
        os.write(master, b"2 2 2 2\n1 2 3 4\nn\n")
        received = b""
        while True:
            try:
                some = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not some:
                break
            received += some
        assert process.wait() == 0
    os.close(master)
    text = ESCAPE.sub("", received.decode("ascii"))
    assert "is named twice" in text
    assert "final balances" in text
    assert "your cards   |" in text
