"""Names what Dynamo compiles through a function of its own: ``inner(*args, **kwargs)``, which calls ``fn``.

That is how modules and functions of libraries are compiled, and modules with hooks (``wrap_inline``, torch/_dynamo/external_utils.py,
torch 2.6 to 2.15). The user wrote neither ``fn`` nor ``args``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import Compilation, CompileReport

WRAPPER = pattern(r"[/\\]torch[/\\]_dynamo[/\\]external_utils\.py$")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
Rewrite = Callable[[re.Match[str]], str]


def is_wrapper(compilation: Compilation) -> bool:
    """Whether the frame is the one that calls what the user passed to ``torch.compile``."""
    return compilation.name == "inner" and WRAPPER.search(compilation.file) is not None


def compiled_names(compilations: Sequence[Compilation], report: CompileReport) -> list[str]:
    """The functions, by the user's names; of a wrapper, what it calls, as far as the run has noted it."""
    wrapped = {call.region: call.name for call in report.regions}
    return list(
        dict.fromkeys(
            wrapped.get(one.region, one.function) if is_wrapper(one) and one.region is not None else one.function
            for one in compilations
        )
    )


def in_users_words(fact: GuardFact) -> GuardFact:
    """A fact of a wrapper's guard: ``its first argument`` for ``args[0]``, ``its `bias` `` for ``fn.bias``."""
    subject = named_in(fact.subject or (f"`{fact.name}`" if fact.name else ""))
    return replace(fact, subject=subject, event=named_in(fact.event))


def named_in(words: str) -> str:
    """``words`` without the wrapper's own names."""
    for form, rewrite in REWRITES:
        words = form.sub(rewrite, words)
    return words


def _argument(found: re.Match[str]) -> str:
    index = int(found["index"])
    name = f"its {ORDINALS[index]} argument" if index < len(ORDINALS) else f"its argument {index + 1}"
    return _part(found["rest"], name)


def _part(rest: str, owner: str) -> str:
    return f"`{rest.lstrip('.')}` of {owner}" if rest else owner


REWRITES: tuple[tuple[re.Pattern[str], Rewrite], ...] = (
    (pattern(r"`args\[(?P<index>\d{1,9})\](?P<rest>[^`]*)`"), _argument),
    (
        pattern(r"`kwargs\['(?P<key>\w+)'\](?P<rest>[^`]*)`"),
        lambda found: _part(found["rest"], f"its argument `{found['key']}`"),
    ),
    (pattern(r"`args`"), lambda _: "its arguments"),
    (pattern(r"`kwargs`"), lambda _: "its keyword arguments"),
    (pattern(r"`fn\.(?P<rest>[^`]+)`"), lambda found: f"its `{found['rest']}`"),
    (pattern(r"`fn`"), lambda _: "the compiled object"),
)
