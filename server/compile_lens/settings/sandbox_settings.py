"""Settings of the sandbox: permissions and limits of background runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from compile_lens.settings.setting import documented


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """Permissions of background runs, besides reading."""

    allow_write: tuple[str, ...] = field(
        default=(),
        metadata=documented(
            "Files and folders that background runs may change permanently; they must exist. Other writes go to a "
            "discarded copy, or are blocked where the system cannot make one. Default: none.",
            scope="machine",
        ),
    )
    network: bool = field(
        default=False, metadata=documented("Allow background runs to use the network. Default: off.", scope="machine")
    )
    gpu: bool = field(
        default=False, metadata=documented("Allow background runs to use GPUs. Default: off.", scope="machine")
    )


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Limits of background runs, for all their processes together."""

    memory: float = field(
        default=0.0,
        metadata=documented(
            "Memory limit in GiB (sandbox only). A run that takes more than can be counted also ends when little is left on the machine. "
            "Default: 0, half of the machine's memory.",
            minimum=0,
            scope="machine",
        ),
    )
    cpu: float = field(
        default=0.0,
        metadata=documented(
            "Processor time limit in seconds (sandbox only). Default: 0, half of what all cores provide within the "
            "time limit.",
            minimum=0,
            scope="machine",
        ),
    )
    disk: float = field(
        default=4.0,
        metadata=documented(
            "Disk limit in GiB (sandbox only). Written files are kept in memory, so it is at most a quarter of that. Default: 4.",
            minimum=0.01,
            scope="machine",
        ),
    )
    idle: float = field(
        default=15.0,
        metadata=documented(
            "End a run after this many seconds without compilation, so that a training loop does not run to its end. "
            "0: never. Default: 15.",
            minimum=0,
        ),
    )
