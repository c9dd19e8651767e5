"""The programs of the corpus: models and helpers of transformers, modules of torch, programs of our own in common styles, and the
held-out part, which no rule was tuned on."""

from __future__ import annotations

from benchmarks.prediction_corpus.held_out.functions import FUNCTIONS
from benchmarks.prediction_corpus.held_out.models import MODELS as HELD_OUT_MODELS
from benchmarks.prediction_corpus.library import GENERATION, TORCH
from benchmarks.prediction_corpus.models import MODELS
from benchmarks.prediction_corpus.own_programs import EXAMPLES, OWN
from benchmarks.prediction_corpus.program import Program

LOOKED_AT: list[Program] = [*GENERATION, *TORCH, *OWN, *EXAMPLES, *MODELS]
HELD_OUT: list[Program] = [*FUNCTIONS, *HELD_OUT_MODELS]
assert not {program.module for program in LOOKED_AT} & {program.module for program in HELD_OUT}
PROGRAMS = [*LOOKED_AT, *HELD_OUT]
