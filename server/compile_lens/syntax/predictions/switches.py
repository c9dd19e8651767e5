"""Options of Dynamo that the file itself sets and that change where it breaks."""

from __future__ import annotations

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import SourceTree

_SET = pattern(rb"\b(capture_scalar_outputs|capture_dynamic_output_shape_ops|trace_autograd_ops)\s*=\s*True\b")
_REORDERED = pattern(rb"reorderable_logging_functions\b[^\n]*")
_IGNORED = pattern(rb"ignore_(?:logger_methods|logging_functions)\b[^\n]*")
_FUNCTION = pattern(rb"[A-Za-z_][\w.]*")


class Switches(Struct, frozen=True):
    """``silenced`` are the functions that Dynamo reorders or ignores, as written (``print``, ``logging.info``)."""

    capture_scalar_outputs: bool = False
    capture_dynamic_output_shape_ops: bool = False
    trace_autograd_ops: bool = False
    silenced: frozenset[str] = frozenset()


def read_switches(tree: SourceTree) -> Switches:
    """Read the switches, whether set by assignment, ``config.patch(…)`` or ``torch.compile(options=…)``."""
    on = {match.decode() for match in _SET.findall(tree.source)}
    silenced: set[str] = set()
    for form in (_REORDERED, _IGNORED):
        for line in form.findall(tree.source):
            silenced.update(name.decode() for name in _FUNCTION.findall(line))
    return Switches(
        capture_scalar_outputs="capture_scalar_outputs" in on,
        capture_dynamic_output_shape_ops="capture_dynamic_output_shape_ops" in on,
        trace_autograd_ops="trace_autograd_ops" in on,
        silenced=frozenset(silenced),
    )
