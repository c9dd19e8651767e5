"""Whether a program runs as it is written: with full access, it does what a shell would have it do and nothing else."""

from __future__ import annotations

_is_as_written = False


def run_as_written(is_so: bool) -> None:
    """Whether in this process arguments are never made up, and nothing runs after a statement that failed."""
    global _is_as_written
    _is_as_written = is_so


def runs_as_written() -> bool:
    """Whether nothing is done for a program that it does not do itself."""
    return _is_as_written
