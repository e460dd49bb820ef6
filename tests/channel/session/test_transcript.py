from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.session.transcript import read
from tests.channel.command import channelsim

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("played") / "session.jsonl"
    import contextlib
    import io
    import sys

    from channelsim.channel.cli import main

    before = sys.argv
    sys.argv = ["channelsim", "play", "spacepoker", "--seed", "t", "--hands", "1"]
    sys.argv += ["--policy", "random", "--transcript", str(file)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    sys.argv = before
    return file.read_bytes()


def test_replay_arrives_at_the_same_digest(
    capsys: Capsys, tmp_path: Path, transcript: bytes
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(transcript)
    ran = channelsim(capsys, "replay", file)
    assert ran.code == 0
    assert f'"digest": "{sha256(transcript).hexdigest()}"' in ran.out
    assert read(file).digest == sha256(transcript).hexdigest()


def test_an_altered_byte_is_found_in_its_line(tmp_path: Path, transcript: bytes) -> None:
    """Change one bit in bytes all over the file: each change is refused, in its line."""
    file = tmp_path / "t.jsonl"
    line_of = []
    number = 1
    for byte in transcript:
        line_of.append(number)
        number += byte == 0x0A
    step = max(1, len(transcript) // 1500)
    for place in range(0, len(transcript), step):
        altered = bytearray(transcript)
        altered[place] ^= 1 << (place % 8)
        file.write_bytes(altered)
        with pytest.raises(UsageError, match=rf"line {line_of[place]}: "):
            read(file)


def test_a_transcript_cut_short_is_refused(tmp_path: Path, transcript: bytes) -> None:
    lines = transcript.splitlines(keepends=True)
    file = tmp_path / "t.jsonl"
    for kept in (1, len(lines) // 2, len(lines) - 1):
        file.write_bytes(b"".join(lines[:kept]))
        with pytest.raises(UsageError, match=f"line {kept}: the transcript is cut off"):
            read(file)
    file.write_bytes(transcript[:-1])
    with pytest.raises(UsageError, match=f"line {len(lines)}: not a line"):
        read(file)
    file.write_bytes(b"".join(lines[:3] + lines[4:]))
    with pytest.raises(UsageError, match="line 4: altered"):
        read(file)


def test_a_forged_chain_is_found_by_playing(
    capsys: Capsys, tmp_path: Path, transcript: bytes
) -> None:
    """An altered record with a repaired chain still differs from the replay."""
    bodies = [line[68:-2] for line in transcript.splitlines(keepends=True)]
    place = next(i for i, body in enumerate(bodies) if body.startswith(b'{"decided"'))
    assert b'"verb":"' in bodies[place]
    bodies[place] = bodies[place].replace(b'"game":0', b'"game":1')
    chain, lines = bytes(32), []
    for body in bodies:
        chain = sha256(chain + body).digest()
        lines.append(b'["' + chain.hex().encode() + b'",' + body + b"]\n")
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"".join(lines))
    ran = channelsim(capsys, "replay", file)
    assert ran.code == 2
    assert f"line {place + 1}: the session went differently" in ran.err


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"\x00" * 100, b'["x",{}]\n'])
def test_a_file_that_is_no_transcript(capsys: Capsys, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "none"
    file.write_bytes(content)
    ran = channelsim(capsys, "replay", file)
    assert ran.code == 2
    assert str(file) in ran.err
    assert len(ran.err.splitlines()) == 1
