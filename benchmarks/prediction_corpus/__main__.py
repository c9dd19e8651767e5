"""``nice -n 15 python -m benchmarks.prediction_corpus``: measures the predictions on real programs.

Runs every program of the corpus with the product at depth ``dynamo``, compares the breaks with the predictions for the same source,
and writes the figures: ``server/compile_lens/syntax/predictions/measured.py`` and ``docs/predictions.md``. ``--show`` prints each
verdict, ``--keep-figures`` writes nothing, and names given as arguments run only programs whose name contains one of them.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.prediction_corpus import table
from benchmarks.prediction_corpus.judge import Judged, judge
from benchmarks.prediction_corpus.programs import PROGRAMS
from benchmarks.prediction_corpus.runs import run_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--keep-figures", action="store_true")
    options = parser.parse_args()
    programs = [p for p in PROGRAMS if not options.names or any(name in p.name for name in options.names)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="prediction-corpus-") as folder:
        corpus = asyncio.run(run_corpus(programs, Path(folder)))
    judged = judge(corpus.texts, corpus.observed)
    seconds = time.monotonic() - started
    if options.show:
        _show(corpus.texts, corpus.statuses, judged)
    print(table.summary(programs, corpus.statuses, judged, seconds))
    if not options.keep_figures:
        table.write(programs, corpus.statuses, judged)


def _show(texts: dict[str, str], statuses: dict[str, str], judged: Judged) -> None:
    for name, status in statuses.items():
        if status != "ok":
            print(f"not run    {name}: {status}")
    for verdict in ("wrong", "masked", "right", "not_run"):
        for file, prediction in getattr(judged, verdict):
            line = texts[file].splitlines()[prediction.place.line - 1].strip()
            print(
                f"{verdict:10} {prediction.rule:20} {prediction.code} {Path(file).name}:{prediction.place.line}  {line[:90]}"
            )
    for verdict in ("missed", "elsewhere"):
        for broken in getattr(judged, verdict):
            line = texts[broken.file].splitlines()[broken.line - 1].strip()
            print(f"{verdict:10} {broken.code} {Path(broken.file).name}:{broken.line}  {line[:100]}")


if __name__ == "__main__":
    main()
