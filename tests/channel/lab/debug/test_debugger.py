"""The debugger as a state machine: commands in, text out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug.cases import position, requests_of_target
from channelsim.channel.lab.debug.debugger import answered, started
from channelsim.channel.lab.debug.session import Session
from channelsim.channel.lab.debug.stops import Kind
from channelsim.channel.lab.targets.loading import load
from tests.channel.lab.toys import toy


@pytest.fixture
def bid(tmp_path: Path) -> Session:
    """At the beginning of a bid of the toy: three tests inside one another."""
    requests = requests_of_target(load(str(toy(tmp_path))))
    first = next(n for n, request in enumerate(requests) if request.name == "bid")
    return started(requests, first)[0]


@pytest.fixture(scope="module")
def end() -> Session:
    """At the beginning of the last move of a hand of Space Poker, which calls functions."""
    requests = requests_of_target(load("spacepoker"))
    return started(requests, len(requests) - 1)[0]


def told(session: Session, *lines: str) -> tuple[Session, str]:
    """The session after these commands, and the text of the last one."""
    text: list[str] = []
    for line in lines:
        session, text = answered(session, line)
    return session, "\n".join(text)


def test_it_begins_before_the_run_with_the_case(tmp_path: Path) -> None:
    requests = requests_of_target(load(str(toy(tmp_path))))
    session, lines = started(requests)
    assert session.at == 0
    assert lines[0].startswith("a toy, commit: ")
    assert any(line.strip().startswith("MOVE = 0x") for line in lines)
    assert any(re.match(r"> +\d+ \| ", line) for line in lines)


def test_forward_and_back_are_the_same_way(end: Session) -> None:
    """Whatever takes a step forward, its opposite takes back."""
    session, seen = end, [0]
    for _ in range(60):
        session, _ = told(session, "step")
        seen.append(session.at)
    assert seen == list(range(61))
    for at in reversed(seen[:-1]):
        session, _ = told(session, "b")
        assert session.at == at
    assert told(session, "back")[1] == "this is the beginning of the run"
    session, _ = told(session, "end")
    assert session.at == len(session.run.stops) - 1
    assert told(session, "s")[1] == "this is the end of the run"
    assert told(session, "start")[0].at == 0


def test_an_empty_line_repeats_what_moved_last(bid: Session) -> None:
    session, _ = told(bid, "test")
    repeated, _ = told(session, "values", "")
    assert repeated.at == told(session, "t")[0].at > session.at


def test_next_passes_calls_and_out_leaves_them(end: Session) -> None:
    stops = end.run.stops
    call = next(at for at, stop in enumerate(stops) if stop.kind is Kind.CALL)
    session = end
    while session.at < call - 1:
        session, _ = told(session, "step")
    passed, _ = told(session, "next")
    assert passed.at > call
    assert stops[passed.at].depth <= stops[session.at].depth + 1
    assert told(passed, "previous")[0].at == call
    assert told(passed, "previous", "next")[0].at == passed.at
    inside, text = told(session, "step")
    assert inside.at == call
    name = stops[call].frame.function
    assert f"> {name}" in text.splitlines()[0]
    left, text = told(inside, "out")
    assert (stops[left.at].kind, stops[left.at].frame.function) == (Kind.RETURN, name)
    assert f"{name} = " in text
    outside, _ = told(left, "out")
    assert stops[outside.at].depth < stops[left.at].depth or outside.at == len(stops) - 1


def test_tests_both_ways_with_their_line(bid: Session, tmp_path: Path) -> None:
    session, text = told(bid, "test")
    assert "if (= MOVE (+ MOVE 0)): yes" in text
    source = (tmp_path / "bid.clsp").read_text().splitlines()
    (marked,) = [line for line in text.splitlines() if line.startswith(">")]
    number, _, code = marked[1:].partition("|")
    assert code[1:] == source[int(number) - 1]
    assert "(= MOVE (+ MOVE 0))" in code
    session, text = told(session, "t", "t")
    assert "(> AMOUNT MOVE)" in text
    assert told(session, "untest", "untest")[0].at == told(bid, "t")[0].at


def test_to_what_decides(bid: Session) -> None:
    session, text = told(bid, "decision")
    assert "if (= MOVER_SHARE ()): yes" in text or "if (= MOVER_SHARE 0): yes" in text
    assert "valid: the move is legal" in text
    session, text = told(session, "set move 00", "d")
    assert "if (= MOVE (+ MOVE 0)): no" in text
    assert "slash: the move is illegal" in text


def test_values_by_name(end: Session, bid: Session) -> None:
    assert re.search(r"^  MOVE = ", told(bid, "values")[1], re.MULTILINE)
    assert "PROGRAM_HASH" not in told(end, "v")[1]
    assert "PROGRAM_HASH" in told(end, "v all")[1]
    move = end.run.request.asked
    assert move is not None
    assert told(end, "print MOVE")[1] == f"MOVE = 0x{move[1].move}"
    assert "no value here" in told(end, "print nothing")[1]
    inside, _ = told(end, "break showdown", "continue")
    text = told(inside, "values")[1]
    assert "MOVER_SHARE" not in text
    assert told(inside, "print MOVER_SHARE")[1].startswith("MOVER_SHARE = ")
    assert [line.strip().partition("(")[0] for line in told(inside, "where")[1].splitlines()] == [
        frame.function for frame in inside.run.stops[inside.at].frame.path
    ]


def test_breakpoints_at_functions_and_lines_forward_and_back(end: Session) -> None:
    session, text = told(end, "break showdown")
    assert text == "breakpoint 1: showdown"
    session, text = told(session, "c")
    at = session.at
    assert session.run.stops[at].frame.function == "showdown"
    assert "[" + str(at) in text
    ended, text = told(session, "c")
    assert "no breakpoint ahead" in text
    assert told(ended, "reverse")[0].at == at
    place = session.run.stops.source(at)
    by_line, text = told(end, f"break {place}")
    assert text == f"breakpoint 1: {place}"
    hit = told(by_line, "c")[0]
    assert hit.run.stops.source(hit.at) == place
    assert told(session, "break")[1] == "1 showdown"
    assert told(session, "break showdown")[1] == "showdown has a breakpoint"
    assert told(session, "delete 1", "break")[1].startswith("no breakpoints")


def test_a_line_at_which_nothing_happens_moves_down(bid: Session) -> None:
    session, text = told(bid, "break bid.clsp:1")
    assert re.search(r"breakpoint 1: .*bid\.clsp:\d+; this run does nothing at .*bid\.clsp:1", text)
    session, _ = told(session, "c")
    assert 0 < session.at < len(session.run.stops) - 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("break nothing", "no function that this run calls"),
        ("break bid.clsp:9999", "lines"),
        ("break gone.clsp:3", "not one source file"),
        ("delete 4", "the number of a breakpoint"),
        ("print", "MOVE = "),
        ("set", "set FIELD VALUE: the fields are move, share, amount, state, evidence"),
        ("set move 0", "an even number"),
        ("set share x", "a whole number"),
        ("set evidence (1)", "a value as in conformance cases"),
        ("set evidence {}", "set evidence: "),
        ("set gone 1", "no field of the case"),
        ("undo", "nothing was set"),
        ("case 99", "a number from 1 to"),
        ("jump", "no such command"),
        ("\x1b[2J", "no such command"),
    ],
)
def test_a_bad_command_changes_nothing(bid: Session, line: str, says: str) -> None:
    after, text = told(bid, line)
    assert says in text
    assert after == bid


def test_what_is_set_runs_again_and_is_undone(bid: Session) -> None:
    """The expectation follows the change; breakpoints stay."""
    asked = bid.run.request.asked
    assert asked is not None
    session, text = told(bid, "break bid.clsp:9", "set move 0x07")
    assert "MOVE = 7" in text
    assert "valid" in text
    assert "expects" not in text
    assert session.breakpoints
    session, text = told(session, "set share 5")
    assert "slash" in text
    assert session.at == 0
    changed = session.run.request.asked
    assert changed is not None
    assert (changed[1].move, changed[1].mover_share) == ("07", 5)
    assert "2 changed" in told(session, "info")[1]
    session, _ = told(session, "undo", "undo")
    assert session.run.request == bid.run.request
    session, text = told(bid, "set image 0x" + "11" * 32)
    assert "image = 0x1111" in text
    reveal = told(bid, "case 3")[0]
    session, text = told(reveal, "set number 7")
    assert "number = 7" in text
    for own, field in (("MOVE", "move"), ("MOVER_SHARE", "share"), ("AMOUNT", "amount")):
        assert told(bid, f"set {own} 11")[1] == told(bid, f"set {field} 11")[1]
    assert "no field of the case" in told(bid, "set TIMEOUT 11")[1]
    assert told(reveal, "set program 7")[1].startswith("program: no field of the case")
    session, text = told(bid, 'set state ["0x22", 3]')
    assert session.run.request.asked is not None
    session, text = told(bid, "set evidence [1, 0x00]")
    assert "evidence = (1 0x00)" in text


def test_with_rules_a_change_says_what_they_expect(end: Session) -> None:
    _, text = told(end, "set share 1")
    words = " ".join(text.split())
    assert re.search(r"The rules say (so too|slash|raise)", words)
    assert "The case expects" not in words


def test_other_cases(bid: Session) -> None:
    text = told(bid, "cases")[1]
    marked = [line for line in text.splitlines() if line.startswith(">")]
    assert len(marked) == 1
    assert len(text.splitlines()) == len(bid.cases)
    session, text = told(bid, "case 1")
    assert "a toy, commit: " in text
    assert session.run.request is bid.cases[0]
    assert position(list(bid.cases), "2") == 1
    with pytest.raises(UsageError, match="no such case"):
        position(list(bid.cases), "0")


def test_help_names_every_command_and_quit_ends(bid: Session) -> None:
    text = told(bid, "help")[1]
    assert all(f" {name} " in f"{text} " for name in ("step", "back", "decision", "quit"))
    assert told(bid, "q")[0].over


def test_of_two_commands_with_one_text_no_state_is_shared(bid: Session) -> None:
    """A session is a value: what one command made of it does not show in another."""
    first, _ = told(bid, "test")
    told(first, "step", "break bid.clsp:9", "set move 00")
    assert told(bid, "test")[0].at == first.at
    assert bid.at == 0
