"""A certificate authority, the server's certificate and a client's, made in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..clock import now

NAMES = ("localhost", "kubernetes", "kubernetes.default", "127.0.0.1", "::1")
_DAY = timedelta(days=1)
_YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        return self.key.private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        ).decode()


@dataclass(frozen=True, slots=True)
class Pki:
    """All that a cluster's TLS needs."""

    authority: Pair
    server: Pair
    client: Pair


def make_pki(names: Sequence[str] = NAMES, *, strict: bool = True) -> Pki:
    """Make everything anew.

    Not `strict`: as a home-made authority often is, without the key identifiers and the key
    usage that Python's VERIFY_X509_STRICT asks for.
    """
    authority = _authority(strict=strict)
    return Pki(
        authority=authority,
        server=_server(authority, names, strict=strict),
        client=make_client(authority, "kubernetes-admin", "system:masters"),
    )


def make_client(authority: Pair, user: str, group: str) -> Pair:
    """Make a certificate that a person logs in with."""
    key = _key()
    builder = _builder(_name(user, group), authority.certificate.subject, key)
    builder = builder.add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
    )
    builder = _with_issuer(builder, authority)
    return Pair(builder.sign(authority.key, hashes.SHA256()), key)


def server_context(pki: Pki) -> ssl.SSLContext:
    """Build the server's TLS settings. Reads files: not in the loop."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.load_verify_locations(cadata=pki.authority.certificate_pem)
    context.verify_mode = ssl.CERT_OPTIONAL
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "server.pem")
        path.write_text(pki.server.certificate_pem + pki.server.key_pem)
        context.load_cert_chain(path)
    return context


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common: str, organisation: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    return x509.Name(attributes)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    moment = now()
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=moment - _DAY,
        not_valid_after=moment + _YEAR,
    )


def _with_issuer(
    builder: x509.CertificateBuilder, authority: Pair
) -> x509.CertificateBuilder:
    return builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()),
        critical=False,
    )


def _authority(*, strict: bool) -> Pair:
    key = _key()
    name = _name("kubernetes")
    builder = _builder(name, name, key).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=strict
    )
    if strict:
        builder = builder.add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_encipherment=False,
                content_commitment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=True,
                crl_sign=True,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        ).add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
    return Pair(builder.sign(key, hashes.SHA256()), key)


def _server(authority: Pair, names: Sequence[str], *, strict: bool) -> Pair:
    key = _key()
    builder = _builder(_name("kube-apiserver"), authority.certificate.subject, key)
    builder = builder.add_extension(
        x509.SubjectAlternativeName([_alternative(name) for name in names]),
        critical=False,
    ).add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
    )
    if strict:
        builder = _with_issuer(builder, authority)
    return Pair(builder.sign(authority.key, hashes.SHA256()), key)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
