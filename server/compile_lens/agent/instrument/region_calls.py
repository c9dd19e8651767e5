"""A look at the calls of what Dynamo compiles, which Dynamo does not see."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol


class RegionWatcher(Protocol):
    """What ``notes`` tells of compile regions as they are made."""

    def region_begins(self, region: int) -> None:
        """``torch.compile`` wraps something."""

    def spy(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """What ``compiled`` shall call in the place of ``fn``, which it wraps."""


def spied(
    fn: Callable[..., Any], before: Callable[[Any, Any], Any], after: Callable[[Any, Any], None]
) -> Callable[..., Any]:
    """``fn``, with ``before(args, kwargs)``, whose value ``after`` gets with the result.

    Dynamo passes over the frame that looks, and compiles ``fn`` as before.
    """
    # torch._dynamo.eval_frame has the first by this name since torch 2.7
    from torch._C._dynamo.eval_frame import set_eval_frame
    from torch._dynamo.eval_frame import skip_code

    def look(*args: Any, **kwargs: Any) -> Any:
        prior = set_eval_frame(None)
        try:
            seen = before(args, kwargs)
        finally:
            set_eval_frame(prior)
        result = fn(*args, **kwargs)
        prior = set_eval_frame(None)
        after(seen, result)
        set_eval_frame(prior)
        return result

    functools.update_wrapper(look, fn)
    skip_code(look.__code__)
    return look
