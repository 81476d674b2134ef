"""Values that a kubeconfig holds either inline in base64 or as the path of a file."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from ..handoff.reason import HandoffError


def pem(part: Mapping[str, Any], key: str) -> str | None:
    """Return the PEM text of `<key>-data`; a mere path cannot be followed from here."""
    if data := part.get(f"{key}-data"):
        return _decoded(data, f"{key}-data")
    if path := part.get(key):
        raise HandoffError("kubeconfig_missing_file", path=path, field=f"{key}-data")
    return None


def _decoded(data: object, field: str) -> str:
    try:
        return base64.b64decode("".join(str(data).split()), validate=True).decode()
    except binascii.Error, UnicodeDecodeError:
        raise HandoffError("kubeconfig_bad_data", field=field) from None
