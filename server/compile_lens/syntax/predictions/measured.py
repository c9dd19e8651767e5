"""Measured by ``python -m benchmarks.prediction_corpus``, which writes this file: per rule (right, wrong, missed)."""

from __future__ import annotations

TORCH = "2.13.0"
FIGURES: dict[str, tuple[int, int, int]] = {}
