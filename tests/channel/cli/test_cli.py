from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel import __version__
from tests.channel.command import Ran, channelsim
from tests.paths import DATA

VECTORS = DATA / "vectors" / "spacepoker.jsonl"

Capsys = pytest.CaptureFixture[str]


def one_line(ran: Ran) -> str:
    """The one line that bad use gets: exit code 2, no traceback, nothing on stdout."""
    assert ran.code == 2, ran
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("channelsim: ")
    assert "Traceback" not in ran.err
    return lines[0]


def test_a_session_is_one_document(capsys: Capsys, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    ran = channelsim(
        capsys, "play", "spacepoker", "--hands", 2, "--seed", "doc", "--transcript", file
    )
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert document["game"] == "spacepoker"
    assert document["seed"] == "doc"
    assert [hand["proposer"] for hand in document["hands"]] == ["initiator", "receiver"]
    assert [hand["first"] for hand in document["hands"]] == ["initiator", "receiver"]
    for hand in document["hands"]:
        assert {"cards", "actions", "best_hands", "result", "payouts"} <= hand.keys()
        assert sum(hand["payouts"].values()) == hand["amount"]
    checks = document["checks"]
    assert checks["python_clvm_agree"] is True
    assert checks["conserved"] is True
    # Each hand: two commits, at least four streets of two moves, and the reveal.
    assert checks["moves_checked"] >= 2 * 11
    coins = document["coins"]
    rewards = {name: coin["amount"] for name, coin in coins["rewards"].items()}
    assert rewards == document["balances"]
    assert sum(rewards.values()) == coins["channel"]["amount"]
    assert document["digest"] == sha256(file.read_bytes()).hexdigest()


def test_the_same_seed_gives_the_same_digest(capsys: Capsys) -> None:
    def digest(seed: str) -> str:
        ran = channelsim(capsys, "play", "spacepoker", "--hands", 1, "--seed", seed)
        return str(json.loads(ran.out)["digest"])

    assert digest("one") == digest("one") != digest("two")


def test_without_a_seed_sessions_differ_and_print_their_seed(capsys: Capsys) -> None:
    first, second = (
        json.loads(channelsim(capsys, "play", "spacepoker", "--hands", 1).out) for _ in range(2)
    )
    assert first["seed"] != second["seed"]
    again = channelsim(capsys, "play", "spacepoker", "--hands", 1, "--seed", first["seed"])
    assert json.loads(again.out)["digest"] == first["digest"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nope",), "no game is called 'nope'; installed: "),
        (("",), "no game is named"),
        (("spacepoker", "--unit", 0), "--unit 0: a whole number from 1"),
        (("spacepoker", "--unit", -5), "--unit -5: a whole number from 1"),
        (("spacepoker", "--stack", 0), "--stack 0: a whole number from 1"),
        (("spacepoker", "--unit", 10**30), f"--unit {10**30}: a whole number"),
        (("spacepoker", "--unit", 10**12), "embedded node's wallets"),
        (("spacepoker", "--balance", 5), "does not cover one stake"),
        (("spacepoker", "--hands", 0), "--hands"),
        (("spacepoker", "--hands", 10**9), "--hands"),
        (("spacepoker", "--policy", "bluffer"), "--policy bluffer: spacepoker has caller"),
        (("spacepoker", "--policy", "a,b,c"), "--policy a,b,c"),
        (("spacepoker", "--transcript", "/nonexistent/file"), "cannot be written"),
        (("spacepoker", "--script", "/nonexistent/file"), "cannot be read"),
    ],
)
def test_bad_arguments_of_play(capsys: Capsys, arguments: tuple[object, ...], says: str) -> None:
    assert says in one_line(channelsim(capsys, "play", *arguments))


def test_wrong_commands_and_options(capsys: Capsys) -> None:
    assert "bogus" in one_line(channelsim(capsys, "bogus"))
    assert "--bogus" in one_line(channelsim(capsys, "play", "spacepoker", "--bogus"))
    one_line(channelsim(capsys, "play"))


def test_version_help_and_games(capsys: Capsys) -> None:
    assert channelsim(capsys, "--version") == Ran(0, f"channelsim {__version__}\n", "")
    games = channelsim(capsys, "games").out
    assert "spacepoker" in games
    assert "caller, random, aggressive, folder, ask" in games


@pytest.mark.parametrize(
    "command",
    [(), ("play",), ("replay",), ("vectors",), ("vectors", "check"), ("games",)],
)
def test_every_help_has_an_example(capsys: Capsys, command: tuple[str, ...]) -> None:
    ran = channelsim(capsys, *command, "--help")
    assert ran.code == 0
    assert "Example: channelsim" in ran.out


def test_vectors_pass(capsys: Capsys) -> None:
    ran = channelsim(capsys, "vectors", "check", VECTORS)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "1,606 passed, 0 failed"


def test_a_vector_that_states_something_else_fails(capsys: Capsys, tmp_path: Path) -> None:
    lines = VECTORS.read_text().splitlines()
    wrong = json.loads(lines[0])
    wrong["next"]["max_move_size"] += 1
    slash = {**json.loads(lines[0]), "expect": "slash"}
    slash.pop("next")
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n".join([lines[1], json.dumps(wrong), json.dumps(slash)]) + "\n")
    ran = channelsim(capsys, "vectors", "check", file)
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "1 passed, 2 failed"
    assert json.loads(lines[0])["id"] in ran.out


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"{}\n", b"not json\n", b"[1,2]\n"])
def test_a_file_that_is_no_vectors(capsys: Capsys, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "none.jsonl"
    file.write_bytes(content)
    assert str(file) in one_line(channelsim(capsys, "vectors", "check", file))


def test_a_person_plays_alice(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = iter(["raise 99", "check", "", "check", "bet 2", "check", "maybe", "n"])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    file = tmp_path / "asked.jsonl"
    ran = channelsim(
        capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask,caller", "--transcript", file
    )
    assert ran.code == 0
    document = json.loads(ran.out)
    verbs = [
        action["verb"]
        for action in document["hands"][0]["actions"]
        if action["player"] == "initiator"
    ]
    assert verbs == ["commit", "check", "check", "bet", "check", "show"]
    assert len(document["hands"]) == 1
    # What was asked went to stderr; Receiver's cards come up only at the showdown.
    before, _, after = ran.err.partition("Initiator shows")
    assert "cannot raise now" in before
    theirs = document["hands"][0]["cards"]["receiver"]["hole"]
    assert "Receiver's cards" not in before
    assert "Receiver has" in after
    assert theirs is not None
    # The person is not there when the transcript is played again.
    monkeypatch.setattr("builtins.input", lambda: pytest.fail("asked again"))
    again = channelsim(capsys, "replay", file)
    assert (again.code, json.loads(again.out)) == (0, document)


def test_a_message_never_reveals_hidden_cards(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the document either: after a fold, the receiver's cards stay hidden."""
    answers = iter(["help", "fold", "n"])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask,caller")
    cards = json.loads(ran.out)["hands"][0]["cards"]
    assert cards["initiator"]["hole"] is not None
    assert cards["receiver"] == {"hole": None, "boost": None}
    assert ran.err.count("you can:") == 2


def test_a_person_says_quit(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda: "quit")
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask")
    assert ran.code == 2
    assert "you left the table" in ran.err.splitlines()[-1]


def test_a_person_leaves(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", gone)
    ran = channelsim(capsys, "play", "spacepoker", "--seed", 3, "--policy", "ask")
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == ("channelsim: the input ended where a decision was needed")


def test_a_bug_of_ours_shows_no_traceback(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> int:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("channelsim.channel.cli.work.play.run_session", broken)
    ran = channelsim(capsys, "play", "spacepoker")
    assert ran.code == 3
    assert ran.err.startswith("channelsim: internal error, a bug of ours: RuntimeError")
