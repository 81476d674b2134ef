"""A fresh Home Assistant configuration folder in which a demo user is logged in."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

REPOSITORY = Path(__file__).parents[2]
USER_NAME = "Demo"

# default_config needs a compiler, go2rtc and the cloud: what a home really shows is listed.
CONFIGURATION = """\
homeassistant:
  name: Demo home
  unit_system: metric
  time_zone: UTC
  country: FR
  currency: EUR
  auth_providers:
    - type: trusted_networks
      trusted_networks: [127.0.0.1/32]
      allow_bypass_login: true
frontend:
config:
automation:
script:
conversation:
history:
logbook:
my:
person:
recorder:
  commit_interval: 1
system_health:
logger:
  default: warning
  logs:
    custom_components.gpu_handoff: info
"""


def write(folder: Path, *, port: int) -> None:
    """Fill an empty folder."""
    (folder / "configuration.yaml").write_text(CONFIGURATION)
    integrations = folder / "custom_components"
    integrations.mkdir()
    (integrations / "gpu_handoff").symlink_to(
        REPOSITORY / "custom_components" / "gpu_handoff"
    )
    storage = folder / ".storage"
    storage.mkdir()
    done = ["user", "core_config", "analytics", "integration"]
    _store(storage, "auth", (1, 1), _one_user())
    _store(storage, "onboarding", (4, 1), {"done": done})
    _store(storage, "http", (2, 2), _on_loopback(port))


def _store(
    storage: Path, key: str, version: tuple[int, int], data: dict[str, Any]
) -> None:
    major, minor = version
    content = {"version": major, "minor_version": minor, "key": key, "data": data}
    (storage / key).write_text(json.dumps(content))


def _on_loopback(port: int) -> dict[str, Any]:
    """The web server's settings, as if they had been confirmed in the frontend."""
    return {
        "stable": {
            "server_host": ["127.0.0.1"],
            "server_port": port,
            "cors_allowed_origins": [],
            "login_attempts_threshold": -1,
            "ip_ban_enabled": False,
            "ssl_profile": "modern",
            "use_x_frame_options": True,
            "created_at": "2026-01-01T00:00:00+00:00",
            "error": None,
            "error_message": None,
        },
        "pending": None,
        "yaml_migration_done": True,
    }


def _one_user() -> dict[str, Any]:
    user_id = uuid4().hex
    return {
        "users": [
            {
                "id": user_id,
                "name": USER_NAME,
                "group_ids": ["system-admin"],
                "is_owner": True,
                "is_active": True,
                "system_generated": False,
                "local_only": False,
            }
        ],
        "groups": [
            {"id": "system-admin", "name": "Administrators"},
            {"id": "system-users", "name": "Users"},
            {"id": "system-read-only", "name": "Read Only"},
        ],
        "credentials": [],
        "refresh_tokens": [],
    }
