"""What calls return: functions of torch, numpy and the builtins, and methods of a tensor."""

from __future__ import annotations

from collections.abc import Mapping

from compile_lens.syntax.predictions import vocabulary
from compile_lens.syntax.predictions.values import (
    ARRAY,
    PYTHON,
    TENSOR,
    UNBACKED,
    UNKNOWN,
    AbstractValue,
    ValueSort,
    element,
    join_all,
    known,
    sequence,
    sequence_of,
)

LOGGER = AbstractValue(ValueSort.NAME, name="logging.Logger")
_LOGGER_MAKERS = frozenset({"getLogger", "get_logger", "getChild"})
# true and false while Dynamo traces
_ALWAYS = frozenset({"is_compiling", "is_torchdynamo_compiling", "is_dynamo_compiling", "is_dynamo_supported"})
_NEVER = frozenset(
    {"is_scripting", "is_tracing", "is_in_onnx_export", "is_exporting", "is_torchdynamo_exporting", "is_torch_fx_proxy"}
)
_NUMBERS = frozenset({"int", "float", "bool", "round"})
_PYTHON_BUILTINS = frozenset(
    [
        "len",
        "isinstance",
        "issubclass",
        "hasattr",
        "callable",
        "str",
        "repr",
        "format",
        "ord",
        "chr",
        "id",
        "hash",
        "type",
        "complex",
        "divmod",
        "all",
        "any",
        "bin",
        "hex",
        "print",
    ]
)
_LOCKS = frozenset({"threading.Lock", "threading.RLock"})
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})


def of_name(
    name: str, positional: tuple[AbstractValue, ...], named: Mapping[str, AbstractValue], captures_scalars: bool
) -> AbstractValue:
    """What calling something of this full name returns; UNKNOWN for names that are not known."""
    last = name.rpartition(".")[2]
    if name.startswith("builtins."):
        return _of_builtin(last, positional, captures_scalars)
    if last in _ALWAYS or last in _NEVER:
        return known(last in _ALWAYS)
    if last in _LOGGER_MAKERS:
        return LOGGER
    if name in _LOCKS:
        return AbstractValue(ValueSort.NAME, name=name)
    if name in _COPIES:
        return positional[0] if positional else UNKNOWN
    if name.startswith("torch."):
        return _of_torch(name, positional, named)
    if name.startswith("numpy.random.rand"):
        return ARRAY if positional or named else PYTHON
    if name.startswith("numpy."):
        return ARRAY if any(value.sort in (ValueSort.TENSOR, ValueSort.ARRAY) for value in positional) else UNKNOWN
    if name.startswith(("math.", "time.", "os.", "random.")):
        return PYTHON
    return UNKNOWN


def of_tensor_method(
    method: str, positional: tuple[AbstractValue, ...], named: Mapping[str, AbstractValue], captures_scalars: bool
) -> AbstractValue:
    """What a method of a tensor returns."""
    if method in vocabulary.FACT_METHODS:
        return PYTHON
    if method == "size":
        return PYTHON if positional or named else sequence_of(PYTHON)
    if method == "item":
        return UNBACKED if captures_scalars else PYTHON
    if method == "tolist":
        return sequence_of(PYTHON)
    if method == "numpy":
        return ARRAY
    if method == "nonzero" and named:
        return sequence_of(TENSOR)
    return _of_operation(method, positional, named)


def _of_torch(name: str, positional: tuple[AbstractValue, ...], named: Mapping[str, AbstractValue]) -> AbstractValue:
    last = name.rpartition(".")[2]
    if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.Tensor", "torch.FloatTensor"):
        return TENSOR
    if vocabulary.is_module_class(name):
        return AbstractValue(ValueSort.MODULE, name=name)
    if last in ("equal", "allclose", "is_tensor", "is_floating_point", "numel", "is_complex", "is_nonzero"):
        if last == "is_tensor" and positional:
            return is_tensor(positional[0])
        return PYTHON
    if not vocabulary.returns_tensor(name):
        return UNKNOWN
    if last == "where" and len(positional) == 1 and not named:
        return sequence_of(TENSOR)
    if last == "nonzero" and "as_tuple" in named:
        return sequence_of(TENSOR)
    if last in ("unique", "unique_consecutive") and named.keys() & {"return_inverse", "return_counts"}:
        return sequence_of(TENSOR)
    return _of_operation(last, positional[1:], named)


def _of_operation(
    name: str, positional: tuple[AbstractValue, ...], named: Mapping[str, AbstractValue]
) -> AbstractValue:
    arguments = (*positional, *named.values())
    if name in vocabulary.SEQUENCE_METHODS:
        return sequence_of(TENSOR)
    if name in vocabulary.EXTREMES and arguments and not any(value.is_tensor for value in arguments):
        return sequence((TENSOR, TENSOR)) if not (positional and positional[0].sort is ValueSort.UNKNOWN) else TENSOR
    return TENSOR


def is_tensor(value: AbstractValue) -> AbstractValue:
    """What ``isinstance(value, torch.Tensor)`` is."""
    if value.is_tensor:
        return known(True)
    if value.sort is ValueSort.UNKNOWN:
        return PYTHON
    return known(False)


def _of_builtin(name: str, positional: tuple[AbstractValue, ...], captures_scalars: bool) -> AbstractValue:
    first = positional[0] if positional else UNKNOWN
    if name in _NUMBERS:
        return UNBACKED if captures_scalars and (first.is_tensor or first.sort is ValueSort.UNBACKED) else PYTHON
    if name == "isinstance" and len(positional) == 2 and positional[1].name == "torch.Tensor":
        return is_tensor(first)
    if name in _PYTHON_BUILTINS:
        return PYTHON
    if name == "range":
        return sequence_of(UNBACKED if any(value.sort is ValueSort.UNBACKED for value in positional) else PYTHON)
    if name in ("list", "tuple", "sorted", "reversed", "iter", "set"):
        if first.elements is not None and name in ("list", "tuple"):
            return first
        return sequence_of(element(first))
    if name == "enumerate":
        return sequence_of(sequence((PYTHON, element(first))))
    if name == "zip":
        return sequence_of(sequence(tuple(element(value) for value in positional)))
    if name in ("max", "min", "sum", "abs", "pow"):
        if len(positional) == 1 and name != "abs":
            return element(first)
        return TENSOR if any(value.is_tensor for value in positional) else join_all(positional)
    return UNKNOWN
