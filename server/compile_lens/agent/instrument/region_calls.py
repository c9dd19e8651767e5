"""Calls of compile regions: what the user compiled, the modes of a call, and hooks around it that Dynamo does not see."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol

from ..runtime.degraded import degraded
from ..runtime.libraries import torch_folder
from ..torch_internals.core import SET_EVAL_FRAME
from ..torch_internals.dynamo import SKIP_CODE

# how many wrappers of torch's are looked through
MAX_WRAPPERS = 10
MODULE_CALLS = ("__call__", "_call_impl", "_wrapped_call_impl", "inner")


class RegionWatcher(Protocol):
    """What ``notes`` informs about compile regions as they are created."""

    def region_begins(self, region: int) -> None:
        """``torch.compile`` is about to wrap something."""

    def wrap(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """What ``compiled`` calls instead of ``fn``, which it wraps."""


def with_hooks(
    fn: Callable[..., Any],
    before: Callable[[Any, Any], Any],
    after: Callable[[Any, Any], None],
    failed: Callable[[Any], None] = lambda _: None,
) -> Callable[..., Any]:
    """``fn`` with ``before(args, kwargs)``, whose value is passed to ``after`` with the result, or to ``failed`` if there is none.

    Dynamo skips the frame of the hooks and compiles ``fn`` as before.
    """
    # torch._dynamo.eval_frame has the first by this name only since torch 2.7
    set_eval_frame, skip_code = SET_EVAL_FRAME.get(), SKIP_CODE.get()
    if set_eval_frame is None or skip_code is None:
        return fn

    def call(*args: Any, **kwargs: Any) -> Any:
        prior = set_eval_frame(None)
        try:
            state = before(args, kwargs)
        finally:
            set_eval_frame(prior)
        try:
            result = fn(*args, **kwargs)
        except BaseException:  # of the user's code; it goes on as it came
            failed(state)
            raise
        prior = set_eval_frame(None)
        try:
            after(state, result)
        finally:
            set_eval_frame(prior)
        return result

    functools.update_wrapper(call, fn)
    skip_code(call.__code__)
    return call


def user_target(fn: Any) -> Any:
    """What the user passed to ``torch.compile``: the module whose ``__call__`` is wrapped, or the function below torch's wrappers."""
    torch = sys.modules["torch"]
    for _ in range(MAX_WRAPPERS):
        owner = getattr(fn, "__self__", None)
        if isinstance(owner, torch.nn.Module) and fn.__name__ in MODULE_CALLS:
            return owner
        code = getattr(fn, "__code__", None)
        inner = getattr(fn, "__wrapped__", None)
        if inner is None or code is None or not code.co_filename.startswith(torch_folder()):
            return fn
        fn = inner
    return fn


def call_modes() -> dict[str, Any]:
    """The modes that are on where a region is called, as JSON."""
    import torch

    return {
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "default_dtype": str(torch.get_default_dtype()),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "autocast": autocast_now(),
    }


def autocast_now() -> list[list[str]]:
    """The types of devices for which autocast is on, each with the name of its dtype, as JSON."""
    import torch

    found: list[list[str]] = []
    for device in ("cpu", "cuda"):
        try:
            if torch.is_autocast_enabled(device):
                found.append([device, str(torch.get_autocast_dtype(device))])
        except RuntimeError as error:  # a build of torch without that device
            degraded(f"autocast on {device} in repros", error)
    return found
