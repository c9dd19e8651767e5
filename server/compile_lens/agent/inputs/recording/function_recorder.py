"""Notes which functions of a project a script calls with tensors, and with which: a script without a model is about these."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from ...torch_internals.attributes import changes_so_far
from ...torch_internals.core import IS_TRANSFORMED
from ...variations.call_snapshot import copied, grad_mode
from ..calling.function_of_frame import Called, function_of
from ..importing.absent import cause_of
from ..importing.missing_imports import is_of_project, project_root
from .kinds_of_calls import KEPT_CALLS, Kinds, sizes_of_call
from .library_imports import not_profiled

# calls of one function that are looked at: what it gets and returns, and who calls it
EXAMINED_CALLS = 24
MAX_FUNCTIONS = 100
# what does less than this share of the most is there for the others: it builds objects, or prepares data
LEAST_SHARE = 0.05
# of the tensors that are kept
MAX_BYTES = 256 << 20
# generators, coroutines and asynchronous generators (CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR)
_SUSPENDED = 0x20 | 0x80 | 0x200
_FUNCTION = 0x2  # CO_NEWLOCALS
# a function that names one of these trains or shows what others compute: they are looked at
_AROUND = frozenset(
    [
        "backward",
        "zero_grad",
        "savefig",
        "show",
        "open",
        "save",
        "load",
        "input",
        "DataLoader",
        "parse_args",
        "ArgumentParser",
    ]
)


@dataclass(frozen=True)
class RecordedFunctionCall:
    """A call that returned tensors, or changed some. ``function`` is bound if it is a method; ``mode`` is the grad mode of the call."""

    function: Callable[..., Any]
    positional: tuple[Any, ...]
    named: dict[str, Any]
    mode: str


@dataclass
class RecordedFunction:
    """A function of the project: its code, the line of the script from which it was called first (0: not told), and its calls.

    ``work`` counts the calls that it made itself, also in what it calls. ``callers`` are the codes around each examined call, by their id.
    """

    code: CodeType
    line: int
    calls: list[RecordedFunctionCall] = field(default_factory=list)
    examined: int = 0
    work: int = 0
    callers: set[frozenset[int]] = field(default_factory=set)
    sizes: Kinds = field(default_factory=Kinds)


@dataclass
class _CallWithoutReturn:
    """A call that has not returned. ``call`` is None where it is not kept; ``changes`` are those of its tensors so far."""

    frame: FrameType
    function: RecordedFunction
    begun: int
    call: RecordedFunctionCall | None
    tensors: list[Any]
    changes: list[int]


class FunctionRecorder:
    """``check_time`` raises Enough when the program has run for long enough."""

    def __init__(self, file: str, check_time: Callable[[], None]) -> None:
        self._file = file
        self._check_time = check_time
        # by the id of their codes, which are kept: to compare codes takes longer
        self._found: dict[int, RecordedFunction] = {}
        self._others: dict[int, CodeType] = {}
        self._open: list[_CallWithoutReturn] = []
        self._is_on = False
        self._events = 0
        self._bytes = 0
        self._is_of_project: dict[str, bool] = {}

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record while the body runs, or until ``stop``; not where the program is profiled."""
        self._is_on = sys.getprofile() is None
        try:
            with not_profiled(lambda: self._is_on, self._on_event, self._is_own):
                if self._is_on:
                    sys.setprofile(self._on_event)
                yield
        finally:
            self.stop()

    def stop(self) -> None:
        """Record no more."""
        self._is_on = False
        if sys.getprofile() == self._on_event:
            sys.setprofile(None)

    def functions(self) -> list[RecordedFunction]:
        """Those that no other of them calls: the file's own, then those of its project that do much, each by how much they do."""
        outermost = self._outermost({number for number, each in self._found.items() if each.calls})
        most = max((each.work for each in outermost), default=0)
        outermost = [e for e in outermost if e.code.co_filename == self._file or e.work >= LEAST_SHARE * most]
        return sorted(outermost, key=lambda each: (each.code.co_filename == self._file, each.work), reverse=True)

    def functions_in(self, is_wanted: Callable[[str], bool]) -> list[RecordedFunction]:
        """Those in files that are wanted, and that no other of them calls, by how much they do."""
        wanted = {n for n, each in self._found.items() if each.calls and is_wanted(each.code.co_filename)}
        return sorted(self._outermost(wanted), key=lambda each: each.work, reverse=True)

    def _outermost(self, among: set[int]) -> list[RecordedFunction]:
        found = [(number, self._found[number]) for number in self._found if number in among]
        return [each for number, each in found if any(not (around & among) - {number} for around in each.callers)]

    def _on_event(self, frame: FrameType, event: str, value: Any) -> None:
        self._events += 1
        try:
            if event == "call":
                if id(frame.f_code) not in self._others:
                    self._begin(frame)
            elif event == "return" and self._open and self._open[-1].frame is frame:
                self._end(value)
        except Exception:  # objects of the program's may raise anything when they are looked at: that call is not noted
            return

    def _begin(self, frame: FrameType) -> None:
        code = frame.f_code
        function = self._found.get(id(code))
        if function is None:
            if len(self._found) >= MAX_FUNCTIONS or not self._is_candidate(code):
                self._others[id(code)] = code
                return
            function = self._found[id(code)] = RecordedFunction(code, self._line(frame))
        self._check_time()
        call: RecordedFunctionCall | None = None
        tensors: list[Any] = []
        if function.examined < EXAMINED_CALLS:
            function.examined += 1
            function.callers.add(frozenset(id(each.function.code) for each in self._open))
            call, tensors = self._kept(frame, function)
        changes = [changes_so_far(each) for each in tensors]
        self._open.append(_CallWithoutReturn(frame, function, self._events, call, tensors, changes))

    def _end(self, result: Any) -> None:
        ended = self._open.pop()
        ended.function.work += self._events - ended.begun
        is_changed = [changes_so_far(each) for each in ended.tensors] != ended.changes
        if ended.call is not None and (is_changed or any(True for _ in _tensors(result))):
            ended.function.calls.append(ended.call)

    def _is_candidate(self, code: CodeType) -> bool:
        is_function = bool(code.co_flags & _FUNCTION) and not code.co_flags & _SUSPENDED
        name = code.co_name
        if not is_function or name.startswith("<") or (name.startswith("__") and name != "__call__"):
            return False
        return not _AROUND.intersection(code.co_names) and self._is_own(code.co_filename)

    def _is_own(self, path: str) -> bool:
        known = self._is_of_project.get(path)
        if known is None:
            known = is_own_file(path, self._file)
            self._is_of_project[path] = known
        return known

    def _line(self, frame: FrameType) -> int:
        """The line of the file from which the frame was called."""
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename != self._file:
            caller = caller.f_back
        return caller.f_lineno if caller is not None else 1

    def _kept(self, frame: FrameType, function: RecordedFunction) -> tuple[RecordedFunctionCall | None, list[Any]]:
        """The call of ``frame`` with copies of its tensors, and these tensors; None for one that cannot be repeated, and for one after the
        first ones unless its tensors have other sizes."""

        called = function_of(frame)
        if called is None or not _is_repeatable(called):
            return None, []
        is_first = len(function.calls) < KEPT_CALLS
        is_other = function.sizes.is_kept(sizes_of_call((called.positional, called.named)), is_first)
        # an object is as the script leaves it: it may not fit the sizes of each call
        if not is_first and (not is_other or called.owner is not None):
            return None, []
        arguments = [*called.positional, *called.named.values()]
        tensors = list(_tensors(arguments))
        self._bytes += sum(each.numel() * each.element_size() for each in tensors)
        if self._bytes > MAX_BYTES or not (tensors or any(True for _ in _tensors(called.owner))):
            return None, []
        positional, named = copied((called.positional, called.named))
        return RecordedFunctionCall(called.function, positional, named, grad_mode()), tensors


def is_own_file(path: str, file: str) -> bool:
    """Whether ``path`` is of the project of ``file``, or of the package that is installed from it."""
    return is_of_project(path, file) or is_installed_from(path, file)


def is_installed_from(path: str, file: str) -> bool:
    """Whether ``path`` is of the installed package whose source is in the project of ``file``."""
    root = project_root(file)
    for marker in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        _, found, inside = path.partition(marker)
        top = inside.partition(os.sep)[0]
        if found and top.isidentifier():
            return any(os.path.isdir(os.path.join(root, folder, top)) for folder in ("", "src"))
    return False


def _is_repeatable(called: Called) -> bool:
    """Whether the call has no part that is absent, an iterator, or a tensor of a transform that ends before the call is repeated."""
    import torch

    is_transformed = IS_TRANSFORMED.look_up()
    for value in _parts([called.owner, *called.positional, *called.named.values()]):
        if cause_of(value) is not None or hasattr(type(value), "__next__"):
            return False
        is_plain = type(value) in (torch.Tensor, torch.nn.Parameter)
        if isinstance(value, torch.Tensor) and (not is_plain or (is_transformed and is_transformed(value))):
            return False
    return not isinstance(called.owner, (torch.nn.Module, torch.optim.Optimizer, torch.Tensor))


def _tensors(value: Any) -> Iterator[Any]:
    import torch

    return (each for each in _parts(value) if isinstance(each, torch.Tensor))


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """``value`` and what is in it: items, and attributes of plain objects, as deep as programs put tensors."""
    if depth > 3:
        return
    yield value
    # as the program stored them: methods of its own classes are not asked
    if isinstance(value, tuple):
        inside: Any = tuple.__getitem__(value, slice(16))
    elif isinstance(value, list):
        inside = list.__getitem__(value, slice(16))
    elif isinstance(value, dict):
        inside = list(dict.values(value))[:64]
    elif type(value).__dictoffset__ and type(value).__module__ not in sys.builtin_module_names:
        inside = _attributes(value)
    else:
        return
    for each in inside:
        yield from _parts(each, depth + 1)


def _attributes(value: Any) -> list[Any]:
    import torch

    is_opaque = isinstance(value, (type, FunctionType, ModuleType, torch.Tensor, torch.nn.Module))
    if is_opaque or cause_of(value) is not None:
        return []
    return list(object.__getattribute__(value, "__dict__").values())[:64]
