"""Measured by ``python -m benchmarks.prediction_corpus``, which writes this file: right and wrong predictions per rule."""

from __future__ import annotations

from compile_lens.syntax.predictions.measurement import Measurement

TORCH = "2.13.0"
MEASUREMENTS: dict[str, Measurement] = {
    "print": Measurement(13, 0, 0, 0, 0, 0),
    "logging": Measurement(5, 0, 3, 0, 0, 0),
    "logging-module": Measurement(3, 0, 0, 0, 0, 0),
    "warnings": Measurement(3, 0, 0, 0, 0, 0),
    "standard-stream": Measurement(3, 0, 0, 0, 0, 0),
    "tensor-item": Measurement(16, 0, 10, 0, 6, 0),
    "tensor-tolist": Measurement(2, 0, 4, 0, 5, 0),
    "tensor-to-number": Measurement(8, 0, 7, 0, 0, 1),
    "tensor-branch": Measurement(28, 0, 26, 0, 36, 5),
    "dynamic-shape": Measurement(11, 0, 9, 0, 24, 0),
    "sequence-index": Measurement(0, 0, 4, 0, 0, 0),
    "one-hot": Measurement(3, 0, 0, 0, 0, 0),
    "tensor-equality": Measurement(3, 0, 0, 0, 1, 0),
    "breakpoint": Measurement(4, 0, 0, 0, 0, 0),
    "unsupported-builtin": Measurement(2, 0, 0, 0, 0, 0),
    "time": Measurement(5, 0, 1, 0, 0, 0),
    "python-random": Measurement(3, 0, 0, 0, 0, 0),
    "files-and-processes": Measurement(4, 0, 0, 0, 0, 0),
    "standard-library": Measurement(7, 0, 0, 0, 0, 0),
    "numpy-random": Measurement(2, 0, 4, 0, 0, 0),
    "random-state": Measurement(3, 0, 0, 0, 0, 0),
    "context-manager": Measurement(4, 0, 0, 0, 0, 0),
    "backward": Measurement(4, 0, 0, 0, 0, 0),
    "requires-grad-attribute": Measurement(0, 0, 4, 0, 0, 0),
    "tensor-resize": Measurement(0, 0, 5, 0, 0, 0),
    "autograd-grad": Measurement(3, 0, 1, 0, 0, 0),
    "explicit-break": Measurement(4, 0, 0, 0, 0, 0),
    "disabled-call": Measurement(3, 0, 0, 0, 0, 0),
}
