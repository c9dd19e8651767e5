"""Which torch a fix needs: a rewrite may write names that the installed torch does not have yet."""

from __future__ import annotations

import re

from compile_lens.fixes.fix import Fix
from compile_lens.late_pattern import pattern

Version = tuple[int, int]
# when torch.compile got an option, torch._dynamo.config an option, or torch a function: read from the wheels of 2.6 to 2.13
SINCE: dict[str, Version] = {
    "allow_unspec_int_on_nn_module": (2, 7),
    "nonstrict_trace": (2, 7),
    "recompile_limit": (2, 7),
    "guard_filter_fn": (2, 8),
    "guard_or_false": (2, 8),
    "guard_or_true": (2, 8),
    "_higher_order_ops.print": (2, 10),
    "EffectType": (2, 10),
    "ignore_logging_functions": (2, 11),
    "leaf_function": (2, 11),
    "trace_autograd_ops": (2, 11),
    "dynamic_spec": (2, 13),
    "isolate_recompiles": (2, 13),
    "shapes_spec": (2, 13),
}
_NAMES = pattern(r"\b(?:" + "|".join(map(re.escape, SINCE)) + r")\b")
_RELEASE = pattern(r"(?P<major>\d{1,4})\.(?P<minor>\d{1,4})")


def can_run(fix: Fix, torch: str) -> bool:
    """Whether ``torch``, a version such as ``2.11.0+cu130``, has all names that the fix writes; True for '', which is not known."""
    release = _RELEASE.match(torch)
    if release is None:
        return True
    return needed(fix) <= (int(release["major"]), int(release["minor"]))


def needed(fix: Fix) -> Version:
    """The first torch that has all names that the fix writes; (0, 0) where any will do."""
    written = "\n".join(edit.text for edit in fix.edits)
    return max((SINCE[name] for name in _NAMES.findall(written)), default=(0, 0))
