"""The packages of the corpus, in a folder of their own below ``.cache``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).with_name("packages.txt")
FOLDER = Path(__file__).parents[2] / ".cache" / "entry_corpus" / "site-packages"
# The index has torchvision with CUDA alone, whose library does not load beside a torch for the CPU. Its Python part cannot be
# imported without these two operators (torchvision/_meta_registrations.py, 0.28), which no file of the corpus calls.
DECLARED = """

if not _has_ops():
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def install() -> Path:
    """The folder with the packages; they are fetched when the list is another than last time. Raises CalledProcessError."""
    mark = FOLDER / "installed.txt"
    wanted = LIST.read_text(encoding="utf-8")
    if not mark.exists() or mark.read_text(encoding="utf-8") != wanted:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(FOLDER)]
        subprocess.run([*command, "--requirement", str(LIST)], check=True)
        with (FOLDER / "torchvision" / "extension.py").open("a", encoding="utf-8") as extension:
            extension.write(DECLARED)
        mark.write_text(wanted, encoding="utf-8")
    return FOLDER
