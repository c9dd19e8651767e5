"""All findings of one run, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compile_lens.analysis.compile_errors import find_compile_errors
from compile_lens.analysis.export_problems import find_export_problems
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.graph_breaks import find_graph_breaks
from compile_lens.analysis.missing_weights import find_absent
from compile_lens.analysis.not_compiled import find_not_compiled
from compile_lens.analysis.performance.cache_bypass import find_cache_bypasses
from compile_lens.analysis.performance.caches_off import find_caches_off
from compile_lens.analysis.performance.compile_time import find_compile_time
from compile_lens.analysis.performance.cuda_graphs import find_cuda_graph_trouble
from compile_lens.analysis.performance.fallbacks import find_fallbacks
from compile_lens.analysis.performance.float64 import find_float64
from compile_lens.analysis.performance.input_copies import find_input_copies
from compile_lens.analysis.performance.perf_hints import find_perf_hints
from compile_lens.analysis.performance.small_graphs import find_small_graphs
from compile_lens.analysis.performance.synchronization import find_synchronisation
from compile_lens.analysis.performance.tf32 import find_tf32_off
from compile_lens.analysis.recompiles import find_recompiles
from compile_lens.analysis.refused_calls import Refused, find_refused, is_told, refused_in_native_code
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_errors import Raised, Stopped, find_raised, find_stopped
from compile_lens.analysis.side_effects import find_side_effects
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.specializations import find_specializations
from compile_lens.analysis.stand_ins import find_stand_ins
from compile_lens.analysis.variations import find_variations
from compile_lens.analysis.wrong_numbers import find_wrong_numbers
from compile_lens.trace.report import CompileReport


def find(
    report: CompileReport,
    sources: Sources,
    index: RegionIndex,
    raised: Raised | None = None,
    stopped: Stopped | None = None,
    completed: bool = False,
    recorded: bool = False,
    more: Iterable[Finding] = (),
    refused: Sequence[Refused] = (),
    sandboxed: bool = False,
    without_gpu: bool = False,
) -> tuple[Finding, ...]:
    """The findings of ``report`` and of how its run ended: those of the main file first, then by file, line and column.

    ``recorded``: the run was none of ours, so that its times are the program's own.
    ``more``: findings that take more than this run, to be put in their places.
    ``completed``: the program came to its end, so that what has not happened will not.
    ``refused`` are calls that its sandbox, if it was ``sandboxed``, did not allow.
    """
    absent = tuple(find_absent(report, sources))
    found = [
        *absent,
        *find_graph_breaks(report, sources),
        *find_recompiles(report, sources),
        *find_compile_errors(report, sources),
        *find_export_problems(report, sources),
        *find_side_effects(report, sources),
        *find_not_compiled(report, index, completed),
        *find_specializations(report, sources),
        *find_float64(report, sources),
        *find_small_graphs(report, index),
        *find_cache_bypasses(report, sources),
        *find_caches_off(report, sources),
        *find_cuda_graph_trouble(report, sources),
        *find_fallbacks(report, sources),
        *find_synchronisation(report, sources),
        *find_tf32_off(report, sources),
        *find_perf_hints(report, sources),
        *find_input_copies(report, sources),
        *(find_compile_time(report, sources) if recorded else ()),
        *find_wrong_numbers(report, sources),
        *find_stand_ins(report, sources),
        *find_variations(report, sources, index),
        *more,
    ]
    found += find_refused(refused, raised, sources, {finding.place for finding in absent})
    if raised is not None and not is_told(refused, raised):
        native = refused_in_native_code(raised, sources, without_gpu) if sandboxed else None
        found += [native] if native is not None else find_raised(raised, report, sources)
    if stopped is not None:
        found += find_stopped(stopped, sources)
    return tuple(sorted(found, key=lambda finding: _order(finding, sources.main_file)))


def _order(finding: Finding, main_file: str) -> tuple[bool, str, int, int, str]:
    place = finding.place
    return place.file != main_file, place.file, place.line, place.column, finding.code
