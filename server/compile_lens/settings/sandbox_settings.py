"""Settings of what a background run may do, and use."""

from __future__ import annotations

from dataclasses import dataclass, field

from compile_lens.settings.setting import documented


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """What a background run may do besides reading."""

    allow_write: tuple[str, ...] = field(
        default=(),
        metadata=documented(
            "Files and folders that a background run may change for good; they must be there. What it writes elsewhere goes "
            "to a copy that is thrown away, or is refused where the system offers no copy.",
            scope="machine",
        ),
    )
    network: bool = field(
        default=False, metadata=documented("Whether a background run may use the network.", scope="machine")
    )
    gpu: bool = field(default=False, metadata=documented("Whether a background run may use GPUs.", scope="machine"))


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What a background run may use, all its processes together."""

    memory: float = field(
        default=0.0, metadata=documented("GiB of memory; 0 for half of the machine's.", minimum=0, scope="machine")
    )
    cpu: float = field(
        default=0.0,
        metadata=documented(
            "Seconds of processor time; 0 for half of what all cores can do in the time limit.",
            minimum=0,
            scope="machine",
        ),
    )
    disk: float = field(
        default=4.0,
        metadata=documented(
            "GiB of files, never more than a quarter of the memory: they are kept there.", minimum=0.01, scope="machine"
        ),
    )
    idle: float = field(
        default=15.0,
        metadata=documented(
            "Seconds without anything being compiled after which a run is ended, so that a training loop is not run to its "
            "end; 0 for never.",
            minimum=0,
        ),
    )
