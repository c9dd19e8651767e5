"""What the user has to decide before a fix that is not applied by itself: a clause for each rule of such fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compile_lens.fixes.fix import Fix

_MESSAGE = "whether the message may be missing where the code is compiled"
_ONCE = "whether the side effects of the function may happen only while it is compiled"
_EAGER = "whether this code may run in eager, between two graphs"
_SEPARATE = "whether versions that are compiled separately are worth their compile time and memory"

# docs/fixes.md has the same table
QUESTIONS: Mapping[str, str] = {
    "ignore-logging": _MESSAGE,
    "log-in-eager": _MESSAGE,
    "remove-print": "whether the program can do without this `print`",
    "detach": "whether a tensor without its gradient may be stored in the place of a number",
    "hoist": "whether one value, taken before the code is compiled, is enough for all calls",
    "time-in-eager": "whether times that are measured here may be 0 where the code is compiled",
    "number-buffers": "whether these constants may be numbers, which `buffers()` does not list",
    "loop-over-all": "whether the body of the loop does nothing for an index that the mask leaves out",
    "guard-or-false": "whether the branch may be skipped where torch does not know the size",
    "guard-or-true": "whether the branch may be taken where torch does not know the size",
    "assert-async": "whether the check may raise `RuntimeError`, later than now",
    "check-in-eager": "whether compiled code may go without this check",
    "capture-and-check": "whether the number is more than 1 in every call, where compiled code raises `RuntimeError` else",
    "assume-flag": "which value the flag has in compiled code, where the other one raises `RuntimeError`",
    "allow-in-graph": _ONCE,
    "nonstrict-trace": _ONCE,
    "custom-op": "which shape and dtype the function returns, for its fake implementation",
    "split": _EAGER,
    "disable": _EAGER,
    "own-version": _SEPARATE,
    "version-by-argument": _SEPARATE,
    "isolate-recompiles": _SEPARATE,
}


def to_decide(fixes: Iterable[Fix]) -> str:
    """What to decide, with the rules that do it, as a clause; '' without fixes: ``decide whether … (log-in-eager), or whether …``."""
    rules: dict[str, dict[str, None]] = {}
    for fix in fixes:
        rules.setdefault(QUESTIONS[fix.rule], {})[fix.rule] = None
    asked = [f"{question} ({', '.join(names)})" for question, names in rules.items()]
    return f"decide {', or '.join(asked)}" if asked else ""
