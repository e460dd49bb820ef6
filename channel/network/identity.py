"""The key by which a peer is known on the network, and TLS contexts that accept one key only.

No certificate authority is involved. A peer's *fingerprint* is its Ed25519 public key in hex, and
its certificate is signed by that key itself, under a fixed name for the issuer. The other side
makes a trust anchor of this name from the fingerprint, so that TLS accepts this one key, in
its handshake, on both sides. Source: spec/network.md, "Keys".
"""

from __future__ import annotations

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from channelsim.channel.errors import UsageError
from channelsim.channel.network.connection import DEFAULT, Limits
from channelsim.channel.system.durable_files import unwritable, write_once
from channelsim.channel.system.input_files import read

FILE = "connection.pem"
MOST_BYTES = 1 << 14

COST = 1 << 15
"""The cost of scrypt (N): a file with a faster one would be a way to the passphrase."""

SUBJECT, ISSUER = "channelsim peer", "channelsim key"

NO_CHECK_TIME = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME: a machine whose clock is wrong can still connect."""

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_NOBODY = Ed25519PrivateKey.from_private_bytes(bytes(32))
"""Signs trust anchors: the signature of an anchor counts for nothing."""


@dataclass(frozen=True, slots=True)
class NetworkIdentity:
    """A peer's certificate and key, in a file, and the fingerprint that others pin."""

    path: Path
    fingerprint: str
    password: bytes = field(repr=False)

    def context(self, counterparty: str, *, server: bool) -> ssl.SSLContext:
        """The TLS context of either end, for the counterparty with this fingerprint."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= NO_CHECK_TIME
        context.load_cert_chain(self.path, password=lambda: self.password)
        context.load_verify_locations(cadata=_anchor(read_fingerprint(counterparty)))
        if server:
            context.num_tickets = 0  # every connection proves both keys
        return context


@dataclass(frozen=True, slots=True)
class Pairing:
    """Our identity on the network, the only key that we accept, and the limits of a connection."""

    identity: NetworkIdentity
    counterparty: str
    limits: Limits = DEFAULT

    def context(self, *, server: bool) -> ssl.SSLContext:
        """The TLS context of either end."""
        return self.identity.context(self.counterparty, server=server)

    def is_with(self, transport: asyncio.BaseTransport) -> bool:
        """True if the other end has shown the counterparty's own key.

        A certificate that the counterparty signed for another key passes the handshake too.
        """
        return shown_by(transport.get_extra_info("ssl_object")) == self.counterparty


def make_identity(directory: Path, passphrase: bytes = b"") -> None:
    """Write a new key and certificate into a directory, unless there is one."""
    path = directory / FILE
    if path.exists():
        return
    key = Ed25519PrivateKey.generate()
    certificate = _certificate(SUBJECT, key.public_key(), key, is_anchor=False)
    password = _password(passphrase, key.public_key().public_bytes_raw())
    encryption: KeySerializationEncryption = NoEncryption()
    if password:
        encryption = BestAvailableEncryption(password)
    data = certificate.public_bytes(Encoding.PEM)
    data += key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(path, data)
    except FileExistsError:
        return  # another process was first
    except OSError as error:
        raise UsageError(unwritable(path, error)) from None


def read_identity(directory: Path, passphrase: bytes = b"") -> NetworkIdentity:
    """Read the key and certificate of a directory. Raises `UsageError`."""
    path = directory / FILE
    data = read(path, MOST_BYTES)
    try:
        certificate = x509.load_pem_x509_certificate(data)
        public = certificate.public_key()
        if not isinstance(public, Ed25519PublicKey):
            raise ValueError
        password = _password(passphrase, public.public_bytes_raw())
        key = load_pem_private_key(data, password or None)
    except TypeError:
        how = "is encrypted; give the passphrase"
        if passphrase:
            how = "was made without a passphrase; give none, or delete the file to make another key"
        raise UsageError(f"{path}: its key {how}") from None
    except ValueError:
        raise UsageError(f"{path}: damaged, or the passphrase is wrong") from None
    if not isinstance(key, Ed25519PrivateKey) or key.public_key() != public:
        raise UsageError(f"{path}: its certificate and key do not fit")
    return NetworkIdentity(path, key.public_key().public_bytes_raw().hex(), password)


def key_is_encrypted(directory: Path) -> bool | None:
    """True if the key of a directory needs a passphrase; None if there is no key."""
    path = directory / FILE
    return b"ENCRYPTED" in read(path, MOST_BYTES) if path.exists() else None


def _password(passphrase: bytes, salt: bytes) -> bytes:
    """The password of a file, as hard to guess from as `keys.json`; empty without a passphrase."""
    if not passphrase:
        return b""
    return Scrypt(salt=salt, length=32, n=COST, r=8, p=1).derive(passphrase).hex().encode()


def read_fingerprint(text: str) -> bytes:
    """The public key in a fingerprint. Raises `UsageError`.

    >>> read_fingerprint("00" * 31)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    channelsim.channel.errors.UsageError: a fingerprint is 64 hex digits, ...
    """
    if not _FINGERPRINT.fullmatch(text):
        raise UsageError("a fingerprint is 64 hex digits, as `peer identity` prints it")
    return bytes.fromhex(text)


def shown_by(connection: ssl.SSLObject) -> str:
    """The fingerprint of the certificate that the other end has shown; empty for any other key."""
    shown = connection.getpeercert(binary_form=True)
    if shown is None:
        return ""
    try:
        public = x509.load_der_x509_certificate(shown).public_key()
    except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion):
        return ""  # TLS reads certificates less strictly
    return public.public_bytes_raw().hex() if isinstance(public, Ed25519PublicKey) else ""


def _anchor(key: bytes) -> bytes:
    public = Ed25519PublicKey.from_public_bytes(key)
    return _certificate(ISSUER, public, _NOBODY, is_anchor=True).public_bytes(Encoding.DER)


def _certificate(
    subject: str, key: Ed25519PublicKey, signer: Ed25519PrivateKey, *, is_anchor: bool
) -> x509.Certificate:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(ISSUER))
        .public_key(key)
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1))
        .not_valid_after(datetime(9999, 12, 31))
        .add_extension(x509.BasicConstraints(is_anchor, None), critical=True)
        .sign(signer, None)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
