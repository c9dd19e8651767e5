"""The figures: what ``measured.py`` of the product holds, and the page ``docs/predictions.md``."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import reload
from pathlib import Path

import torch

from benchmarks.prediction_corpus.held_out import packages
from benchmarks.prediction_corpus.judge import Judged
from benchmarks.prediction_corpus.page import page
from benchmarks.prediction_corpus.program import Program
from benchmarks.prediction_corpus.runs import Corpus
from compile_lens.syntax.predictions import measured, registry

ROOT = Path(__file__).parent.parent.parent
MEASURED = Path(measured.__file__)
PAGE = ROOT / "docs" / "predictions.md"


def summary(programs: list[Program], corpus: Corpus, judged: Judged, seconds: float) -> str:
    """For the terminal."""
    parts = by_part(corpus, judged)
    return "\n".join(
        [
            f"{sum(status == 'ok' for status in corpus.statuses.values())} of {len(programs)} programs ran,"
            f" {len(judged.functions)} functions, {seconds:.0f} s",
            *(f"{name}: {figures(part)}" for name, part in parts.items()),
        ]
    )


def by_part(corpus: Corpus, judged: Judged) -> dict[str, Judged]:
    """The verdicts on programs of our own, on installed code that was looked at, and on the held-out part."""
    files: dict[str, set[str]] = {"own": set(), "looked at": set(), "held out": set()}
    for file, family in corpus.families.items():
        files["own" if family == "own" else "held out" if family == "held-out" else "looked at"].add(file)
    return {name: judged.within(of_part) for name, of_part in files.items()}


def write(programs: list[Program], corpus: Corpus, judged: Judged) -> None:
    """Write the figures, and then the page with them."""
    parts = by_part(corpus, judged)
    counted = [part.by_rule() for part in parts.values()]
    lines = "".join(
        f'    "{rule.name}": Measurement({", ".join(str(count) for part in counted for count in part[rule.name])}),\n'
        for rule in registry.RULES
        if any(any(part[rule.name]) for part in counted)
    )
    MEASURED.write_text(
        '"""Measured by ``python -m benchmarks.prediction_corpus``, which writes this file: right and wrong predictions per rule."""\n\n'
        "from __future__ import annotations\n\n"
        "from compile_lens.syntax.predictions.measurement import Measurement\n\n"
        f'TORCH = "{torch.__version__.split("+")[0]}"\n'
        f"MEASUREMENTS: dict[str, Measurement] = {{\n{lines}}}\n",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(MEASURED)], check=True)
    reload(measured)
    reload(registry)
    ran = Counter(
        "held-out models" if program.family == "held-out" and program.subject == "model" else program.family
        for program in programs
        if corpus.statuses.get(program.name) == "ok"
    )
    described = {name: (part, figures(part)) for name, part in parts.items()}
    PAGE.write_text(page(ran, described, packages.versions()), encoding="utf-8")


def figures(judged: Judged) -> str:
    """Precision and recall of the rules."""
    right, wrong, found, missed = (len(part) for part in (judged.right, judged.wrong, judged.found, judged.missed))
    precision, recall = right / max(1, right + wrong), found / max(1, found + missed)
    return f"precision {precision:.3f} ({right} of {right + wrong}), recall {recall:.3f} ({found} of {found + missed})"
