"""JSON over HTTP on an address of our choice, as a full node's RPC is asked.

Clients are untrusted: connections, headers, bodies and times are bounded, and so are the bytes of
all bodies, and of all answers, together. A call is one POST, with a JSON object as its body.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import msgspec

from channelsim.channel.errors import UsageError

MOST_CONNECTIONS = 128
"""Connections at a time; more are closed at once."""

ACCEPTING = 100
"""The most times that a server which closes waits for connections that are being accepted."""

IDLE_TIME = 120.0
"""Seconds without a request after which a connection is closed."""

REQUEST_TIME = 30.0
"""Seconds from the first byte of a request to the last one of its answer."""

MOST_HEADERS = 1 << 14
"""The bytes of a request's first line and headers."""

MOST_BODY = 8 << 20
"""The bytes of a body. The largest bundle that a block can hold has about 1 MB in hex."""

MOST_BODIES = 64 << 20
"""The bytes of all bodies that are read at the same time."""

MOST_ANSWERS = 256 << 20
"""The bytes of all answers that wait for their clients to read them, but for a single one."""

Call = Callable[[str, object], bytes | None]
"""Answers a call by its name and its arguments; None if there is no such call."""

LOCAL = ("127.0.0.1", 0)
"""A free port of this machine."""


def read_address(text: str) -> tuple[str, int]:
    """Read HOST:PORT. Raises `UsageError`.

    >>> read_address("127.0.0.1:8555"), read_address("[::1]:0")
    (('127.0.0.1', 8555), ('::1', 0))
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UsageError(f"--listen {text[:60]!a}: an address is HOST:PORT, as in 127.0.0.1:8555")
    return host, int(port)


@contextmanager
def serving(call: Call, address: tuple[str, int] = LOCAL) -> Iterator[str]:
    """Answer calls in another thread during the block; yields the URL.

    Raises `UsageError` for an address that cannot be used.
    """
    loop = asyncio.new_event_loop()
    server = _Server(call)
    try:
        try:
            host, port = loop.run_until_complete(server.listen(address))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not an address of this machine"
            raise UsageError(f"--listen {address[0]}:{address[1]}: {reason}") from None
        thread = Thread(target=loop.run_forever, name="rpc server", daemon=True)
        thread.start()
        try:
            yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
    finally:
        loop.close()


class _BadRequest(Exception):
    """The request is not one that this server takes; the status line says why."""


class _Server:
    def __init__(self, call: Call) -> None:
        self._call = call
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._closing = False
        self._reading = 0
        self._writing = 0

    async def listen(self, address: tuple[str, int]) -> tuple[str, int]:
        """Listen at this address; returns it as it is bound."""
        self._server = await asyncio.start_server(self._accept, *address, limit=MOST_HEADERS)
        host, port = self._server.sockets[0].getsockname()[:2]
        return host, port

    async def close(self) -> None:
        """Close the socket and all connections, also those that are just being accepted, and those
        whose clients do not read their answers."""
        self._closing = True
        # What is being accepted when its server closes would stay open for ever.
        for _ in range(ACCEPTING):
            accepting = asyncio.all_tasks() - {asyncio.current_task(), *self._connections}
            if not accepting:
                break
            await asyncio.gather(*accepting, return_exceptions=True)
        if self._server is not None:
            self._server.close()
        for task, writer in self._connections.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets of aborted connections

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closing:
            writer.transport.abort()
            return
        if len(self._connections) >= MOST_CONNECTIONS:
            writer.close()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                while await self._answer_one(reader, writer):
                    pass
        finally:
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; False if it is the last one of its connection."""
        async with asyncio.timeout(IDLE_TIME):
            first = await reader.readexactly(1)
        async with asyncio.timeout(REQUEST_TIME):
            try:
                try:
                    head = first + await reader.readuntil(b"\r\n\r\n")
                except asyncio.LimitOverrunError:
                    raise _BadRequest("431 Request Header Fields Too Large") from None
                path, headers = _read_head(head)
                body = await self._read_body(reader, writer, headers)
                answer = self._answer(path, body)
                if self._writing and self._writing + len(answer) > MOST_ANSWERS:
                    raise _BadRequest("503 Service Unavailable")
            except _BadRequest as bad:
                writer.write(_response(str(bad), f"{bad}\n".encode(), "text/plain", last=True))
                await writer.drain()
                return False
            last = headers.get("connection", "").lower() == "close"
            self._writing += len(answer)
            try:
                writer.write(_response("200 OK", answer, "application/json", last=last))
                await writer.drain()
            finally:
                self._writing -= len(answer)
            return not last

    async def _read_body(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        headers: dict[str, str],
    ) -> bytes:
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 12):
            raise _BadRequest("411 Length Required")
        size = int(length)
        if size > MOST_BODY:
            raise _BadRequest("413 Payload Too Large")
        if self._reading + size > MOST_BODIES:
            raise _BadRequest("503 Service Unavailable")
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._reading += size
        try:
            return await reader.readexactly(size)
        finally:
            self._reading -= size

    def _answer(self, path: str, body: bytes) -> bytes:
        try:
            arguments = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise _BadRequest("400 Bad Request") from None
        answer = self._call(path.strip("/"), arguments)
        if answer is None:
            raise _BadRequest("404 Not Found")
        return answer


def _read_head(head: bytes) -> tuple[str, dict[str, str]]:
    """The path of a POST, and the headers by their names in small letters."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise _BadRequest("400 Bad Request")
    if words[0] != "POST":
        raise _BadRequest("405 Method Not Allowed")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    if words[2] == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return words[1], headers


def _response(status: str, body: bytes, kind: str, *, last: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}; charset=utf-8",
        f"Content-Length: {len(body)}",
        *(["Connection: close"] if last else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
