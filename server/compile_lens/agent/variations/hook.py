"""Whether a run is to be varied, as the host's command says."""

from __future__ import annotations

from typing import Any

from .watcher import Watcher


def watcher_for(command: dict[str, Any]) -> Watcher | None:
    """What keeps the calls of regions to vary, or None."""
    asked = command.get("vary")
    return Watcher(asked["names"], command["timeout_s"]) if asked is not None else None
