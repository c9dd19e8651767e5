"""Puts changed guards into a sentence: ``size 1 of `tokens` changed (16 → 24 → 40)``."""

from __future__ import annotations

from msgspec.structs import replace

from compile_lens.analysis.guard_facts import NUMBER_OF, GuardFact
from compile_lens.late_pattern import pattern

# c10/core/DispatchKey.h
DEVICES = {
    "CPU": "cpu", "CUDA": "cuda", "HPU": "hpu", "HIP": "hip", "IPU": "ipu", "MPS": "mps", "MTIA": "mtia", "Meta": "meta", "XLA": "xla",
    "XPU": "xpu",
}  # fmt: skip
DEVICE_KEYS = pattern(rf"^({'|'.join(DEVICES)})(?:, Autograd\1)?$")
_LONG_NUMBER = pattern(r"-?\d+\.\d{5,}(?:e[-+]?\d+)?")
HOOKS = "hooks of "
MAX_STEPS = 6
MAX_VALUES = 4


def change(facts: list[GuardFact]) -> str:
    """One cause, with the values that it went through."""
    fact = facts[0]
    name = fact.subject or (f"`{fact.name}`" if fact.name else "")
    if fact.event:
        return f"{name} {fact.event}" if name else fact.event
    if not name:
        return f"{fact.what} changed"
    if fact.what == "value" or not fact.name or name.startswith(NUMBER_OF):
        return f"{name} changed{_values(facts)}"
    if fact.dimension is not None:
        return f"{fact.what} {fact.dimension} of {name} changed{_values(facts)}"
    if fact.what == "length" and HOOKS in name:
        return f"the number of {name.removeprefix('the ')} changed{_values(facts)}"
    if fact.what == "dispatch keys" and (devices := _devices(facts)):
        return f"device of {name} changed{_values(devices)}"
    what = "`requires_grad`" if fact.what == "requires_grad" else fact.what
    return f"{what} of {name} changed{_values(facts)}"


def _devices(facts: list[GuardFact]) -> list[GuardFact]:
    """The same changes as devices, where tensors of two devices differ in nothing else; else none."""
    known = [(DEVICE_KEYS.match(fact.before), DEVICE_KEYS.match(fact.after)) for fact in facts]
    return [
        replace(fact, before=DEVICES[before[1]], after=DEVICES[after[1]])
        for fact, (before, after) in zip(facts, known, strict=True)
        if before is not None and after is not None and all(one and two for one, two in known)
    ]


def _values(facts: list[GuardFact]) -> str:
    if all(fact.after for fact in facts):
        steps = [facts[0].before, *(fact.after for fact in facts)]
        steps = _rounded(
            [step for index, step in enumerate(steps) if step and (index == 0 or step != steps[index - 1])]
        )
        shown = steps if len(steps) <= MAX_STEPS else [*steps[:4], "…", steps[-1]]
        return f" ({' → '.join(shown)})"
    known = _rounded(list(dict.fromkeys(fact.before for fact in facts if fact.before)))
    if not known:
        return ""
    shown = known if len(known) <= MAX_VALUES else [*known[:MAX_VALUES], "…"]
    return f" (was {', then '.join(shown)})"


def _rounded(values: list[str]) -> list[str]:
    """Floating-point numbers with four digits, unless that makes two of them the same."""
    short = [f"{float(value):.4g}" if _LONG_NUMBER.fullmatch(value) else value for value in values]
    return short if len(set(short)) == len(set(values)) else values
