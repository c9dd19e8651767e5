"""The packages of the corpus of files."""

from __future__ import annotations

from pathlib import Path

from benchmarks import packages

LIST = Path(__file__).with_name("packages.txt")
FOLDER = Path(__file__).parents[2] / ".cache" / "entry_corpus" / "site-packages"
# The torchvision of PyPI is for CUDA, and its library does not load beside a torch for the CPU. Its Python part cannot be
# imported without these two operators (torchvision/_meta_registrations.py, 0.28).
DECLARED = """

if not _has_ops():
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def install() -> Path:
    """The folder with the packages. Raises CalledProcessError."""
    packages.install(LIST, FOLDER, _declare)
    return FOLDER


def _declare() -> None:
    with (FOLDER / "torchvision" / "extension.py").open("a", encoding="utf-8") as extension:
        extension.write(DECLARED)
