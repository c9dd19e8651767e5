"""The packages of the held-out part, in a folder of their own below ``.cache``."""

from __future__ import annotations

from pathlib import Path

from benchmarks import packages

LIST = Path(__file__).with_name("packages.txt")
FOLDER = Path(__file__).parents[3] / ".cache" / "prediction_corpus"


def versions() -> list[str]:
    """``torchmetrics 1.9.0`` and so on: those that functions are taken from come first in the list's order."""
    lines = (line.strip() for line in LIST.read_text(encoding="utf-8").splitlines())
    return [line.replace("==", " ") for line in lines if line and not line.startswith("#")]


def install() -> Path:
    """The folder with the packages. Raises CalledProcessError."""
    packages.install(LIST, FOLDER)
    return FOLDER
