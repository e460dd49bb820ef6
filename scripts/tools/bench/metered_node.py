"""A node's RPC behind a proxy that counts calls and bytes, delays answers and hides solutions."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from urllib.parse import urlsplit

HIDDEN = b'{"success": false, "error": "the solution is too large"}'
"""The answer of a node that cannot give a solution."""


class MeteredNode:
    """Calls made to a node through its proxy at `url`.

    `hidden` are the ids of coins whose solutions it does not give, and `delay` the seconds that
    each call takes. `calls` are counted by name, and `bytes` are those of questions and answers.
    """

    def __init__(self) -> None:
        self.url = ""
        self.hidden: set[bytes] = set()
        self.delay = 0.0
        self.calls: Counter[str] = Counter()
        self.bytes = 0

    def reset(self) -> None:
        """Count from 0 again."""
        self.calls.clear()
        self.bytes = 0

    def count(self, call: str, size: int) -> None:
        """Count a call with so many bytes of question and answer."""
        self.calls[call] += 1
        self.bytes += size

    def hides(self, call: str, question: bytes) -> bool:
        """True if this is asked for a hidden solution."""
        if call != "get_puzzle_and_solution":
            return False
        coin_id = str(json.loads(question).get("coin_id", ""))
        return bytes.fromhex(coin_id.removeprefix("0x")) in self.hidden


@contextmanager
def metered(node_url: str) -> Iterator[MeteredNode]:
    """Put a proxy before the RPC of a node, which it serves in this block."""
    meter = MeteredNode()
    address = urlsplit(node_url)

    class Handler(BaseHTTPRequestHandler):
        """Passes calls on to the node."""

        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece, which nothing delays
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            """Pass a call on and count it, or hide its answer."""
            call = self.path.strip("/")
            question = self.rfile.read(int(self.headers.get("content-length", 0)))
            sleep(meter.delay)
            answer, status = HIDDEN, 200
            if not meter.hides(call, question):
                node = HTTPConnection(address.hostname or "", address.port)
                try:
                    headers = {"content-type": "application/json"}
                    node.request("POST", self.path, question, headers)
                    response = node.getresponse()
                    answer, status = response.read(), response.status
                finally:
                    node.close()
            meter.count(call, len(question) + len(answer))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    meter.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield meter
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
