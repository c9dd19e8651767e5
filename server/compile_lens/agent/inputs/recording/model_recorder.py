"""Notes which models a program makes, and how it calls them."""

from __future__ import annotations

import contextlib
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ...runtime.foreign_code import attempted
from ...torch_internals.attributes import original_module
from ...torch_internals.core import CALL_OF_MODULE
from ...variations.call_snapshot import GRAD, grad_mode
from ..calling.call_modes import PLAIN, CallModes, modes_now, packed
from ..calling.parameter_count import trained_parameter_count
from ..calling.placement import device_of
from ..importing.absent import NeedsAbsent, cause_of
from ..importing.missing_imports import IMPORT_SYSTEM, is_of_project
from ..scripts.guard import Enough
from ..scripts.pace import Pace
from ..synthesis.terms.arguments import literal
from .copies_of_inputs import copies_of
from .kinds_of_calls import KEPT_CALLS, KEPT_MODES, Kinds, leaves_of, places_of_call, sizes_of_call, types_of_call
from .module_changes import Change, Settings, differing, settings_of
from .surroundings import NONE, CallSurroundings, SurroundingNames, surroundings_of
from .unfinished_modules import UnfinishedModules

# after so many calls of one model, or of all, it is known how the program calls them, except that a later one may be of other sizes, or
# come after a change of the model: the last batch of an epoch is often smaller, and a temperature falls after it. It is waited for so many
# seconds, then loops that only repeat it are left for what follows them, and after so many seconds the program ends
CALLS_OF_ONE = 4
CALLS_OF_ALL = 12
OTHER_SIZES_S, LAST_S = 3.0, 6.0
# what torch.fx and its heirs call modules with
SYMBOLIC = frozenset({"Proxy", "HFProxy"})
WRAPPERS = frozenset({"DistributedDataParallel", "DataParallel", "FullyShardedDataParallel"})


@dataclass(frozen=True)
class RecordedModelCall:
    """A call from outside of all modules. ``is_complete``: nothing that it passes is absent. ``mode`` is its grad mode, as in
    ``CallSnapshot``, and ``modes`` are the others; ``device`` is that of the module then, ``number`` tells which call of the module it is,
    from 1 on, and ``changes`` what the program has changed of it since the first."""

    positional: tuple[Any, ...]
    named: dict[str, Any]
    is_complete: bool
    mode: str
    device: Any = None
    number: int = 1
    changes: tuple[Change, ...] = ()
    modes: CallModes = PLAIN


@dataclass(frozen=True)
class LaterCall:
    """A call in another run of the program: its arguments as expressions, what it had changed of the model by then, the arguments
    themselves as bytes (``explorer.unpacked``), where they are not large, its grad mode, and the others."""

    positional: tuple[str, ...]
    named: dict[str, str]
    changes: tuple[Change, ...] = ()
    values: bytes = b""
    mode: str = ""
    modes: CallModes = PLAIN


@dataclass
class RecordedModel:
    """A module, the line of the analyzed file from which it was made, and its calls. ``later`` are those of another run, and ``passed`` is
    what those got that have no expressions (``explorer.unpacked``). ``settings`` are those after its last call, and ``changed`` what the
    program has changed between calls. ``packed`` is the module as it was before its first call (``explorer.unpacked_module``). ``around``
    is what was around its first call, and ``around_later`` what was around the last of those that followed."""

    module: Any
    line: int
    calls: list[RecordedModelCall] = field(default_factory=list)
    count: int = 0
    sizes: Kinds = field(default_factory=Kinds)
    types: Kinds = field(default_factory=Kinds)
    places: Kinds = field(default_factory=Kinds)
    modes: Kinds = field(default_factory=lambda: Kinds(KEPT_MODES))
    later: tuple[LaterCall, ...] = ()
    passed: bytes = b""
    settings: Settings = field(default_factory=dict)
    changed: set[tuple[str, str]] = field(default_factory=set)
    begins_in_training: bool = True
    packed: bytes = b""
    around: CallSurroundings = NONE
    around_later: SurroundingNames | None = None

    @property
    def size(self) -> tuple[int, int]:
        """How many parameters of it are trained, and how many submodules it has."""
        return trained_parameter_count(self.module), len(list(self.module.modules()))

    def settings_now(self) -> Settings:
        """Its settings. A model that is trained is called in eval mode by variations; one that begins in eval mode, as for a check before
        the training, is to be trained as the program does it."""
        return settings_of(self.module, with_mode=not self.begins_in_training)

    @property
    def complete(self) -> RecordedModelCall | None:
        """The last call that can be repeated."""
        return next((call for call in reversed(self.calls) if call.is_complete), None)


class ModelRecorder:
    """``check_time`` raises Enough when the program has run for long enough; ``before_first`` gets the first call of each model, and may
    raise it, too. ``pace`` is told of each call. What ``owns`` is true of is a model also where another one calls it."""

    def __init__(
        self,
        file: str,
        check_time: Callable[[], None],
        before_first: Callable[[RecordedModel], None],
        owns: Callable[[Any], bool] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._file = file
        self._owns = owns or _nothing
        self._pace = pace or Pace()
        self._last_s = LAST_S if pace is not None else OTHER_SIZES_S  # loops of others are not left
        self._check_time = check_time
        self._before_first = before_first
        self._made: dict[int, tuple[weakref.ref[Any], int]] = {}
        # what the program passed to the constructors of modules that are no part of another, as far as it has a text
        self._given: dict[int, dict[str, str]] = {}
        self._kept: list[Any] = []
        self._unfinished = UnfinishedModules()
        self._called: dict[int, RecordedModel] = {}
        self._first_call = 0.0
        self._depth = 0
        self._own_depth = 0
        self._trained: set[int] = set()

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record while the body runs."""
        import torch

        module: Any = torch.nn.Module
        # what `__call__` calls: `torch.compile` keeps the bound `__call__`, which must be torch's own when it is traced
        original_init, original_call = module.__init__, CALL_OF_MODULE.need()
        optimizer: Any = torch.optim.Optimizer
        original_add = optimizer.add_param_group
        recorder = self

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original_init(self, *args, **kwargs)
            recorder._add(self)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            is_own = recorder._owns(self)
            noted = None
            if recorder._depth == 0 or (is_own and recorder._own_depth == 0):
                noted = recorder._note(self, args, kwargs)
            recorder._depth += 1
            recorder._own_depth += is_own
            try:
                return original_call(self, *args, **kwargs)
            finally:
                recorder._depth -= 1
                recorder._own_depth -= is_own
                if noted is not None:
                    noted.settings = noted.settings_now()

        def add_param_group(self: Any, group: Any) -> None:
            original_add(self, group)
            recorder._trained.update(id(parameter) for parameter in self.param_groups[-1]["params"])

        module.__init__, optimizer.add_param_group = init, add_param_group
        CALL_OF_MODULE.set(call)
        try:
            yield
        finally:
            module.__init__, optimizer.add_param_group = original_init, original_add
            CALL_OF_MODULE.set(original_call)

    def _add(self, module: Any) -> None:
        known = self._made.get(id(module))
        line = self._line() if known is None or known[0]() is not module else 0
        if line:
            self._made[id(module)] = (weakref.ref(module), line)
            self._given[id(module)] = _given_to_constructor(module)
            self._kept.append(module)

    def _line(self) -> int:
        """The line of the file from which the module is made or called, outside of constructors of modules; 0 if an import makes it."""
        import torch

        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            is_inside = frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), torch.nn.Module)
            if frame.f_code.co_filename.startswith(IMPORT_SYSTEM):
                return 0
            if frame.f_code.co_filename == self._file and not is_inside:
                return frame.f_lineno or 1
            frame = frame.f_back
        return 0

    def _note(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordedModel | None:
        """Note a call; the model that it is of. Raises NeedsAbsent for one with something absent, and Enough when the models are known."""
        self._check_time()
        if any(type(value).__name__ in SYMBOLIC for value in leaves_of((args, kwargs))):
            return None  # a tracer makes it, which is not how the model is used
        while type(module).__name__ in WRAPPERS and hasattr(module, "module"):
            module = module.module
        known = self._made.get(id(module))
        line = known[1] if known is not None else 0
        model = self._called.setdefault(
            id(module), RecordedModel(module, line or self._line(), begins_in_training=module.training)
        )
        self._first_call = self._first_call or time.monotonic()
        is_known = model.count >= CALLS_OF_ONE or sum(each.count for each in self._called.values()) >= CALLS_OF_ALL
        waited = time.monotonic() - self._first_call if is_known else 0.0
        if waited > self._last_s:
            raise Enough
        around = surroundings_of(original_module(module))
        if model.count:
            model.around_later = around.names()
        else:
            model.around = around
        causes = [c for c in map(cause_of, leaves_of((args, kwargs))) if c is not None]
        model.count += 1
        is_first = model.count <= KEPT_CALLS
        is_other = model.sizes.is_kept(sizes_of_call((args, kwargs)), is_first)
        modes = modes_now()
        is_other |= model.types.is_kept(types_of_call((args, kwargs)), is_first)
        is_other |= model.places.is_kept(attempted(lambda: places_of_call((args, kwargs))) or "", is_first)
        is_other |= model.modes.is_kept(modes.kind, is_first)
        settings = model.settings_now()
        newly_changed = differing(model.settings, settings) - model.changed
        is_other |= bool(newly_changed)
        model.changed |= newly_changed
        self._pace.called(is_first or is_other or waited <= OTHER_SIZES_S)
        if is_first or is_other:
            args, kwargs = copies_of((args, kwargs)) if not causes else (args, kwargs)
            changes = tuple((*key, settings[key]) for key in sorted(model.changed & settings.keys()))
            place, now = device_of(module), packed(modes)
            model.calls.append(
                RecordedModelCall(args, kwargs, not causes, grad_mode(), place, model.count, changes, now)
            )
        if causes:
            raise NeedsAbsent(causes[0])
        if model.count == 1:
            self._before_first(model)
        return model

    @property
    def made_so_far(self) -> int:
        """How many modules the program has made by now."""
        return len(self._kept)

    def number_of(self, module: Any) -> int:
        """How many modules the program made before ``module``: the same number in every run of it. Those that an import or a copy made are
        counted from -1 down, in the order of their first calls."""
        made = next((number for number, each in enumerate(self._kept) if each is module), None)
        if made is not None:
            return made
        return next((-1 - number for number, each in enumerate(self._not_made()) if each.module is module), -1)

    def _not_made(self) -> list[RecordedModel]:
        made = set(map(id, self._kept))
        return [model for model in self._called.values() if id(model.module) not in made]

    def given_to(self, module: Any) -> dict[str, str]:
        """The arguments that the program passed to the constructor of ``module``, as text by parameter; as far as they have one."""
        return self._given.get(id(module), {})

    def known(self, number: int, name: str) -> RecordedModel | None:
        """The model with this number and class, if it has been made or called by now."""
        if number < 0:
            found = self._not_made()[-1 - number : len(self._called)]
            return found[0] if found and type(original_module(found[0].module)).__qualname__ == name else None
        if number >= len(self._kept):
            return None
        module = self._kept[number]
        return self._called.get(id(module)) or RecordedModel(module, self._made[id(module)][1])

    def note_failure(self, error: BaseException) -> None:
        """``error`` has ended a statement of the program."""
        self._unfinished.note(error, self._kept)

    def parts(self) -> list[RecordedModel]:
        """The finished parts of modules whose constructors raised, the largest first."""
        made = [RecordedModel(each, self._made[id(each)][1]) for each in self._kept if self._unfinished.is_part(each)]
        fitting = [model for model in made if _is_model(model.module, True, self._file)]
        return sorted(_roots(fitting), key=lambda model: model.size, reverse=True)

    def owned_models(self) -> list[RecordedModel]:
        """Those that are owned, of those that the program calls; otherwise of those that it makes. The largest come first."""
        made = [RecordedModel(each, self._made[id(each)][1]) for each in self._kept if each not in self._unfinished]
        for found in ([*self._called.values()], made):
            owned = [model for model in found if self._owns(model.module) and _is_whole(model.module)]
            if owned:
                return sorted(_roots(owned), key=lambda model: model.size, reverse=True)
        return []

    def models(self) -> list[RecordedModel]:
        """Those that the program trains or calls; otherwise those that it makes. The largest come first; none is a part of another."""
        made = [
            RecordedModel(each, self._made[id(each)][1])
            for each in self._kept
            if id(each) not in self._called and each not in self._unfinished
        ]
        trained = [model for model in made if self._is_trained(model)]
        for has_parameters in (True, False):
            for found in ([*self._called.values(), *trained], made):
                fitting = [model for model in found if _is_model(model.module, has_parameters, self._file)]
                if fitting:
                    main = sorted(
                        _roots(fitting), key=lambda model: (self._is_trained(model), model.size), reverse=True
                    )
                    return main + (self._losses() if has_parameters else [])
        return []

    def _losses(self) -> list[RecordedModel]:
        """The modules of the project without parameters that the program calls with what a model has computed, in order to train it."""
        return [
            model
            for model in self._called.values()
            if _is_model(model.module, False, self._file) and any(map(_needs_gradient, model.calls))
        ]

    def _is_trained(self, model: RecordedModel) -> bool:
        return bool(attempted(lambda: any(id(each) in self._trained for each in model.module.parameters())))


def _given_to_constructor(module: Any) -> dict[str, str]:
    """What the outermost constructor of ``module`` has been called with: its frame has the arguments while a base's constructor runs."""
    given: dict[str, str] = {}
    frame: FrameType | None = sys._getframe(3)
    while frame is not None and frame.f_code.co_name == "__init__":
        code = frame.f_code
        if not code.co_argcount or frame.f_locals.get(code.co_varnames[0]) is not module:
            break
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        texts = {name: literal(frame.f_locals.get(name)) for name in names}
        given = {name: text for name, text in texts.items() if text not in (None, "None")}
        frame = frame.f_back
    return given


def _roots(models: list[RecordedModel]) -> list[RecordedModel]:
    inside = {id(part) for model in models for part in model.module.modules() if part is not model.module}
    return [model for model in models if id(model.module) not in inside] or models


def _nothing(module: Any) -> bool:
    return False


def _is_whole(module: Any) -> bool:
    """Whether the constructor of its base has run: ``parameters()`` needs that."""
    return "_parameters" in vars(module)


def _is_model(module: Any, has_parameters: bool, file: str) -> bool:
    """Whether it has parameters; otherwise, whether its class is of the project, unlike a loss of a library. Not if it is not whole."""
    has_some = attempted(lambda: next(module.parameters(), None) is not None)
    if has_some is None:  # its constructor raised early
        return False
    if has_parameters or has_some:
        return has_parameters and has_some
    return is_of_project(getattr(sys.modules.get(type(module).__module__), "__file__", None) or "", file)


def _needs_gradient(call: RecordedModelCall) -> bool:
    import torch

    # what is absent answers nothing, nor need an object of the program's
    leaves = leaves_of((call.positional, call.named)) if call.mode == GRAD else ()
    return any(isinstance(value, torch.Tensor) and value.requires_grad for value in leaves)
