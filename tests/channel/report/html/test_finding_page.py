"""The page of a finding: the case beside honest play, and the run beside the author's source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.findings.finding import Finding, Loss
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.lab.cases.case import make_case
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.crosscheck.crosscheck import findings
from channelsim.channel.lab.debug.cases import requests_of_file
from channelsim.channel.lab.debug.debugger import answered, started
from channelsim.channel.lab.fuzz.case_records import read
from channelsim.channel.lab.fuzz.findings import shrunk
from channelsim.channel.lab.fuzz.shrink import broken_by
from channelsim.channel.lab.laws import laws
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.site import make_site
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.html.finding_page import FindingPage, finding_html, finding_page
from tests.browser import by_id, opened, parsed, text_of
from tests.channel.command import channelsim
from tests.channel.lab.broken import target_file

HOSTILE = "</pre><script>alert(1)</script>"
SHOWN = """<script>
for (const one of document.querySelectorAll("details > *")) {
  one.dataset.shown = one.checkVisibility();
}
</script>"""

PRESSED = """<p id="told"></p><script>
const run = document.querySelector(".run"), trace = run.querySelector(".trace"), told = [];
function note() {
  const [step] = run.querySelectorAll("li[aria-current]");
  const lines = [...run.querySelectorAll("tr[aria-current] code")];
  told.push([
    run.querySelector("output").textContent, step.textContent.trim(), step.checkVisibility(),
    lines.map((line) => line.textContent).join(),
  ]);
}
note();
for (const key of KEYS) {
  const button = run.querySelector(`[data-way="${key}"]`);
  if (button) button.click();
  else trace.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  note();
}
document.getElementById("told").textContent = JSON.stringify(told);
</script>"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Finding]:
    """A finding: the secret that Alice reveals need not be the committed one."""
    folder = tmp_path_factory.mktemp("finding")
    committed = "(= (sha256 (substr MOVE 0 17)) discard_commit)"
    target = load(str(target_file(folder, "calpoker", ("calpoker/e.clsp", committed, "1"))))
    turn = next(turn for turn in plain_hands(target, b"page") if turn.before.validator == "e")
    site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
    (agree,) = (law for law in laws() if law.name == "verdicts agree")
    move = bytes([site.play.move[0] ^ 1]) + site.play.move[1:]
    case = make_case(site, "page", move, site.play.share, site.held[-1])
    found = shrunk(target, case, broken_by(target, agree, case)[0], 9)
    (path,) = FindingFiles(folder).write([found])
    return path, found


def test_the_changed_byte_is_marked_in_both_moves(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    page = finding_page(path, found)
    move = page.fields[0]
    assert [one.name for one in page.fields if one.changed] == ["move"]
    for side, key in ((move.honest, "honest_move"), (move.case, "move")):
        assert "".join(one.text for one in side) == found.probe[key]
        assert (len(side[0].text), side[0].changed) == (2, True)
        assert sum(one.changed for one in side) == 1


def test_a_finding_of_crosscheck_shows_its_run(
    stored: tuple[Path, Finding], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = stored
    tally = LabTally()
    tally.found(
        Finding(
            rule="verdicts agree", place="e", severity="theft", text="a loss", vector=found.vector
        )
    )
    (file,) = FindingFiles(tmp_path).write(findings(load(found.source), tally))
    shown = text_of(parsed(channelsim(capsys, "report", file, "-o", "-").out))
    assert "if (= (strlen MOVE) 18)" in shown
    assert f"channelsim trace -v {file}" in shown
    assert "verdictslashvalid" in "".join(shown.split())
    # The check is gone, but one line still names its rule.
    assert "Go to the line that accepts" in shown
    assert channelsim(capsys, "trace", file).code == 0


def test_a_finding_of_crosscheck_marks_the_line_that_slashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    length = "(= (strlen MOVE) 18)"
    broken = "(= (strlen MOVE) 19)"
    target = target_file(tmp_path, "calpoker", ("calpoker/e.clsp", length, broken))
    out = tmp_path / "campaign"
    assert channelsim(capsys, "crosscheck", target, "--cases", 500, "--out", out).code == 1
    (file, *_) = (out / "findings").glob("e-verdicts-agree-*")
    shown = parsed(channelsim(capsys, "report", file, "-o", "-").out)
    (marked,) = (row for row in shown.iter("tr") if row.get("class") == "decides")
    assert broken in text_of(marked)


def test_steps_lead_to_their_lines_of_the_source(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    page = finding_page(path, found)
    lines = {line.anchor: line for file in page.run.sources for line in file.lines if line.anchor}
    linked = [step for part in page.run.parts for step in part.steps if step.anchor]
    assert len(linked) > 3
    (length,) = (step for step in linked if step.line.text.startswith("if (= (strlen MOVE) 18)"))
    assert "(= (strlen MOVE) 18)" in lines[length.anchor].text
    assert {step.anchor for step in linked} <= lines.keys()
    decides = [
        f"{file.name}:{line.number}"
        for file in page.run.sources
        for line in file.lines
        if line.decides
    ]
    assert decides == [found.source_line]
    assert "Go to the line that accepts" in text_of(parsed(finding_html(page)))
    ids = [node.get("id") for node in parsed(finding_html(page)).iter() if node.get("id")]
    assert set(lines) <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_run_stands_beside_the_source(stored: tuple[Path, Finding]) -> None:
    """Each of the two columns has one of them; the buttons above take both."""
    document = parsed(finding_html(finding_page(*stored)))
    (run,) = (node for node in document.iter("div") if node.get("class") == "run")
    assert [child.get("class") for child in run] == ["stepping", "trace", "source"]
    (goto,) = (node for node in document.iter("a") if "Go to the line" in text_of(node))
    assert by_id(document, goto.get("href")[1:]).get("class") == "decides"


def test_on_paper_nothing_is_folded(stored: tuple[Path, Finding], tmp_path: Path) -> None:
    """A page without a script cannot open anything when it is printed."""
    html = finding_html(finding_page(*stored)).replace("@media print", "@media screen")
    page = re.sub("<meta http-equiv=[^>]*>", "", html).replace("</body>", f"{SHOWN}</body>")
    folded = [node for one in opened(page, tmp_path).document.iter("details") for node in one]
    assert [node.get("data-shown") for node in folded] == ["true"] * len(folded)
    assert len(folded) == 10


def pressed(page: FindingPage, folder: Path, *keys: str) -> list[tuple[str, str, bool, str]]:
    """What the run shows at first, and after each key: status, step, if it is seen, and line."""
    script = PRESSED.replace("KEYS", json.dumps(keys))
    html = re.sub("<meta http-equiv=[^>]*>", "", finding_html(page))
    document = opened(html.replace("</body>", f"{script}</body>"), folder).document
    return [(*told,) for told in json.loads(text_of(by_id(document, "told")))]


def test_the_keys_step_through_the_run(stored: tuple[Path, Finding], tmp_path: Path) -> None:
    keys = ("Home", "s", "ArrowDown", "b", "t", "t", "u", "End", "s", "ArrowUp", "d", "back", "x")
    first, *told = pressed(finding_page(*stored), tmp_path, *keys)
    places = [int(re.findall(r"step (\d+) of", status)[0]) for status, *_ in (first, *told)]
    last = int(re.findall(r"of (\d+)", first[0])[0])
    decision, start, step, down, back, test, second, untest, end, stays, up, again, *rest = places
    assert (start, step, down, back) == (1, 2, 3, 2)
    assert test < second
    assert untest == test
    assert (end, stays, up) == (last, last, last - 1)
    assert again == decision
    assert rest == [decision - 1, decision - 1]
    assert all(is_seen for _, _, is_seen, _ in (first, *told))
    for at in (4, 5):
        assert told[at][1].startswith("if ")
    assert [at for at, (status, *_) in enumerate((first, *told)) if "which decides" in status] == [
        at for at, place in enumerate(places) if place == decision
    ]


def test_the_page_and_the_terminal_agree_on_what_decides(
    stored: tuple[Path, Finding], tmp_path: Path
) -> None:
    session, _ = started(requests_of_file(stored[0], None))
    session, lines = answered(session, "decision")
    ((status, text, _, line),) = pressed(finding_page(*stored), tmp_path)
    source = session.run.stops.source(session.at)
    assert status.endswith(f"which decides, {source}")
    assert text.partition(": ")[0][:30] in session.run.stops.text(session.at)
    assert line.strip()
    assert line.strip() in " ".join("\n".join(lines).split())


def test_words_of_a_finding_are_text(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    hostile = msgspec.structs.replace(
        found,
        text=HOSTILE,
        cause=HOSTILE,
        also=(HOSTILE,),
        differs=(HOSTILE,),
        pytest=HOSTILE,
        brun={HOSTILE: HOSTILE},
        probe={"move": HOSTILE, "honest_move": "zz", "held": HOSTILE, "state": {HOSTILE: [None]}},
    )
    document = parsed(finding_html(finding_page(path, hostile)))
    assert list(document.iter("script")) == []
    assert text_of(document).count(HOSTILE) > 7


def test_a_page_without_the_programs_says_so(
    stored: tuple[Path, Finding], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = stored
    alone = tmp_path / "alone.json"
    gone = msgspec.structs.replace(found, source="gone.toml", brun={}, vector=None)
    alone.write_bytes(msgspec.json.encode(gone))
    ran = channelsim(capsys, "report", alone, "-o", tmp_path / "page.html")
    assert (ran.code, ran.err) == (0, "")
    text = text_of(parsed((tmp_path / "page.html").read_text("utf-8")))
    assert "The run is not here" in text
    for part in found.text.split(". ", 1):
        assert part in text


def test_the_line_is_the_validators_where_the_referee_is_at_fault(
    stored: tuple[Path, Finding], tmp_path: Path
) -> None:
    """The head of the referee would say nothing."""
    _, found = stored
    target = load(str(target_file(tmp_path, "calpoker", referee="tree/channel/referee.clsp")))
    case = read(target, found.probe)
    fault = Finding(rule="slash path", place="e", severity="theft", text="a", cause="slash path")
    line = shrunk(target, case, fault, 1).source_line
    assert re.fullmatch(rf"{re.escape(str(tmp_path))}/tree/calpoker/e\.clsp:4\d", line)


# --- what a reader sees first ---------------------------------------------------------------------


def test_the_title_is_a_sentence_and_the_loss_comes_first(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    assert found.loss == Loss("Alice", "Bob", 2000)
    page = finding_page(path, found)
    document = parsed(finding_html(page))
    assert text_of(document.find(".//h1")) == "Alice takes 2,000 mojos that are Bob's: e, CP-E-4"
    header = text_of(document.find(".//header"))
    assert "Bob loses 2,000 mojos to Alice" in header
    assert "forbids, so it cannot be slashed" in header
    assert f"channelsim replay {path}" in header


def test_the_fields_of_a_state_have_their_names(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    names = [field.name for field in finding_page(path, found).fields]
    assert names[:3] == ["move", "opponent's share", "evidence"]
    assert [name for name in names if name.startswith("state: ")] == [
        "state: bob_mask",
        "state: alice_cards",
        "state: bob_cards",
        "state: discard_commit",
    ]
    text = text_of(parsed(finding_html(finding_page(path, found))))
    assert "8 fields that are the same" in text


def test_a_run_like_honest_play_is_folded_and_says_so(stored: tuple[Path, Finding]) -> None:
    """The check is gone, so no step sees the difference."""
    page = finding_page(*stored)
    (part,) = page.run.parts
    assert part.same
    document = parsed(finding_html(page))
    assert f"{len(part.steps)} steps as in honest play" in text_of(document)
    assert "no test of the program sees the difference" in text_of(document)
    assert "The line that matters" in [text_of(node) for node in document.iter("h2")]


def test_a_run_is_open_where_it_differs(stored: tuple[Path, Finding], tmp_path: Path) -> None:
    """A test that comes too late: the steps before it are as in honest play."""
    _, found = stored
    hashed = "(= (sha256 (substr MOVE 0 17)) discard_commit)"
    target = target_file(tmp_path, "calpoker", ("calpoker/e.clsp", hashed, f"(if {hashed} 1 (x))"))
    case = read(load(str(target)), found.probe)
    shown = shrunk(load(str(target)), case, msgspec.structs.replace(found, brun={}, probe={}), 1)
    (path,) = FindingFiles(tmp_path).write([shown])
    page = finding_page(path, shown)
    assert [part.same for part in page.run.parts][:2] == [True, False]
    assert not page.run.all_same
    opened_steps = [
        step.line.text for part in page.run.parts if not part.same for step in part.steps
    ]
    assert any("discard_commit" in text for text in opened_steps)


def test_a_check_that_is_missing_is_named(stored: tuple[Path, Finding]) -> None:
    path, found = stored
    gone = msgspec.structs.replace(
        found, source_line="", missing_check="no line checks CP-E-4; the last test that passed is x"
    )
    text = text_of(parsed(finding_html(finding_page(path, gone))))
    assert "No line checks CP-E-4; the last test that passed is x." in text
    assert "add the check that is missing" in text


def test_sides_have_names_where_it_is_known_who_moves(
    stored: tuple[Path, Finding], tmp_path: Path
) -> None:
    """A case that was read does not say it, but only Alice makes a move of this kind; in Space
    Poker, either player makes those of a betting round."""
    _, found = stored
    target = load(found.source)
    case = read(target, found.probe)
    (agree,) = (law for law in laws() if law.name == "verdicts agree")
    assert shrunk(target, case, broken_by(target, agree, case)[0], 1).loss == found.loss
    share = ("spacepoker/begin_round.clsp", "(= MOVER_SHARE (- (/ AMOUNT 2) half_pot))", "1")
    rounds = load(str(target_file(tmp_path, "spacepoker", share)))
    turn = next(
        turn for turn in plain_hands(rounds, b"page") if turn.before.validator == "begin_round"
    )
    site = make_site(rounds, turn.before, turn.play, turn.amount, turn.receiver)
    played = make_case(site, "page", site.play.move, 0, site.held[-1])
    known = shrunk(rounds, played, broken_by(rounds, agree, played)[0], 1)
    assert known.loss is not None
    assert {known.loss.taker, known.loss.loser} == {"Alice", "Bob"}
    again = read(rounds, known.probe)
    unknown = shrunk(rounds, again, broken_by(rounds, agree, again)[0], 1)
    assert unknown.loss == Loss("the mover", "its opponent", known.loss.amount)
