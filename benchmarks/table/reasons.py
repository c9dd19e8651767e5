"""Why a row misses its goal, and what a profile said: by the row's name, for docs/performance.md."""

from __future__ import annotations

REASONS: dict[str, str] = {}
