"""``nice -n 15 python -m benchmarks.prediction_corpus``: measures the predictions on real programs.

Runs every program of the corpus with the product at depth ``dynamo``, compares the breaks with the predictions for the same source,
and writes the figures: ``server/compile_lens/syntax/predictions/measured.py`` and ``docs/predictions.md``. ``--show`` prints each
verdict, ``--keep-figures`` writes nothing, and names given as arguments run only programs whose name contains one of them.
``--observed FILE`` keeps there what the run showed; where the file is there already, that is judged again and nothing runs.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import tempfile
import time
from pathlib import Path

from benchmarks.prediction_corpus import table
from benchmarks.prediction_corpus.held_out import packages
from benchmarks.prediction_corpus.judge import Judged, judge
from benchmarks.prediction_corpus.program import Program
from benchmarks.prediction_corpus.programs import PROGRAMS
from benchmarks.prediction_corpus.runs import Corpus, run_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--keep-figures", action="store_true")
    parser.add_argument("--observed", type=Path)
    options = parser.parse_args()
    programs = [p for p in PROGRAMS if not options.names or any(name in p.name for name in options.names)]
    started = time.monotonic()
    corpus = _observed(programs, options.observed)
    judged = judge(corpus.texts, corpus.observed)
    seconds = time.monotonic() - started
    if options.show:
        _show(corpus.texts, corpus.statuses, judged)
    print(table.summary(programs, corpus, judged, seconds))
    if not options.keep_figures:
        table.write(programs, corpus, judged)


def _observed(programs: list[Program], kept: Path | None) -> Corpus:
    if kept is not None and kept.exists():
        with kept.open("rb") as file:
            corpus: Corpus = pickle.load(file)
        return corpus
    packages.install()
    with tempfile.TemporaryDirectory(prefix="prediction-corpus-") as folder:
        corpus = asyncio.run(run_corpus(programs, Path(folder)))
    if kept is not None:
        with kept.open("wb") as file:
            pickle.dump(corpus, file)
    return corpus


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
