"""All fixes for a finding, the most likely to help first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, FixKind, apply_fix
from compile_lens.fixes.needed_torch import can_run
from compile_lens.fixes.rewrites.assumed_flags import assume_flag
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.buffers import number_buffers
from compile_lens.fixes.rewrites.captured import capture, masked_sum
from compile_lens.fixes.rewrites.changing_numbers import pass_tensor, tensor_number, unspecialized_int
from compile_lens.fixes.rewrites.checks import check_on_device, while_loop
from compile_lens.fixes.rewrites.checks_in_graph import check_in_graph, tell_in_graph
from compile_lens.fixes.rewrites.configure import allow_rnn, log_later, recompile_limit
from compile_lens.fixes.rewrites.default_keys import default_keys
from compile_lens.fixes.rewrites.dynamic import dynamic_true, mark_dynamic
from compile_lens.fixes.rewrites.eager import disable, leaf, opaque
from compile_lens.fixes.rewrites.guard_filters import skip_guards
from compile_lens.fixes.rewrites.ignore import ignore
from compile_lens.fixes.rewrites.isolated import isolate
from compile_lens.fixes.rewrites.lazy_state import make_before
from compile_lens.fixes.rewrites.lists import join_outside, same_container
from compile_lens.fixes.rewrites.loops import loop_over_all
from compile_lens.fixes.rewrites.masked_writes import write_anyway
from compile_lens.fixes.rewrites.numbers import keep_tensor
from compile_lens.fixes.rewrites.objects import compile_once, make_once
from compile_lens.fixes.rewrites.same_calls import same_argument, set_once, without_gradients
from compile_lens.fixes.rewrites.sizes import branch_on_size, pad, shapes_spec
from compile_lens.fixes.rewrites.split import split
from compile_lens.fixes.rewrites.statements import (
    count_outside,
    in_eager_alone,
    remove_break,
    remove_disable,
    remove_print,
)
from compile_lens.fixes.rewrites.unbacked import guard_or, keep_mask
from compile_lens.fixes.rewrites.untraceable import constant_result, hoist, time_in_eager, with_torch
from compile_lens.fixes.rewrites.variants import own_version
from compile_lens.syntax.tree import SourceTree, parse

# a longer text takes too long to parse for each fix while an editor waits; its run shows what is wrong
LONG = 20_000
# of how many breaks the fixes are tried for a recompile, and how many of each
MOST_BREAKS = 2
MOST_OF_A_BREAK = 2
Rule = Callable[[Finding, SourceTree], Iterator[Fix]]
RULES: tuple[Rule, ...] = (
    keep_tensor,
    keep_mask,
    write_anyway,
    select,
    guard_or,
    while_loop,
    with_torch,
    masked_sum,
    log_later,
    remove_print,
    remove_break,
    remove_disable,
    capture,
    allow_rnn,
    loop_over_all,
    number_buffers,
    count_outside,
    pass_tensor,
    tensor_number,
    make_once,
    compile_once,
    mark_dynamic,
    dynamic_true,
    shapes_spec,
    unspecialized_int,
    same_argument,
    same_container,
    default_keys,
    without_gradients,
    set_once,
    make_before,
    join_outside,
    branch_on_size,
    pad,
    own_version,
    isolate,
    recompile_limit,
    hoist,
    time_in_eager,
    constant_result,
    check_in_graph,
    tell_in_graph,
    check_on_device,
    assume_flag,
    in_eager_alone,
    leaf,
    opaque,
    split,
    disable,
    skip_guards,
    ignore,
)


def fixes_for(finding: Finding, tree: SourceTree, others: Iterable[Finding] = (), torch: str = "") -> tuple[Fix, ...]:
    """What may help with ``finding`` in the file whose tree is ``tree``; ignoring it comes last.

    ``torch`` is the version that found it, '' if it is not known: fixes that need a newer one are left out.
    ``others`` are the findings of the same run: without the break before it, a function that was compiled again may not be compiled alone.
    """
    own = (fix for rule in RULES[:-1] for fix in rule(finding, tree))
    found = [*own, *_of_breaks(finding, tree, others), *ignore(finding, tree)]
    return tuple(fix for fix in dict.fromkeys(found) if fix.edits and can_run(fix, torch) and _is_sound(tree, fix))


def _of_breaks(finding: Finding, tree: SourceTree, others: Iterable[Finding]) -> Iterator[Fix]:
    if finding.kind not in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
        return
    breaks = [each for each in others if each.kind is Kind.GRAPH_BREAK and each.place.file == finding.place.file]
    for each in breaks[:MOST_BREAKS]:
        fixes = (fix for rule in RULES[:-1] for fix in rule(each, tree))
        yield from [fix for fix in fixes if fix.kind is FixKind.CHANGE][:MOST_OF_A_BREAK]


def _is_sound(tree: SourceTree, fix: Fix) -> bool:
    """Whether the edits of a fix do not overlap, and leave a text that is as readable as before."""
    places = [edit.place for edit in fix.edits]
    if any((after.line, after.column) < (one.end_line, one.end_column) for one, after in pairwise(places)):
        return False
    changed = apply_fix(tree.text, fix)
    if len(tree.text) > LONG:
        return changed != tree.text
    return changed != tree.text and (tree.root.has_error or not parse(changed).root.has_error)
