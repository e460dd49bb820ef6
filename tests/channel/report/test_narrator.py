from __future__ import annotations

from io import StringIO

from rich.console import Console

from channelsim.channel.report.narrator import Narrator
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import HandEnded, SessionEvent, StepMade
from channelsim.channel.session.setup import Setup, check
from channelsim.channel.session.transcript import Recorder


def narration(seed: str, policies: tuple[str, str], viewer: str | None = None) -> str:
    setup = check(Setup(("spacepoker",), seed, 2, 100, 10, 5000, policies))
    out = StringIO()
    console = Console(file=out, width=80, no_color=True, highlight=False)
    narrator = Narrator(setup, console, viewer=viewer)
    recorder = Recorder(setup, lambda line: None)
    result = Session(Deciders(setup), [recorder, narrator]).run()
    narrator.finish(result, recorder.finish(result))
    return out.getvalue()


def test_a_session_as_a_person_follows_it() -> None:
    text = narration("story", ("caller", "caller"))
    assert max(map(len, text.splitlines())) <= 80
    places = [
        text.index(phrase)
        for phrase in (
            "The initiator and the receiver put",
            "The channel is open",
            "hand 1: Space Poker",
            "commits",
            " boost\n",
            "the toss:",
            "  flop  ",
            "  turn  ",
            "  river  ",
            "shows",
            "paid out:",
            "balances:",
            "hand 2: Space Poker",
            "close",
            "The shutdown is on chain",
            "final balances:",
            "channel coin",
            "moves judged by both: rules and programs agree; money is conserved",
            "digest",
        )
    ]
    assert places == sorted(places)


def test_alices_viewer_sees_no_cards_of_bob_before_the_showdown() -> None:
    text = narration("story", ("caller", "caller"), viewer="initiator")
    first, _, _ = text.partition("balances:")
    before, _, _ = first.partition(" shows ")
    assert "Initiator's cards:" in before
    assert "Receiver's cards:" not in before


def test_listeners_hear_steps_before_the_end_of_their_hand() -> None:
    setup = check(Setup(("spacepoker",), "order", 2, 100, 10, 5000, ("random", "random")))
    heard: list[SessionEvent] = []
    Session(Deciders(setup), [heard.append]).run()
    ended = [t for t in heard if isinstance(t, HandEnded)]
    assert [t.number for t in ended] == [0, 1]
    for end in ended:
        steps = [t for t in heard if isinstance(t, StepMade) and t.hand.names == end.hand.names]
        assert steps[-1].hand.steps == end.hand.steps
        assert all(heard.index(step) < heard.index(end) for step in steps)
