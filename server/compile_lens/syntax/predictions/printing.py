"""``print``, logging and warnings.

Verified on torch 2.13: every form below breaks with the code given; a function in ``reorderable_logging_functions`` does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.results import LOGGER
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, Use

_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "warning_once"})
_STREAMS = ("sys.stdout.", "sys.stderr.")


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if not isinstance(use, Call):
        return
    function = use.node.child_by_field_name("function")
    written = "".join(setting.text(function).split()) if function is not None else ""
    if written in setting.switches.silenced or f"logging.Logger.{use.method}" in setting.switches.silenced:
        return
    if use.name == "builtins.print":
        yield Broken("print", "GB0059", use.node, "`print` cannot be part of a graph")
    elif use.receiver == LOGGER and use.method in _LOGGING:
        yield Broken("logging", "GB0291", use.node, "a logger's methods are not traced")
    elif use.name.startswith("logging.") and use.method in _LOGGING and use.receiver != LOGGER:
        yield Broken("logging-module", "GB4841", use.node, f"`{written}` is not traced")
    elif use.name in ("warnings.warn", "warnings.warn_explicit"):
        yield Broken("warnings", "GB0007", use.node, "`warnings.warn` is a function that Dynamo skips")
    elif use.name.startswith(_STREAMS):
        yield Broken("standard-stream", "GB0156", use.node, f"`{written}` writes to a stream, which is not traced")
