"""Records calls of compile regions for repros, each before it is made, so that a crash loses nothing.

Notes, in order: ``compile_lens_capture_region`` at a region's first call (what is called and how it is
compiled), ``compile_lens_capture_call`` before a call, and ``compile_lens_capture_fact`` for what is known only afterwards.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..instrument.region_calls import call_modes, user_target, with_hooks
from ..runtime.degraded import degraded, degraded_if_it_fails
from ..torch_internals import dynamo, functorch, inductor
from ..torch_internals.core import PYTREE
from .construction import Constructions
from .describe import Describer
from .patches import describe_patches
from .slices import Slicer

# per region; a training loop makes the same call a thousand times
MAX_CALLS = 24
# between the ids of objects that are described at different times
ID_STRIDE = 1_000_000
SET_BY_DYNAMIC = ("assume_static_by_default", "automatic_dynamic_shapes")
# a module of options, and its entries with their defaults
CONFIGS = (
    (dynamo.CONFIG, dynamo.CONFIG_ENTRIES),
    (inductor.CONFIG, inductor.CONFIG_ENTRIES),
    (functorch.CONFIG, functorch.CONFIG_ENTRIES),
)


class CallRecorder:
    """One per run. ``write_note`` takes a name and JSON.

    ``exact_folder``: where tensors are saved whose values must be exact, or None to draw them from a seed.
    """

    def __init__(
        self,
        write_note: Callable[[str, Any], None],
        library_roots: tuple[str, ...],
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
        self._is_recording = False

    def install(self) -> None:
        """Record from now on."""
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
        """``torch.compile`` is about to wrap something: the options of the call are the region's."""
        self._compile_options[region], self._pending = self._pending, {}

    def wrap(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """``fn`` with hooks that record its calls."""
        return with_hooks(
            fn,
            lambda args, kwargs: self._before(region, fn, args, kwargs),
            lambda before, result: self._after(region, before, result),
        )

    def _before(self, region: int, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        import torch

        if self._is_recording:
            return None
        self._is_recording = True
        try:
            self._note_call(region, fn, args, kwargs)
        except Exception as error:  # reads objects of the user's, whose code may raise anything
            degraded("a call in repros", error)
        finally:
            self._is_recording = False
        return torch.get_rng_state()

    def _note_call(self, region: int, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        known = self._calls.setdefault(region, [])
        if len(known) >= MAX_CALLS:
            return
        target = user_target(fn)
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
        needed = slicer.result(Describer(slicer, self._constructions, self._exact_folder, ID_STRIDE * len(known)))
        changed = repr(needed) != self._needed.get(region)
        self._needed[region] = repr(needed)
        self._write_note(
            "compile_lens_capture_call",
            {**call, "unsupported": describer.unsupported, "needed": needed if changed else None},
        )

    def _note_region(self, region: int, target: Any, slicer: Slicer) -> None:
        describer = Describer(slicer, self._constructions, self._exact_folder, ID_STRIDE * (MAX_CALLS + 1))
        given = self._compile_options.get(region, {})
        options = {name: describer.describe(value) for name, value in given.items()}
        config = changed_options(self._options_before)
        if given.get("dynamic") is not None:
            # during the call, torch sets these options for it
            config = [line for line in config if not any(name in line for name in SET_BY_DYNAMIC)]
        described = describer.describe(target)
        slicer.take_registrations()
        patches, left_out = describe_patches(slicer, describer)
        self._write_note(
            "compile_lens_capture_region",
            {
                "region": region,
                "target": described,
                "options": options,
                "config": config,
                "state": call_modes(),
                "patches": patches,
                "left_out": left_out,
                **slicer.result(describer),
            },
        )

    def _after(self, region: int, before: Any, result: Any) -> None:
        import torch

        if before is None or self._is_recording:
            return
        # the user's tensor subclasses and pytree nodes may raise anything
        with degraded_if_it_fails("whether a call in a repro draws random numbers or has a backward pass"):
            if not torch.equal(before, torch.get_rng_state()):
                self._fact(region, "random")
            for tensor in PYTREE.need().tree_leaves(result):
                if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.grad_fn is not None:
                    tensor.register_hook(lambda _: self._fact(region, "backward"))

    def _fact(self, region: int, name: str) -> None:
        if (region, name) not in self._facts:
            self._facts.add((region, name))
            self._write_note("compile_lens_capture_fact", {"region": region, "fact": name})


def changed_options(before: list[str] | None = None) -> list[str]:
    """Assignments ``torch._dynamo.config.name = value`` for options that differ from torch's defaults, without those of ``before``."""
    found: list[str] = []
    for module, entries in CONFIGS:
        config, known = module.get(), entries.get()
        if config is None or known is None:
            continue
        with degraded_if_it_fails(module.lost):  # values of the user's, whose __eq__ and __repr__ may raise
            defaults = {key: entry.default for key, entry in known.items()}
            for line in config.codegen_config().splitlines():
                key = line.partition(" = ")[0].removeprefix(f"{module.path}.")
                # torch counts an option as changed that was patched and restored (torch/utils/_config_module.py, torch 2.13)
                if line.strip() and not (key in defaults and _value(config, key) == defaults[key]):
                    found.append(line)
    return [line for line in found if line not in (before or ())]


def _value(config: Any, key: str) -> Any:
    value = config
    for part in key.split("."):
        value = getattr(value, part)
    return value
