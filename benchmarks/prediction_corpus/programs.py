"""The programs of the corpus: models and helpers of transformers, modules of torch, and programs of our own in common styles."""

from __future__ import annotations

from benchmarks.prediction_corpus.library import GENERATION, TORCH
from benchmarks.prediction_corpus.models import MODELS
from benchmarks.prediction_corpus.own_programs import EXAMPLES, OWN
from benchmarks.prediction_corpus.program import Program

PROGRAMS: list[Program] = [*GENERATION, *TORCH, *OWN, *EXAMPLES, *MODELS]
