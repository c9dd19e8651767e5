"""Measured by ``python -m benchmarks.prediction_corpus``, which writes this file: per rule, right and wrong."""

from __future__ import annotations

TORCH = "2.13.0"
FIGURES: dict[str, tuple[int, int]] = {
    "print": (12, 0),
    "logging": (8, 0),
    "warnings": (2, 0),
    "tensor-item": (26, 0),
    "tensor-tolist": (6, 0),
    "tensor-to-number": (15, 0),
    "tensor-branch": (54, 0),
    "tensor-assert": (1, 0),
    "dynamic-shape": (19, 0),
    "boolean-mask": (8, 0),
    "sequence-index": (4, 0),
    "tensor-equality": (1, 0),
    "unsupported-builtin": (1, 0),
    "time": (6, 0),
    "python-random": (3, 0),
    "files-and-processes": (1, 0),
    "standard-library": (2, 0),
    "numpy-random": (6, 0),
    "random-state": (1, 0),
    "context-manager": (2, 0),
    "backward": (2, 0),
    "requires-grad": (6, 1),
    "tensor-resize": (5, 0),
    "autograd-grad": (2, 0),
    "deepcopy": (2, 0),
    "explicit-break": (4, 0),
    "disabled-call": (3, 0),
}
