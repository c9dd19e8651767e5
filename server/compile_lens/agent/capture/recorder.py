"""Watches the compile regions of a run and writes down each call that may matter, before it happens: a crash loses nothing.

Notes, in the order in which things happen: ``compile_lens_capture_region`` at a region's first call (what is called, and how it is
compiled), ``compile_lens_capture_call`` before a call, ``compile_lens_capture_fact`` for what is known only afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

from ..instrument.region_calls import spied
from .construction import Constructions
from .describe import Describer
from .settings import changed_options, state_of_call
from .slices import Slicer

# per region; a training loop makes the same call a thousand times
MOST_CALLS = 24
# between the numbers of objects that are described at different times
APART = 1_000_000
SET_BY_DYNAMIC = ("assume_static_by_default", "automatic_dynamic_shapes")


class Recorder:
    """One per run. ``write_note`` takes a name and JSON.

    ``exact_folder``: where tensors go whose values must not be made anew, or None to seed them.
    """

    def __init__(
        self,
        write_note: Callable[[str, Any], None],
        library_roots: list[str],
        own_folder: str,
        exact_folder: str | None = None,
    ) -> None:
        self._write_note = write_note
        self._folders = (library_roots, own_folder)
        self._slicers: dict[int, Slicer] = {}
        self._constructions = Constructions()
        self._exact_folder = exact_folder
        self._options_before = changed_options()
        self._pending: dict[str, Any] = {}
        self._compile_options: dict[int, dict[str, Any]] = {}
        self._calls: dict[int, list[str]] = {}
        self._needed: dict[int, str] = {}
        self._facts: set[tuple[int, str]] = set()
        self._inside = False

    def install(self) -> None:
        """Begin to watch."""
        import torch

        self._constructions.install()
        original: Any = torch.compile

        @functools.wraps(original)
        def compile_(model: Any = None, *args: Any, **kwargs: Any) -> Any:
            if model is not None:
                self._pending = dict(kwargs)
            return original(model, *args, **kwargs)

        torch.compile = compile_

    def region_begins(self, region: int) -> None:
        """``torch.compile`` wraps something: the options of the call belong to it."""
        self._compile_options[region], self._pending = self._pending, {}

    def spy(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """``fn`` with a look at its arguments."""
        return spied(
            fn,
            lambda args, kwargs: self._before(region, fn, args, kwargs),
            lambda before, result: self._after(region, before, result),
        )

    def _before(self, region: int, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        import torch

        if self._inside:
            return None
        self._inside = True
        try:
            with contextlib.suppress(Exception):
                self._note_call(region, fn, args, kwargs)
            return torch.get_rng_state()
        finally:
            self._inside = False

    def _note_call(self, region: int, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        known = self._calls.setdefault(region, [])
        if len(known) >= MOST_CALLS:
            return
        target = innermost(fn)
        slicer = self._slicers.setdefault(region, Slicer(*self._folders))
        if not known:
            self._note_region(region, target, slicer)
        describer = Describer(slicer, self._constructions, self._exact_folder)
        call = {
            "region": region,
            "args": [describer.describe(value) for value in args],
            "kwargs": {name: describer.describe(value) for name, value in kwargs.items()},
            "globals": slicer.simple_globals(),
            "attributes": self._constructions.simple_attributes(target),
        }
        text = repr(call)
        if text in known and self._exact_folder is None:
            return
        known.append(text)
        needed = slicer.result(Describer(slicer, self._constructions, self._exact_folder, APART * len(known)))
        changed = repr(needed) != self._needed.get(region)
        self._needed[region] = repr(needed)
        self._write_note(
            "compile_lens_capture_call",
            {**call, "unsupported": describer.unsupported, "needed": needed if changed else None},
        )

    def _note_region(self, region: int, target: Any, slicer: Slicer) -> None:
        describer = Describer(slicer, self._constructions, self._exact_folder, APART * (MOST_CALLS + 1))
        given = self._compile_options.get(region, {})
        options = {name: describer.describe(value) for name, value in given.items()}
        config = changed_options(self._options_before)
        if given.get("dynamic") is not None:
            # within the call, the option is in force as these
            config = [line for line in config if not any(name in line for name in SET_BY_DYNAMIC)]
        self._write_note(
            "compile_lens_capture_region",
            {
                "region": region,
                "target": describer.describe(target),
                "options": options,
                "config": config,
                "state": state_of_call(),
                **slicer.result(describer),
            },
        )

    def _after(self, region: int, before: Any, result: Any) -> None:
        import torch

        if before is None or self._inside:
            return
        with contextlib.suppress(Exception):
            if not torch.equal(before, torch.get_rng_state()):
                self._fact(region, "random")
            for tensor in torch.utils._pytree.tree_leaves(result):
                if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.grad_fn is not None:
                    tensor.register_hook(lambda _: self._fact(region, "backward"))

    def _fact(self, region: int, name: str) -> None:
        if (region, name) not in self._facts:
            self._facts.add((region, name))
            self._write_note("compile_lens_capture_fact", {"region": region, "fact": name})


def innermost(fn: Any) -> Any:
    """What the user handed to ``torch.compile``: the module whose ``__call__`` is wrapped, the function below torch's wrappers."""
    torch = sys.modules["torch"]
    seen = 0
    while seen < 10:
        seen += 1
        owner = getattr(fn, "__self__", None)
        if isinstance(owner, torch.nn.Module) and fn.__name__ in (
            "__call__",
            "_call_impl",
            "_wrapped_call_impl",
            "inner",
        ):
            return owner
        code = getattr(fn, "__code__", None)
        inner = getattr(fn, "__wrapped__", None)
        if inner is None or code is None or not code.co_filename.startswith(str(torch.__path__[0])):
            return fn
        fn = inner
    return fn
