"""Options of the compiler, as a user writes them for one run of a file."""

from __future__ import annotations

from collections.abc import Iterable

INDUCTOR = "torch._inductor.config."
# what `torch.compile(dynamic=True)` sets (torch/_dynamo/eval_frame.py)
DYNAMIC = {"torch._dynamo.config.assume_static_by_default": "False"}


def read_option(text: str) -> tuple[str, str]:
    """The full name and the value of ``NAME=VALUE``; a short name is one of torch._inductor.config. Raises ValueError."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not name or not value:
        raise ValueError(f"'{text}' is not NAME=VALUE.")
    return (name if name.startswith("torch.") else f"{INDUCTOR}{name}"), value


def missing_option(options: Iterable[str], notes: Iterable[str]) -> str | None:
    """The first of ``options`` of which a run's notes say that its torch does not have it (agent/instrument/compiler_options.py)."""
    known = list(notes)
    return next((name for name in options if any(f"the option `{name}`" in note for note in known)), None)
