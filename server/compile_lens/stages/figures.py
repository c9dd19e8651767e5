"""Sizes and times of kernels as people read them."""

from __future__ import annotations

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_OPERATIONS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def bytes_text(count: float) -> str:
    """``1.5 MB``; units of 1000."""
    return _text(count, _BYTES)


def operations_text(count: float) -> str:
    """``2.1 GFLOP``."""
    size, prefix = next(((size, prefix) for size, prefix in _OPERATIONS if abs(count) >= size), (1.0, ""))
    return f"{_digits(count / size)} {prefix}FLOP"


def seconds_text(seconds: float) -> str:
    """``2.4 µs``."""
    return _text(seconds, _SECONDS)


def _text(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size, unit = next(((size, unit) for size, unit in units if abs(value) >= size), units[-1])
    return f"{_digits(value / size)} {unit}"


def _digits(value: float) -> str:
    return (
        f"{value:.0f}"
        if value == int(value) or abs(value) >= 100
        else f"{value:.2g}"
        if abs(value) < 10
        else f"{value:.1f}"
    )
