"""Where the lab keeps what lasts (images, binaries) and what one run leaves (state, logs)."""

import hashlib
import os
from pathlib import Path

HERE = Path(__file__).parent


def cache() -> Path:
    """The user's cache folder of the lab."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "gpu-handoff" / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_folder() -> Path:
    """The folder of one run; several labs can exist beside each other."""
    return Path(os.environ.get("GPU_HANDOFF_LAB_RUN") or cache() / "run")


def digest_of(*files: Path) -> str:
    """A short name for exactly these contents."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]
