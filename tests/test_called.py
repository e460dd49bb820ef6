"""Calls of an author's functions: each way to fail is one line, at each seam, in each thread."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from channelsim import watchdog
from channelsim.games import registry
from channelsim.games.answers import verdict_problem
from channelsim.games.chance import Chance
from channelsim.games.contract import Judge, Verdict
from channelsim.games.errors import BadTerms
from channelsim.games.judge import hashes_of
from channelsim.games.plugin_games import checked
from channelsim.games.selfplay import calls
from channelsim.plugins import WrongAnswer, called
from tests.channel.cli.test_plugins import PARITY, without_programs
from tests.installed import install, run
from tests.paths import ROOT
from tests.sampling import one_in

ENDLESS = "    while True:\n        pass\n"
STUBBORN = """
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
SLEEPS = "    import time\n    time.sleep(3600)\n"
MOST_CALLS = 3
"""Functions that one call of a judge calls to be bounded in time."""

IMPATIENT = "from channelsim import watchdog\nwatchdog.SECONDS = 0.3\n"


def author(body: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function `judge` of an author's file."""
    monkeypatch.setattr(watchdog, "_authors", {"loop.py"})
    names: dict[str, Any] = {"__name__": "loop"}
    exec(compile(f"def judge(*moves):\n{body}", "loop.py", "exec"), names)
    function: Callable[..., Any] = names["judge"]
    return function


def in_thread(function: Callable[[], object]) -> BaseException:
    """What a call raises in a thread of its own."""
    raised: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(20)
    (error,) = raised
    return error


def here(function: Callable[[], object]) -> BaseException:
    """What a call raises in this thread."""
    with pytest.raises(BaseException) as raised:
        function()
    return raised.value


@pytest.mark.parametrize("place", [here, in_thread])
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    return 1 // 0\n", "loop.judge raised ZeroDivisionError: integer division"),
        ("    raise SystemExit(3)\n", "loop.judge raised SystemExit: 3 (loop.py, line 2)"),
        ("    class Odd(BaseException): ...\n    raise Odd('x')\n", "loop.judge raised Odd: x"),
        ("    return len(7)\n", "loop.judge raised TypeError: object of type 'int' has no len()"),
        ("    return 7\n", "loop.judge returned an int, 7: not a verdict (the judge of e)"),
        (
            ENDLESS,
            "loop.judge was stopped: loop.judge: not done after 0.2 seconds",
        ),
    ],
)
def test_a_failure_is_one_line_in_every_thread(
    body: str,
    line: str,
    place: Callable[[Callable[[], object]], BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "TICK", 0.05)
    judge = called(author(body, monkeypatch), "the judge of e", lambda answer: "not a verdict")
    error = place(judge)
    assert isinstance(error, WrongAnswer)
    assert str(error).startswith(line)
    assert str(error).endswith("(the judge of e)")
    assert len(str(error).splitlines()) == 1


def test_a_call_with_other_arguments_is_named() -> None:
    line = r"<lambda> cannot be called: .* takes 0 positional arguments but 1 was given \(a turn\)"
    with pytest.raises(WrongAnswer, match=line):
        called(lambda *, wrong: wrong, "a turn")(7)  # type: ignore[call-arg]


@pytest.mark.parametrize("error", [BadTerms("none"), KeyboardInterrupt()])
def test_refusals_and_interrupts_pass(error: BaseException) -> None:
    def terms() -> None:
        raise error

    with pytest.raises(type(error)):
        called(terms, "terms")()


def ended(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with a file `loop.py` of an author."""
    return subprocess.run(
        [sys.executable, "-c", f"{IMPATIENT}watchdog.WAITING, watchdog.STUBBORN = 0.4, 2\n{code}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("body", [STUBBORN, SLEEPS])
@pytest.mark.parametrize("thread", one_in(2, [False, True]))
def test_what_cannot_be_stopped_ends_the_process(thread: bool, body: str) -> None:
    function = f"def judge():{body if body is STUBBORN else chr(10) + body}"
    ran = ended(
        "from channelsim.plugins import called\nfrom threading import Thread\n"
        "names = {'__name__': 'loop'}\n"
        f"watchdog.note_author('loop.py')\nexec(compile({function!r}, 'loop.py', 'exec'), names)\n"
        "judge = called(names['judge'], 'the judge of e')\n"
        + ("thread = Thread(target=judge)\nthread.start()\nthread.join()" if thread else "judge()")
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
    assert "channelsim: loop.judge: not done after 0." in ran.stderr
    assert "and cannot be stopped (the judge of e)" in ran.stderr


SEAMS = {
    "registered": ("GAME = Game(\n", "{}GAME = Game(\n"),
    "judge": (
        '    if len(move) != 32:\n        return Slash("PARITY-COMMIT-1")\n',
        "    fails()\n",
    ),
    "player": ("    match player.position.state:\n", "    fails()\n    match 1:\n"),
    "terms": ("    return even_terms(", "    fails()\n    return even_terms("),
}
"""The text of the smallest game by the seam at which another one fails."""

FAILS = {
    "raises": ("    return [][1]\n", "raised IndexError: list index out of range"),
    "hangs": (ENDLESS, "was stopped: {}: not done after 0.3 seconds of processor time"),
}


@pytest.mark.parametrize("fails", FAILS)
def test_a_game_that_fails_is_one_line_at_each_seam(fails: str, tmp_path: Path) -> None:
    body, line = FAILS[fails]
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    names = [f"{seam}_{fails}" for seam in SEAMS]
    for name, (old, new) in zip(names, SEAMS.values(), strict=True):
        assert text.count(old) == 1, old
        head = f"{IMPATIENT}\ndef fails():\n{body}\n"
        changed = text.replace(old, new.format("fails()\n\n\n")).replace(
            "RULES = {", f"{head}RULES = {{"
        )
        (tmp_path / f"{name}.py").write_text(without_programs(changed, name))
    install(tmp_path, "mine", {"games": [f"{name} = {name}:GAME" for name in names]})
    ran = run((tmp_path,), [("play", name, "--hands", 1, "--json") for name in names])
    for seam, name, end in zip(SEAMS, names, ran, strict=True):
        assert (end.code, end.out, end.err.count("\n")) == (2, "", 1), (name, end)
        assert f"{tmp_path}/{name}.py, line " in end.err
        if seam == "registered":
            said = line.format("<module>").removeprefix("raised ")
            said = said.replace("was stopped:", "Overrun:")
            assert f"the game {name}, a plug-in of mine, cannot be used: {said}" in end.err
        else:
            function = {"judge": "commit", "player": "moves"}.get(seam, seam)
            assert f"channelsim: mine: {name}.{function} {line.format(function)}" in end.err


@pytest.mark.parametrize("name", ["spacepoker", "calpoker"])
def test_calls_of_a_judge_cost_little(name: str) -> None:
    """The judges of one of our games, only checked, and as those of a plug-in, in one run."""
    game = registry.get(name)
    hashes = hashes_of(game)
    policy = next(iter(game.policies.values()))
    moves = [
        call
        for seed in (b"1", b"2", b"3")
        for call in calls(
            game,
            hashes,
            game.terms(game.default_parameters(100, 10)),
            (policy, policy),
            Chance(seed),
        )
    ]

    def calls_in(judges: Mapping[str, Judge]) -> int:
        """How many functions are called, in Python and in C, to judge all moves."""
        count = 0

        def counted(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            for move in moves:
                judges[move.before.validator or ""](
                    move.before.state, move.move, move.share, move.amount, move.evidence, hashes
                )
        finally:
            sys.setprofile(None)
        return count

    def only_checked(judge: Judge) -> Judge:
        def call(*arguments: Any) -> Verdict:
            try:
                verdict = judge(*arguments)
            except TypeError:
                raise AssertionError from None
            assert not verdict_problem(verdict, game.validators, game.rules)
            return verdict

        return call

    own = {name: only_checked(validator.judge) for name, validator in game.validators.items()}
    theirs = {name: validator.judge for name, validator in checked(game).validators.items()}
    with watchdog.watching():
        assert calls_in(theirs) - calls_in(own) <= MOST_CALLS * len(moves)
