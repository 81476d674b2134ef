"""Certificates for the tests: good ones, and the kinds that people have at home."""

from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def cert_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        return self._key_pem(NoEncryption())

    @property
    def locked_key_pem(self) -> str:
        return self._key_pem(BestAvailableEncryption(b"secret"))

    def _key_pem(self, how: NoEncryption | BestAvailableEncryption) -> str:
        form = PrivateFormat.PKCS8
        return self.key.private_bytes(Encoding.PEM, form, how).decode()


def authority(*, by_the_rules: bool = True) -> Pair:
    """Make a CA; a home-made one often says nothing of its key's usage."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder("ca", "ca", key).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    if by_the_rules:
        builder = builder.add_extension(_may_sign(), critical=True)
    return Pair(certificate=builder.sign(key, SHA256()), key=key)


def issued(ca: Pair, name: str, *names: str, days: int = 1) -> Pair:
    """Make a certificate for these host names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(name, "ca", key, days=days).add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()),
        critical=False,
    )
    if names:
        wanted = x509.SubjectAlternativeName([_general(each) for each in names])
        builder = builder.add_extension(wanted, critical=False)
    return Pair(certificate=builder.sign(ca.key, SHA256()), key=key)


def base64(text: str) -> str:
    """Write as a kubeconfig does."""
    return b64encode(text.encode()).decode()


def _builder(
    name: str, issuer: str, key: ec.EllipticCurvePrivateKey, *, days: int = 1
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * DAY)
        .not_valid_after(now + days * DAY)
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _may_sign() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
