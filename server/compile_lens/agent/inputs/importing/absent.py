"""Values that stand for what a program could not make or import: whoever needs one gets the exception that was the cause."""

from __future__ import annotations

import itertools
import operator
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any, NoReturn

from .absent_bases import ModelBase, bases_in_place_of, initialize_base
from .decorator_lines import is_decorated


class NeedsAbsent(Exception):
    """Something that is absent was needed; ``cause`` is the exception for which it is."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause = cause


class Absent:
    """The result of a statement that failed. Any use of it raises NeedsAbsent."""

    def __init__(self, cause: BaseException) -> None:
        self.__dict__["_compile_lens_cause"] = cause


def _refuse(self: Absent, *_: Any, **__: Any) -> NoReturn:
    raise NeedsAbsent(self.__dict__["_compile_lens_cause"])


def _operators() -> frozenset[str]:
    """The methods of operators, reflected ones too."""
    plain = {name for name, value in vars(operator).items() if name[:2] == "__" and type(value) is type(len)}
    return frozenset(plain | {f"__r{name[2:]}" for name in plain})


# what Python looks up on the type beside operators
_CONVERSIONS = (
    "len",
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "format",
    "fspath",
    "hash",
    "next",
    "mro_entries",
)
_OTHER_USES = (
    "call",
    "getattr",
    "setattr",
    "delattr",
    "iter",
    "enter",
    "aenter",
    "await",
    "aiter",
    "reduce_ex",
    "copy",
)
for _use in (*_operators(), *(f"__{_name}__" for _name in (*_CONVERSIONS, *_OTHER_USES))):
    setattr(Absent, _use, _refuse)
Absent.__torch_function__ = classmethod(lambda cls, *_: _refuse_for(_))  # type: ignore[attr-defined]


def _refuse_for(call: tuple[Any, ...]) -> NoReturn:
    """Refuse a call of torch's, of which ``call`` has the function, the types, the arguments and the named ones."""
    raise NeedsAbsent(next(_causes_in(call[2:]), None) or TypeError("something is absent"))


def _causes_in(value: Any) -> Iterator[BaseException]:
    """Why parts of ``value`` are absent: of a shape, one size may be."""
    cause = cause_of(value)
    if cause is not None:
        yield cause
    elif isinstance(value, (tuple, list)):
        yield from itertools.chain.from_iterable(map(_causes_in, value))
    elif isinstance(value, dict):
        yield from _causes_in(list(value.values()))


def cause_of(value: Any) -> BaseException | None:
    """Why ``value`` is absent; None where it is not."""
    return value.__dict__["_compile_lens_cause"] if type(value) is Absent else None


def behind(error: BaseException) -> BaseException:
    """``error``, or that of the import for which it was raised: a function lacks what its decorator would have passed to it, a module
    that is not there has no `__file__`, and what stands for one of its classes is no layer."""
    owner = getattr(error, "obj", None) if type(error) is AttributeError else _stub_named_by(error)
    if isinstance(owner, StubModule | Stub):
        stubbed: Exception = owner._compile_lens_error
        return stubbed.with_traceback(error.__traceback__)
    match = _LACKS_ARGUMENTS.match(str(error)) if type(error) is TypeError else None
    causes = (cause for function, cause in _decorated if match is not None and match["name"] == function.__name__)
    cause = next(causes, None)
    return error if cause is None else cause.with_traceback(error.__traceback__)


def _stub_named_by(error: BaseException) -> Stub | StubModule | None:
    """The stub that ``error`` is about, if its message names their type: of the innermost function that has one at hand."""
    if type(error) is TypeError and _NAMES_STUB.search(str(error)) is not None:
        for frame, _ in reversed([*traceback.walk_tb(error.__traceback__)]):
            at_hand = [*frame.f_locals.values(), *map(frame.f_globals.get, frame.f_code.co_names)]
            found: list[Stub | StubModule] = [*_stubs_in(at_hand)]
            found += [value for value in at_hand if type(value) is StubModule]
            if found:
                return found[0]
    return None


def is_refused(error: BaseException | None) -> bool:
    """Whether ``error`` was raised since a stub was needed for what it cannot do: compute, for example."""
    trace = error.__traceback__ if error is not None else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == __file__ and not isinstance(error, NeedsAbsent)


STUB_VERSION = "0.0.0"
# what is told the name of a missing module from which a model inherits
on_model_base: list[Callable[[str], object]] = []
# what is told the frame of the program in which a stub is imported, or needed for what it cannot do
on_need: list[Callable[[FrameType], object]] = []
# functions that calls of stubs were given: a library that starts programs would have called them
given_functions: list[Callable[..., Any]] = []
# functions that a stub decorates, and why it is one: what was to decorate them may pass them more than the program does (Hydra)
_decorated: list[tuple[Any, Exception]] = []
# of lists in lists that are looked through
_MOST_DEPTH = 4
# as Python and torch name what they do not take
_NAMES_STUB = re.compile(r"\b(?:Part)?Stub\b")
_LACKS_ARGUMENTS = re.compile(r"(?:[\w.<>]+\.)?(?P<name>\w+)\(\) missing \d+ required")


class StubModule(ModuleType):
    """A module that is not installed, or cannot be imported. Attributes and calls without a result do nothing; whatever needs a value
    raises ``error``. ``made`` is the class of what stands for its attributes."""

    def __init__(self, name: str, error: Exception, made: type[Stub] | None = None) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._compile_lens_error = error
        self._compile_lens_made = made or Stub
        # a program that prints or compares it goes on
        self.__version__ = STUB_VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._compile_lens_made(self._compile_lens_error, name=self.__name__.partition(".")[0])


class Stub:
    """Something of a module that is not there, or what a call of it returned. ``name`` is what is told of it."""

    def __init__(self, error: Exception, wrapped: Any = None, name: str = "") -> None:
        self._compile_lens_error = error
        self._compile_lens_wrapped = wrapped
        self._compile_lens_name = name
        # `Base.__init__(self, x)` of a class whose base it would be
        self.__dict__["__init__"] = initialize_base

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._another()

    def _another(self, wrapped: Any = None) -> Stub:
        return type(self)(self._compile_lens_error, wrapped, self._compile_lens_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return another stub. What decorates returns what it is given; what gets a tensor computes with it, which no stub can."""
        if any(_is_of_torch(value) for value in args) and not _is_dropped():
            raise _refusal(self)
        _remember_functions(args)
        first = args[0] if len(args) == 1 or (args and hasattr(type(args[0]), "__iter__")) else None
        is_definition = len(args) == 1 and _is_defined_by_statement(first)
        if is_definition and is_decorated(first, sys._getframe(1), bool(kwargs)):
            _decorated.append((first, self._compile_lens_error))
            return first
        return self._another(first)

    def __iter__(self) -> Iterator[Any]:
        """What a progress bar was given."""
        wrapped = self._compile_lens_wrapped
        if isinstance(wrapped, (Stub, str, bytes)) or not hasattr(type(wrapped), "__iter__"):
            raise _refusal(self)  # it unpacks a result
        return iter(wrapped)

    def __bool__(self) -> bool:
        """Dynamo asks whether it knows what is called (torch 2.11, ``call_function`` in torch/_dynamo/symbolic_convert.py)."""
        if str(sys._getframe(1).f_globals.get("__name__")).startswith("torch._dynamo."):
            return True
        raise _refusal(self)

    def __len__(self) -> int:
        if not hasattr(type(self._compile_lens_wrapped), "__len__"):
            raise _refusal(self)
        return len(self._compile_lens_wrapped)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """What a class has in place of a base that is not installed."""
        found = bases_in_place_of(self, bases, sys._getframe(1))
        if found is None:
            raise _refusal(self)
        if any(issubclass(base, ModelBase) for base in found):
            for tell in on_model_base:
                tell(self._compile_lens_name)
        return found

    def __instancecheck__(self, instance: object) -> bool:
        return False  # nothing can be of a class that is not installed

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getitem__(self, _: object) -> Stub:
        """A subscripted annotation."""
        return self._another()

    def __or__(self, _: object) -> Stub:
        return self

    __ror__ = __or__


class PartStub(Stub):
    """Something that an installed library lacks: what it was may be there by another name, so no comparison with it has an answer."""

    __hash__ = Stub.__hash__

    def __eq__(self, _: object) -> bool:
        raise _refusal(self)

    def __ne__(self, _: object) -> bool:
        raise _refusal(self)

    def __instancecheck__(self, instance: object) -> bool:
        raise _refusal(self)

    def __subclasscheck__(self, subclass: type) -> bool:
        raise _refusal(self)


def tell_of_need(frame: FrameType) -> None:
    """A stub is needed in ``frame``."""
    for tell in on_need:
        tell(frame)


def _refusal(stub: Stub) -> Exception:
    """What a stub raises that is needed for what it cannot do."""
    tell_of_need(sys._getframe(2))
    return stub._compile_lens_error.with_traceback(None)


def _needs(self: Stub, *_: Any, **__: Any) -> NoReturn:
    raise _refusal(self)


_HARMLESS = frozenset({"__call__", "__getitem__", "__or__", "__ror__", "__eq__", "__ne__"})
_NEEDING = ("int", "float", "fspath", "next")
for _use in (*(_operators() - _HARMLESS), *(f"__{_name}__" for _name in _NEEDING)):
    setattr(Stub, _use, _needs)
Stub.__torch_function__ = classmethod(lambda cls, *call: _needs_stub(call))  # type: ignore[attr-defined]


def _needs_stub(call: tuple[Any, ...]) -> NoReturn:
    """Refuse a call of torch's, of which ``call`` has the function, the types, the arguments and the named ones."""
    stub = next(_stubs_in(call[2:]), None)
    raise ImportError("a module is not installed") if stub is None else _refusal(stub)


def _stubs_in(value: Any, depth: int = 0) -> Iterator[Stub]:
    """The stubs in ``value``: of a shape, one size may be one."""
    # what a program stored is read as Python keeps it: its own classes may raise when they are asked, and a list may hold itself
    inside: list[Any] = []
    if isinstance(value, Stub):
        yield value
    elif depth < _MOST_DEPTH and isinstance(value, (tuple, list)):
        inside = [*(tuple.__iter__(value) if isinstance(value, tuple) else list.__iter__(value))]
    elif depth < _MOST_DEPTH and isinstance(value, dict):
        inside = [*dict.values(value)]
    for each in inside:
        yield from _stubs_in(each, depth + 1)


def _remember_functions(values: tuple[Any, ...]) -> None:
    for value in values:
        inside = list(value.values()) if type(value) is dict else [value]
        given_functions.extend(each for each in inside if type(each).__name__ == "function")


def _is_of_torch(value: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_defined_by_statement(value: Any) -> bool:
    """Whether it may be what a decorator is applied to: a function, or a class."""
    return isinstance(value, type) or type(value).__name__ == "function"


def _is_dropped() -> bool:
    """Whether the call of a stub that is being made stands alone, so that nothing gets its result."""
    import dis

    frame = sys._getframe(2)
    following: Callable[[Any], Any] = dis.get_instructions
    ahead = (each for each in following(frame.f_code) if each.offset > frame.f_lasti and each.opname != "CACHE")
    return next((each.opname for each in ahead), "") == "POP_TOP"
