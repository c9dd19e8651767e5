"""Settings of traces that are opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compile_lens.settings.setting import documented


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Traces from other runs and machines."""

    map: Mapping[str, str] = field(
        default_factory=dict,
        metadata=documented(
            'Folders of the machine that recorded a trace, and what they are on this one, as in `{"/cluster/job": "/home/me/project"}`. '
            "Default: files are found by the end of their path and their content.",
            is_text=True,
        ),
    )
