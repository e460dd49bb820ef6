"""Connections to a node's RPC: certificates, limits of time and size, and threads."""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import create_server, socket
from subprocess import run
from time import monotonic, sleep
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from channelsim.channel.chain import rpc
from channelsim.channel.chain.rpc import AnswerTooLong, Credentials, NodeError, Patience, RpcClient
from channelsim.channel.chain.simulator import SimulatedChain

HASTY = Patience(seconds=0.5, attempts=2, pause=0.01)
ANSWER = json.dumps({"success": True, "height": 5}).encode()

Serving = Callable[[socket], None]
"""Answers one connection, in a thread of its own."""


def answer(connection: socket, body: bytes = ANSWER) -> None:
    """Answer calls of this connection until it ends."""
    while connection.recv(65536):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


@contextmanager
def listening(serving: Serving, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Something that listens where a node should be; yields its URL."""
    server = create_server(("127.0.0.1", 0))

    def serve(connection: socket) -> None:
        try:
            with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
                serving(wrapped)
        except OSError:
            connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.getsockname()[1]}"
    finally:
        # A thread that waits for a connection is not woken by closing alone.
        server.shutdown(2)
        server.close()
        thread.join()


def credentials(
    folder: Path, name: str, encryption: KeySerializationEncryption | None = None
) -> Credentials:
    """Write a certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    made = Credentials(folder / f"{name}.crt", folder / f"{name}.key")
    made.certificate.write_bytes(certificate.public_bytes(Encoding.PEM))
    made.key.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())
    )
    return made


def node_tls(own: Credentials, client: Credentials) -> ssl.SSLContext:
    """The TLS of a node that accepts this client alone, as full nodes do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    context.load_verify_locations(client.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def asked(url: str, known: Credentials | None = None, patience: Patience = HASTY) -> Any:
    """The answer to a call of a new client."""
    client = RpcClient(url, known, patience)
    try:
        return client.ask("get_height", dict[str, Any])
    finally:
        client.close()


def refused(url: str, known: Credentials | None = None) -> str:
    with pytest.raises(NodeError) as raised:
        asked(url, known)
    text = str(raised.value)
    assert text.isprintable()
    assert url in text
    return text


def test_a_node_knows_its_client_by_a_certificate(tmp_path: Path) -> None:
    node, client, other = (credentials(tmp_path, name) for name in ("node", "client", "other"))
    with listening(answer, node_tls(node, client)) as url:
        assert asked(url, client) == {"success": True, "height": 5}
        assert "see --cert" in refused(url, other)
        assert "name its private_full_node.crt and .key with --cert" in refused(url)
        assert "https://" in refused(url.replace("https", "http"))
    with listening(answer) as url:
        assert "try http://" in refused(url.replace("http", "https"), client)


def test_a_key_with_a_passphrase_is_refused_without_asking(tmp_path: Path) -> None:
    known = credentials(tmp_path, "client", BestAvailableEncryption(b"secret"))
    with pytest.raises(NodeError, match=f"--cert {known.certificate} and --key are no"):
        RpcClient("https://127.0.0.1:1", known, HASTY)


def drip(connection: socket) -> None:
    """Send an answer of a byte every now and then: no wait for a byte is long."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        sleep(0.02)


def drip_headers(connection: socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"x")
        sleep(0.02)


def never(connection: socket) -> None:
    connection.recv(65536)
    sleep(30)


@pytest.mark.parametrize("serving", [drip, drip_headers, never])
def test_the_time_of_a_call_is_bounded_as_a_whole(serving: Serving) -> None:
    with listening(serving) as url:
        began = monotonic()
        assert "does not answer within 0.5 s" in refused(url)
        assert monotonic() - began < 10


def test_a_handshake_that_never_ends_is_bounded(tmp_path: Path) -> None:
    client = credentials(tmp_path, "client")
    with listening(never) as url:
        assert "does not answer within 0.5 s" in refused(url.replace("http", "https"), client)


def test_the_bytes_of_an_answer_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "MOST_BYTES", len(ANSWER))
    with listening(answer) as url:
        assert asked(url)["height"] == 5
    with (
        listening(lambda connection: answer(connection, ANSWER + b" ")) as url,
        pytest.raises(AnswerTooLong, match=f"more than {len(ANSWER)} bytes"),
    ):
        asked(url)


def test_other_statuses_are_no_answer() -> None:
    def missing(connection: socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno\x1b!")

    with listening(missing) as url:
        assert "(404 Not Found: no\ufffd!)" in refused(url)


def test_a_connection_that_the_node_has_ended_is_made_again() -> None:
    connections: list[socket] = []

    def once(connection: socket) -> None:
        connections.append(connection)
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER)

    with listening(once) as url:
        client = RpcClient(url, None, HASTY)
        for _ in range(3):
            assert client.ask("get_height", dict[str, Any])["height"] == 5
        client.close()
        assert len(connections) == 3


def test_connections_that_a_node_has_ended_while_idle_do_not_use_up_the_tries() -> None:
    """A node ends what is idle for a minute or so; several calls at a time leave as many idle."""
    at_once = HASTY.attempts + 2
    together = threading.Barrier(at_once)
    connections: list[socket] = []

    def several(connection: socket) -> None:
        connections.append(connection)
        if len(connections) <= at_once:
            together.wait(20)
        answer(connection)

    with listening(several) as url:
        client = RpcClient(url, None, Patience(seconds=20, attempts=2, pause=0.01))

        def ask() -> None:
            assert client.ask("get_height", dict[str, Any])["height"] == 5

        threads = [threading.Thread(target=ask) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(connections) == at_once
        for connection in connections:
            connection.shutdown(2)
        ask()
        client.close()


def test_connections_are_used_again() -> None:
    connections: list[socket] = []

    def count(connection: socket) -> None:
        connections.append(connection)
        answer(connection)

    with listening(count) as url:
        client = RpcClient(url, None, HASTY)
        for _ in range(20):
            client.ask("get_height", dict[str, Any])
        client.close()
        assert len(connections) == 1


def test_closing_ends_the_calls_of_other_threads() -> None:
    waiting = threading.Event()
    failures: list[NodeError] = []

    def silent(connection: socket) -> None:
        connection.recv(65536)
        waiting.set()
        sleep(30)

    with listening(silent) as url:
        client = RpcClient(url, None, Patience(seconds=60, attempts=4, pause=0.01))

        def ask() -> None:
            try:
                client.ask("get_height", dict[str, Any])
            except NodeError as error:
                failures.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        assert waiting.wait(10)
        client.close()
        thread.join(10)
        assert not thread.is_alive()
    (failure,) = failures
    assert "is no longer asked" in str(failure)


NATIVE_THREADS = """
import os, sys, time
from channelsim.channel.cli import main
sys.argv = ["channelsim", "peer", "listen", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    print(ended.code)
    # Threads of Python's own end soon.
    until = time.monotonic() + 20
    while (left := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < until:
        time.sleep(0.05)
    print(left)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted on Linux")
def test_a_command_that_asked_a_node_has_no_native_threads(tmp_path: Path) -> None:
    """Those of a library outlive the interpreter, and may end the process with a signal."""
    key = tmp_path / "key"
    key.write_text("11" * 32)
    terms = ("--game", "spacepoker", "--peer", "00" * 32, "--wallet-key", str(key))
    with SimulatedChain(1).served() as url:
        ran = run(
            [sys.executable, "-c", NATIVE_THREADS, str(tmp_path / "new"), "--node", url, *terms],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert "no coin at the address of this key" in ran.stderr
    assert ran.stdout.split() == ["2", "1"], "the main thread alone"
