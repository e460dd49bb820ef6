"""Play a channel in three processes: a node, Bob who listens, and Alice who connects.

    python examples/two-peers/two_peers.py                    # you are Alice, a policy is Bob
    python examples/two-peers/two_peers.py --alice random     # two policies
    python examples/two-peers/two_peers.py --two-terminals    # prints a command for each terminal

It starts a test node, makes a folder with keys and identities, and runs both peers. At the end,
also after Ctrl-C, it stops what it started and removes the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

CHANNELSIM = [sys.executable, "-c", "from channelsim.channel.cli import main; main()"]
"""The command `channelsim`, of the Python that runs this script."""

NAMES = ("alice", "bob")
STOP_TIME = 20.0
"""Seconds after which a process that does not stop is killed."""


def main() -> int:
    """Run the session; its exit code is that of Alice."""
    asked = arguments()
    # An interrupt also counts where a shell started this in the background; so does SIGTERM.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="two-peers-")))
        pause = f"{asked.block_every:g}"
        node = stack.enter_context(background(folder / "node", "node", "--block-every", pause))
        about = next(node)
        print(f"node: {about['url']}, with a block every {pause} s", flush=True)
        passphrase = folder / "passphrase"
        private(passphrase, secrets.token_hex(16))
        fingerprints = {}
        for name, wallet in zip(NAMES, about["wallets"], strict=True):
            private(folder / f"{name}.key", wallet["secret_key"])
            command = ["peer", "identity", f"{folder / name}", "--passphrase-file", f"{passphrase}"]
            identity = subprocess.run(
                [*CHANNELSIM, *command, "--json"], check=True, capture_output=True
            )
            fingerprints[name] = json.loads(identity.stdout)["fingerprint"]

        def peer(name: str, other: str, what: str, *more: str) -> list[str]:
            """The command of one side; both name the same games and hands."""
            options = {
                "--node": about["url"],
                "--peer": fingerprints[other],
                "--game": asked.game,
                "--hands": str(asked.hands),
                "--wallet-key": f"{folder / name}.key",
                "--passphrase-file": f"{passphrase}",
                "--policy": getattr(asked, name),
            }
            words = [word for option in options.items() for word in option]
            return ["peer", what, f"{folder / name}", *words, *more]

        if asked.two_terminals:
            in_two_terminals(peer)
        bob = stack.enter_context(background(folder / "bob.log", *peer("bob", "alice", "listen")))
        listening = next(line for line in bob if line["event"] == "Listening")
        address = listening["text"].split()[2].rstrip(",")
        code = foreground(*peer("alice", "bob", "connect", "--address", address, "--text"))
        if code == 0:
            end = next(line for line in bob if line["event"] == "Ended")
            print(f"Bob: {end['text']}")
        return code


def arguments() -> Any:
    """The options of this script."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--game", default="spacepoker", help="a game, or several with commas")
    parser.add_argument("--hands", type=int, default=3)
    parser.add_argument("--alice", default="ask", help="her policy; `ask` is you (the default)")
    parser.add_argument("--bob", help="his policy (caller; `ask` with --two-terminals)")
    parser.add_argument("--block-every", type=float, default=1.0, help="seconds")
    parser.add_argument(
        "--two-terminals", action="store_true", help="print the commands, and run only the node"
    )
    asked = parser.parse_args()
    asked.bob = asked.bob or ("ask" if asked.two_terminals else "caller")
    return asked


def private(path: Path, text: str) -> None:
    """Write a secret to a file that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(text + "\n", "utf-8")


@contextmanager
def background(log: Path, *words: str) -> Iterator[Iterator[Any]]:
    """Run a command in the background, and yield its lines; at the end, stop it."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*CHANNELSIM, *words, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            # Ctrl-C at the terminal does not reach it: it is stopped here, in order.
            start_new_session=True,
        )
        try:
            yield lines(log, process)
        finally:
            stop(process)


def lines(log: Path, process: subprocess.Popen[bytes]) -> Iterator[Any]:
    """The lines of JSON that a command writes to a file, as they come."""
    with log.open("rb") as written:
        line = b""
        while True:
            ended = process.poll() is not None
            line += written.readline()
            if line.endswith(b"\n"):
                yield json.loads(line)
                line = b""
            elif ended:
                sys.exit(f"{log.name} ended early, with code {process.returncode}")
            else:
                time.sleep(0.05)


def foreground(*words: str) -> int:
    """Run a command that has this terminal, and that Ctrl-C reaches; returns its exit code."""
    process = subprocess.Popen([*CHANNELSIM, *words])
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait(STOP_TIME)
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that still runs, and wait for it."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_TIME)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def in_two_terminals(peer: Any) -> NoReturn:
    """Print a command for each terminal, and keep the node until Ctrl-C."""
    address = f"127.0.0.1:{20_000 + os.getpid() % 20_000}"
    commands = [
        peer("bob", "alice", "listen", "--address", address),
        peer("alice", "bob", "connect", "--address", address),
    ]
    for name, command in zip(("Bob", "Alice"), commands, strict=True):
        print(f"\n{name}, in a terminal:\n{shlex.join(['channelsim', *command])}", flush=True)
    print("\nCtrl-C here stops the node and removes the folder.", flush=True)
    while True:
        time.sleep(1.0)  # an interrupt just before it is noticed after it, as it is not by a pause


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
