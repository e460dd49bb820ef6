"""The genuine node as a process: chia-blockchain's own, in its own virtual environment.

`scripts/test-real-node` sets up the environment and the root, and names them by two variables:
CHANNELSIM_REAL_NODE_PYTHON, the interpreter that has chia-blockchain, and
CHANNELSIM_REAL_NODE_ROOT, the folder that is kept from run to run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from signal import SIGUSR1
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Self
from urllib.parse import urlsplit

from channelsim.channel.chain.full_node import Credentials

PYTHON = "CHANNELSIM_REAL_NODE_PYTHON"
FOLDER = "CHANNELSIM_REAL_NODE_ROOT"
STARTER = Path(__file__).parents[2] / "scripts" / "chia_node.py"
SECONDS_TO_END = 20


class RealNode:
    """A node with a chain of this name, which is new; ends with the `with` that it is used in.

    `address` is the farmer's, as `farm_block` takes it. The chain is deleted afterwards. With
    `agg_sig_data`, signatures are for that and not for the genesis challenge. One that `follows`
    another node, which `listens`, has the same blocks and pending bundles.
    """

    def __init__(
        self,
        chain: str,
        agg_sig_data: bytes | None = None,
        *,
        listens: bool = False,
        follows: RealNode | None = None,
    ) -> None:
        self._root = Path(os.environ[FOLDER])
        self._chain = chain
        self._log = self._root / f"{chain}.log"
        self._port: str | None = None
        self._options: list[str] = ["--listen"] if listens else []
        if agg_sig_data is not None:
            self._options += ["--agg-sig-data", agg_sig_data.hex()]
        if follows is not None:
            self._options += ["--follow", str(follows.peer_port)]
        self._delete()
        self.start()

    def start(self) -> None:
        """Start the process, after a kill at the same port and with the same chain."""
        environment = {
            **os.environ,
            "HOME": str(self._root / "home"),
            "CHIA_ROOT": str(self._root / "chia"),
            "CHIA_KEYS_ROOT": str(self._root / "keys"),
        }
        for folder in ("home", "keys"):
            (self._root / folder).mkdir(parents=True, exist_ok=True)
        command = [os.environ[PYTHON], str(STARTER), self._chain]
        command += ["--port", self._port] if self._port else []
        command += self._options
        with self._log.open("wb") as log:
            self._process = Popen(command, env=environment, stdin=PIPE, stdout=PIPE, stderr=log)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.kill()
            raise AssertionError(f"the genuine node does not start: {self.errors()}")
        about = json.loads(line)
        self.url: str = about["url"]
        self.address: str = about["address"]
        self.peer_port: int | None = about["peer_port"]
        self.credentials = Credentials(Path(about["certificate"]), Path(about["key"]))
        self._port = str(urlsplit(self.url).port)

    def errors(self) -> str:
        """The end of what the process wrote to its standard error."""
        return self._log.read_text(errors="replace")[-2000:]

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._process.kill()
        self._reap()

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._reap()

    def toggle_synced(self) -> None:
        """Let the node call itself not synced, or synced again."""
        self._process.send_signal(SIGUSR1)

    def _reap(self) -> None:
        try:
            self._process.wait(SECONDS_TO_END)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _delete(self) -> None:
        for file in (self._root / "chia" / "db").glob(f"{self._chain}.sqlite*"):
            file.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._delete()
