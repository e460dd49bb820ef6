"""`cost`: what is measured, bundles against the consensus library, and snapshots that hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.lab.costs import bundles, costs, snapshot
from channelsim.channel.lab.costs.costs import PATHS
from channelsim.channel.lab.targets.loading import load
from channelsim.clsp.run import MAX_COST
from tests.channel.command import channelsim
from tests.channel.lab.broken import ENDLESS, target_file
from tests.channel.lab.consensus import COST_PER_BYTE, block_cost, cost_of
from tests.channel.lab.toys import toy
from tests.menu import each_game

GAME = "spacepoker"
CASES = 100

PER_COIN, PER_SIGNATURE = 1_800_000, 1_200_000
WRAPPING = 2 * COST_PER_BYTE + 20
"""What a block costs over its spends: the quote around them, as bytes and as CLVM."""

COSTLIER = ("spacepoker/commitA.clsp", "(= (strlen MOVE) 32) ", "(= (strlen (sha256 MOVE)) 32) ")


@each_game
def test_every_path_of_every_validator_is_measured(game: str) -> None:
    target = load(game)
    one, same, other = (costs.measure(target, CASES, seed).figures() for seed in ("s", "s", "t"))
    assert one == same != other
    assert [(name, list(paths)) for name, paths in one.items()] == [
        (name, list(PATHS)) for name in target.programs
    ]
    for paths in one.values():
        for figures in paths.values():
            assert figures.least <= figures.median <= figures.most
            assert figures.least <= figures.mean <= figures.most
        # The referee's slash hashes the validator, and runs it.
        assert paths["slash"].least > paths["validator"].least
        # A lie about a legal move is slashed by a run to the end, so it is the costliest.
        assert paths["slash"].most > paths["validator"].most


@each_game
def test_bundles_cost_what_the_consensus_library_says(game: str) -> None:
    measured = costs.measure(load(game), CASES, "s")
    agg_sig_data = SimulatedChain(bundles.NODE).agg_sig_data()
    names = []
    for name, bundle, error in bundles.offer_bundles(measured):
        assert error == ""
        ours = bundles.bundle_cost(bundle)
        assert (ours.clvm, ours.conditions, ours.total) == cost_of(bundle, agg_sig_data)
        assert ours.total + WRAPPING == block_cost(bundle, agg_sig_data)
        names.append(name)
    channel = ["funding", "clean shutdown", "publish", "preempt", "unroll timeout"]
    paths = [path for path in PATHS if path != "validator"]
    assert names == channel + [f"{name} {path}" for name in load(game).programs for path in paths]


def test_the_conditions_of_a_bundle_are_those_of_the_protocol() -> None:
    found = bundles.measure(costs.measure(load(GAME), CASES, "s")).costs
    coins_and_signatures = {
        "publish": (1, 1),
        "preempt": (3, 1),
        "unroll timeout": (3, 0),
        "clean shutdown": (2, 1),
        "end move": (1, 1),
        "end timeout": (2, 2),
        "end slash": (1, 1),
    }
    for name, (coins, signatures) in coins_and_signatures.items():
        assert found[name].conditions == coins * PER_COIN + signatures * PER_SIGNATURE


@pytest.mark.long
def test_a_program_without_an_end_fills_a_block_and_the_rest_is_measured(tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker")
    (tmp_path / "tree" / "calpoker" / "d.clsp").write_text(ENDLESS)
    figures = costs.measure(load(str(path)), 200, "s").figures()
    assert list(figures["d"]) == ["validator"]
    assert (figures["d"]["validator"].runs, figures["d"]["validator"].most) == (1, MAX_COST)
    assert list(figures["e"]) == list(PATHS)


def test_a_bundle_that_the_node_refuses_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = ("channel/referee.clsp", "(- AMOUNT MOVER_SHARE)", "AMOUNT")
    path = target_file(tmp_path, GAME, change, referee="tree/channel/referee.clsp")
    ran = channelsim(capsys, "cost", path, "--cases", CASES)
    assert ran.code == 1
    assert "refused by the node: end timeout: MINTING_COIN" in ran.out


# --- snapshots -------------------------------------------------------------------------------


def test_a_snapshot_is_the_same_bytes_and_reads_back(tmp_path: Path) -> None:
    target = load(GAME)
    texts = []
    for _ in range(2):
        measured = costs.measure(target, CASES, "s")
        whole = bundles.measure(measured)
        now = snapshot.Snapshot(target.name, CASES, "s", measured.figures(), whole.costs)
        texts.append(snapshot.text(now))
    assert texts[0] == texts[1]
    names = [line.split(" = ")[0] for line in texts[0].split("[bundles]\n")[1].splitlines()]
    assert names == sorted(names, key=lambda name: name.strip('"'))
    file = tmp_path / "costs.toml"
    file.write_text(texts[0], "utf-8")
    assert snapshot.read(file) == now
    assert snapshot.compare(now, snapshot.read(file), 0) == snapshot.Changes((), (), (), ())


def test_names_of_any_kind_are_written_as_toml_has_them(tmp_path: Path) -> None:
    names = ['a "quoted" one', "ein Gräuel", "new\nline", "\x7f", "", "plain"]
    figures = costs.Figures(1, 2, 3, 4, 5)
    now = snapshot.Snapshot("\x7f\x01", 1, "s\\", {name: {"move": figures} for name in names}, {})
    file = tmp_path / "costs.toml"
    file.write_text(snapshot.text(now), "utf-8", newline="\n")
    assert snapshot.read(file) == now


def test_a_higher_cost_fails_and_a_lower_one_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("plain", "dear"):
        (tmp_path / name).mkdir()
    plain = target_file(tmp_path / "plain", GAME)
    dear = target_file(tmp_path / "dear", GAME, COSTLIER)
    held = tmp_path / "costs.toml"
    ran = channelsim(capsys, "cost", plain, "--cases", CASES, "--seed", "s", "--write", held)
    assert ran.code == 0
    ran = channelsim(capsys, "cost", plain, "--check", held)
    assert ran.code == 0
    assert ran.out.splitlines()[-2:] == [f"{held}: holds; 0 lower, 0 new", "0 findings"]

    ran = channelsim(capsys, "cost", dear, "--check", held)
    assert ran.code == 1
    lines = [line for line in ran.out.splitlines() if line.startswith("higher: ")]
    assert any(line.startswith("higher: commitA validator most: ") for line in lines)
    assert any(line.startswith("higher: bundle commitA slash total: ") for line in lines)
    assert len(lines) == len(set(lines))
    assert ran.out.splitlines()[-1] == f"{len(lines)} findings (worst: failed check)"
    # Nothing that has nothing to do with it: other programs cost what they did.
    assert not [line for line in lines if "end" in line or "mid_round" in line]
    again = tmp_path / "dear.toml"
    more = ("--tolerance", 1000, "--write", again)
    assert channelsim(capsys, "cost", dear, "--check", held, *more).code == 0
    ran = channelsim(capsys, "cost", plain, "--check", again)
    assert ran.code == 0
    assert "lower: commitA validator most: " in ran.out
    ran = channelsim(capsys, "cost", dear, "--check", held, "--json")
    document = json.loads(ran.out)
    assert ran.code == 1
    assert len(document["check"]["risen"]) == len(lines)
    assert document["costs"]["validators"]["end"]["slash"]["most"] < 0.001 * document["block"]
    assert document["costs"]["bundles"]["publish"]["bytes"] > 300


@pytest.mark.long
def test_a_missing_figure_fails_and_a_new_one_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = tmp_path / "costs.toml"
    channelsim(capsys, "cost", GAME, "--cases", CASES, "--write", held)
    text = held.read_text("utf-8")
    held.write_text(text.replace("[validators.end]", "[validators.finish]"), "utf-8")
    ran = channelsim(capsys, "cost", GAME, "--check", held)
    assert ran.code == 1
    assert "gone: finish slash was not measured" in ran.out
    assert f"new: end slash is not in {held}" in ran.out
    cut = text.replace("[validators.end]", "[cut]").split("[cut]")
    rest = cut[1].partition("\n[")
    held.write_text(cut[0] + "[" + rest[2], "utf-8")
    ran = channelsim(capsys, "cost", GAME, "--check", held)
    assert (ran.code, ran.out.count("new: ")) == (0, 4)


BAD = {
    "a figure that is none": ("most = ", 'most = "x" #'),
    "no TOML": ("[bundles]", "[bundles"),
    "a key too many": ("cases = ", "more = 1\ncases = "),
    "a key too few": ("seed = ", "# seed = "),
    "no cases": (f"cases = {CASES}", "cases = 0"),
    "another target altogether": ("[validators.", "[validators.x"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_snapshot_is_one_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = BAD[kind]
    figures = costs.Figures(1, 2, 3, 4, 5)
    one = snapshot.Snapshot(GAME, CASES, "s", {"end": {"move": figures}}, {})
    text = snapshot.text(one)
    assert old in text
    held = tmp_path / "costs.toml"
    held.write_text(text.replace(old, new), "utf-8")
    ran = channelsim(capsys, "cost", GAME, "--check", held)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert str(held) in ran.err


def test_bad_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = tmp_path / "costs.toml"
    figures = costs.Figures(1, 2, 3, 4, 5)
    one = snapshot.Snapshot(GAME, CASES, "s", {"end": {"move": figures}}, {})
    held.write_text(snapshot.text(one), "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for arguments in (
        ("ludo",),
        (GAME, "--cases", 0),
        (GAME, "--check", tmp_path / "gone"),
        (GAME, "--check", tmp_path / "bytes"),
        (GAME, "--check", held, "--cases", CASES + 1),
        (GAME, "--check", held, "--seed", "t"),
        (GAME, "--check", held, "--tolerance", -1),
        (GAME, "--check", held, "--tolerance", "nan"),
        (GAME, "--tolerance", 1),
        (GAME, "--cases", 100, "--write", tmp_path / "no" / "file"),
    ):
        ran = channelsim(capsys, "cost", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), arguments


def test_coins_of_more_than_a_node_gives_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = channelsim(capsys, "cost", GAME, "--cases", 200)
    monkeypatch.setattr(costs, "MOST_MOJOS", 1)
    ran = channelsim(capsys, "cost", GAME, "--cases", 200)
    assert ran.code == whole.code == 0
    assert ran.out.count("left out: ") == whole.out.count(" move ") // 2 * 3 > 0
    assert "left out: end slash: more mojos than a wallet of the node" in ran.out
    assert "publish" in ran.out


def test_a_target_without_rules_has_costs_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = toy(tmp_path)
    ran = channelsim(capsys, "cost", path, "--cases", 400, "--json")
    assert ran.code == 0
    document = json.loads(ran.out)
    assert (document["refused"], document["left_out"]) == ({}, [])
    for name in load(str(path)).programs:
        assert list(document["costs"]["validators"][name]) == list(PATHS)
        assert f"{name} slash" in document["costs"]["bundles"]
    path.write_text(path.read_text().partition("[play]")[0])
    ran = channelsim(capsys, "cost", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
