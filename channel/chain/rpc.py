"""Calls of a full node's RPC: JSON over HTTP or TLS, each bounded in time, tries and bytes.

A call blocks. Calls of several threads use a connection each, and connections are used again. It
needs the standard library alone, so no native thread outlives the interpreter. What a node answers
is untrusted: whoever calls gives the type that the answer must have.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from pathlib import Path
from socket import SHUT_RDWR, socket
from threading import Event, Lock, Timer
from time import sleep
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.games.names import quoted

T = TypeVar("T")

Answered = Callable[[str, bytes], bytes]
"""Answers a call by its name and its arguments, both in JSON."""

DEFAULT_PORT = 8555
"""The port of a full node's RPC."""

MOST_BYTES = 64 << 20
"""The longest answer that is read. A node gives all coins of an address in one."""


class NodeError(UsageError):
    """The node cannot be reached, or its answer is invalid: one line, with its URL."""


class AnswerTooLong(NodeError):
    """The answer has more than `MOST_BYTES`; nothing of it was kept."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of a call: its seconds, the number of tries, and the first pause between them."""

    seconds: float = 15.0
    attempts: int = 4
    pause: float = 0.25


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Credentials:
    """Paths of a client's certificate and key, in PEM, without a passphrase."""

    certificate: Path
    key: Path = field(repr=False)


class _Status(msgspec.Struct, frozen=True):
    """The part of every answer that says whether the node did what it was asked."""

    success: bool
    error: str | None = None


class _Broken(Exception):
    """A connection ended before the answer, or could not be made. Its text says which."""


class RpcClient:
    """A node by its URL. Every call raises `NodeError`. `answered` answers in its place."""

    def __init__(
        self,
        url: str,
        credentials: Credentials | None,
        patience: Patience,
        answered: Answered | None = None,
    ) -> None:
        self._url = url
        self._patience = patience
        self._reply = answered or self._retried
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port or DEFAULT_PORT
        except ValueError as error:
            raise self.wrong(f"cannot be asked: its URL is wrong ({line(error)})") from None
        if parts.scheme not in ("http", "https") or not self._host:
            raise self.wrong("cannot be asked: its URL must be http(s)://HOST:PORT")
        self._path = parts.path.rstrip("/")
        self._tls = self._context(credentials) if parts.scheme == "https" else None
        self._lock = Lock()
        self._idle: list[HTTPConnection] = []
        self._open: set[HTTPConnection] = set()
        self._closed = False

    def close(self) -> None:
        """End all connections, those that other threads wait for too."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            waiting = self._open.difference(idle)
        for connection in waiting:
            _end(connection)
        for connection in idle:
            connection.close()

    def wrong(self, what: str) -> NodeError:
        """The error of a node that is, or does, this."""
        return NodeError(f"the node at {self._url.strip() or quoted(self._url)} {what}")

    def ask(self, call: str, answer: type[T], **arguments: Any) -> T:
        """The answer to a call, as a value of this type. The node must be able to give one."""
        status, body = self._successful_or_not(call, arguments)
        if not status.success:
            raise self.refusal(status.error)
        return self._read(body, answer)

    def ask_either(self, call: str, answer: type[T], **arguments: Any) -> T | str:
        """The answer to a call, or the node's reason why it has none."""
        status, body = self._successful_or_not(call, arguments)
        return self._read(body, answer) if status.success else status.error or "no reason given"

    def refusal(self, reason: str | None) -> NodeError:
        """The error of a node that gives no answer, for this reason."""
        return self.wrong(f"refuses to say ({line(reason or 'no reason given')})")

    # --- answers ---

    def _successful_or_not(self, call: str, arguments: dict[str, Any]) -> tuple[_Status, bytes]:
        body = self._reply(call, msgspec.json.encode(arguments))
        return self._read(body, _Status), body

    def _read(self, body: bytes, answer: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=answer)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self.wrong(f"gives no answer that can be read ({line(error)})") from None

    # --- tries ---

    def _retried(self, call: str, arguments: bytes) -> bytes:
        """The body of the answer; the call is made again when the connection breaks."""
        pause = self._patience.pause
        for _ in range(self._patience.attempts - 1):
            with suppress(_Broken, TimeoutError):
                return self._once(call, arguments)
            sleep(pause)
            pause *= 2
        try:
            return self._once(call, arguments)
        except TimeoutError:
            raise self.wrong(f"does not answer within {self._patience.seconds:g} s") from None
        except _Broken as broken:
            raise self.wrong(str(broken)) from None

    def _once(self, call: str, arguments: bytes) -> bytes:
        with self._connection() as connection:
            late = Event()

            def end_it() -> None:
                late.set()
                _end(connection)

            timer = Timer(self._patience.seconds, end_it)
            timer.daemon = True
            timer.start()
            used_before = connected = connection.sock is not None
            try:
                if not connected:
                    connection.connect()
                    connected = True
                body = b"" if late.is_set() else self._answered(connection, call, arguments)
                if late.is_set():
                    raise TimeoutError
                return body
            except (OSError, HTTPException) as error:
                if late.is_set() or isinstance(error, TimeoutError):
                    raise TimeoutError from None
                if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
                    raise self._refused_by_tls(error) from None
                if used_before:
                    # The node ends what is idle: the others are likely to be as old.
                    self._end_idle()
                raise _Broken(self._breaks() if connected else "cannot be reached") from None
            finally:
                timer.cancel()

    def _answered(self, connection: HTTPConnection, call: str, arguments: bytes) -> bytes:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"{self._path}/{call}", arguments, headers)
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise AnswerTooLong(
                str(self.wrong(f"answers {call} with more than {MOST_BYTES:,} bytes"))
            )
        if response.length:
            raise IncompleteRead(body, response.length)
        if response.status != 200:
            raise self.wrong(f"gives no answer that can be read ({_described(response, body)})")
        return body

    # --- connections ---

    @contextmanager
    def _connection(self) -> Iterator[HTTPConnection]:
        """A connection for one call; it is kept for the next one if the call succeeds."""
        with self._lock:
            if self._closed:
                raise self.wrong("is no longer asked")
            connection = self._idle.pop() if self._idle else self._new_connection()
            self._open.add(connection)
        kept = False
        try:
            yield connection
            kept = True
        finally:
            with self._lock:
                kept = kept and not self._closed
                if kept:
                    self._idle.append(connection)
                else:
                    self._open.discard(connection)
            if not kept:
                connection.close()

    def _end_idle(self) -> None:
        """End the connections that no call uses."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._open.difference_update(idle)
        for connection in idle:
            connection.close()

    def _new_connection(self) -> HTTPConnection:
        seconds = self._patience.seconds
        if self._tls is None:
            return HTTPConnection(self._host, self._port, timeout=seconds)
        return HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)

    def _context(self, credentials: Credentials | None) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if credentials is None:
            return context
        # A node's own certificate is of an authority of its own, and names no host.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            context.load_cert_chain(credentials.certificate, credentials.key, _no_passphrase)
        except (OSError, ValueError) as error:
            raise self.wrong(
                f"cannot be asked: --cert {credentials.certificate} and --key are no certificate"
                f" and its key in PEM ({line(error)})"
            ) from None
        return context

    def _refused_by_tls(self, error: ssl.SSLError) -> NodeError:
        """The error of a failed TLS connection, with what to do about it."""
        reason = (error.reason or str(error)).replace("_", " ").lower()
        if isinstance(error, ssl.SSLCertVerificationError):
            return self.wrong(
                "has a certificate of no known authority; for a full node of your own, name its"
                " private_full_node.crt and .key with --cert and --key"
            )
        if "alert" in reason:
            return self.wrong(f"does not accept our certificate ({line(reason)}); see --cert")
        if "wrong version" in reason or "http request" in reason:
            return self.wrong("does not speak TLS; try http:// in its URL")
        return self.wrong(f"cannot be spoken to over TLS ({line(reason)})")

    def _breaks(self) -> str:
        """The fault of a node that ends connections without an answer, with its likeliest cause."""
        if self._tls is None:
            return "ends every connection; a full node of your own wants https:// in its URL"
        return (
            "ends every connection, as a node does that does not accept our certificate: see --cert"
        )


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase")


def _end(connection: HTTPConnection) -> None:
    """End a connection that another thread may wait for."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            # Of the socket below TLS: a shutdown of TLS would wait for the other side.
            socket.shutdown(sock, SHUT_RDWR)


def _described(response: HTTPResponse, body: bytes) -> str:
    """The status of an answer that is no success, with the beginning of its text."""
    return line(f"{response.status} {response.reason}: {body[:200].decode(errors='replace')}")


def line(text: object) -> str:
    """Untrusted text as one short line without terminal control characters."""
    words = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)[:200]
