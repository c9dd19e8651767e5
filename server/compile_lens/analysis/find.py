"""All findings of one run, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compile_lens.analysis.compile_errors import find_compile_errors
from compile_lens.analysis.export_problems import find_export_problems
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.graph_breaks import find_graph_breaks
from compile_lens.analysis.missing_data import find_missing_data
from compile_lens.analysis.missing_weights import find_missing_weights
from compile_lens.analysis.not_compiled import find_not_compiled
from compile_lens.analysis.performance.cache_bypass import find_cache_bypasses
from compile_lens.analysis.performance.cache_misses import find_cache_misses
from compile_lens.analysis.performance.caches_off import find_caches_off
from compile_lens.analysis.performance.compile_time import find_compile_time
from compile_lens.analysis.performance.cuda_graphs import find_cuda_graph_trouble
from compile_lens.analysis.performance.fallbacks import find_fallbacks
from compile_lens.analysis.performance.float64 import find_float64
from compile_lens.analysis.performance.input_copies import find_input_copies
from compile_lens.analysis.performance.perf_hints import find_perf_hints
from compile_lens.analysis.performance.small_graphs import find_small_graphs
from compile_lens.analysis.performance.synchronization import find_synchronization
from compile_lens.analysis.performance.tf32 import find_tf32_off
from compile_lens.analysis.recompiles import find_recompiles
from compile_lens.analysis.refused_calls import find_refused
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.run_errors import find_raised, find_stopped
from compile_lens.analysis.side_effects import find_side_effects
from compile_lens.analysis.specializations import find_specializations
from compile_lens.analysis.stand_ins import find_stand_ins
from compile_lens.analysis.variations import find_variations
from compile_lens.analysis.wrong_numbers import find_wrong_numbers

Finder = Callable[[RunContext], Iterable[Finding]]

# of findings of one code at one place, the order here is the order shown
FINDERS: tuple[Finder, ...] = (
    find_missing_weights,
    find_missing_data,
    find_graph_breaks,
    find_recompiles,
    find_compile_errors,
    find_export_problems,
    find_side_effects,
    find_not_compiled,
    find_specializations,
    find_float64,
    find_small_graphs,
    find_cache_bypasses,
    find_caches_off,
    find_cuda_graph_trouble,
    find_fallbacks,
    find_synchronization,
    find_tf32_off,
    find_perf_hints,
    find_input_copies,
    find_compile_time,
    find_wrong_numbers,
    find_stand_ins,
    find_variations,
    find_cache_misses,
    find_refused,
    find_stopped,
)


def find(context: RunContext) -> tuple[Finding, ...]:
    """The findings of one run: those of the main file first, then by file, line, column and code."""
    found = [finding for finder in FINDERS for finding in finder(context)]
    found += find_raised(context, found)
    return tuple(sorted(found, key=lambda finding: _order(finding, context.sources.main_file)))


def _order(finding: Finding, main_file: str) -> tuple[bool, str, int, int, str]:
    place = finding.place
    return place.file != main_file, place.file, place.line, place.column, finding.code
