"""Which names of torch return tensors, and which return facts about a tensor (torch 2.13)."""

from __future__ import annotations

from compile_lens.late_pattern import pattern

# attributes and methods of a tensor that are Python values while Dynamo traces
FACTS = frozenset(
    [
        "shape", "dtype", "device", "ndim", "layout", "is_cuda", "is_cpu", "is_mps", "is_xpu", "is_meta", "is_sparse",
        "is_quantized", "is_nested", "is_leaf", "requires_grad", "itemsize", "nbytes", "names", "output_nr",
    ]
)  # fmt: skip
FACT_METHODS = frozenset(
    [
        "dim", "numel", "nelement", "ndimension", "element_size", "stride", "get_device", "is_floating_point",
        "is_complex", "is_contiguous", "is_inference", "is_pinned", "is_shared", "is_signed", "is_same_size",
        "data_ptr", "storage_offset", "type", "has_names",
    ]
)  # fmt: skip
TENSOR_ATTRIBUTES = frozenset(["T", "mT", "H", "mH", "data", "real", "imag"])
SEQUENCE_ATTRIBUTES = frozenset(["values", "indices", "eigenvalues", "eigenvectors"])

SEQUENCE_METHODS = frozenset(
    [
        "split", "chunk", "unbind", "topk", "sort", "tensor_split", "hsplit", "vsplit", "dsplit", "split_with_sizes",
        "unsafe_chunk", "unsafe_split", "kthvalue", "mode", "cummax", "cummin", "aminmax", "frexp", "slogdet", "qr",
        "svd", "meshgrid", "broadcast_tensors", "max_pool2d_with_indices", "align_tensors", "var_mean", "std_mean",
        "atleast_1d_list", "lu", "eigh",
    ]
)  # fmt: skip
# with a dimension these return values and indices
EXTREMES = frozenset({"max", "min", "median", "nanmedian"})
# a value of unknown origin that has one of these called is a tensor (or an array, which Dynamo traces as one)
EVIDENT_METHODS = frozenset(
    [
        "item", "bool", "tolist", "nonzero", "any", "all", "sum", "mean", "max", "min", "argmax", "argmin", "norm", "abs",
        "unique", "masked_select", "masked_fill", "unsqueeze", "squeeze", "permute", "transpose", "view", "reshape",
        "expand", "softmax", "log_softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt", "pow", "clamp", "cumsum",
        "matmul", "bmm", "mm", "isnan", "isinf", "isfinite", "numel", "dim", "ne", "eq", "gt", "lt", "ge", "le", "std",
        "var", "prod", "flatten", "contiguous", "expand_as", "view_as", "type_as", "masked_scatter", "index_select",
        "gather", "scatter", "scatter_add", "repeat_interleave", "new_zeros", "new_ones", "new_full", "new_tensor",
        "detach", "long", "cumprod", "argsort", "topk", "amax", "amin",
    ]
)  # fmt: skip
EVIDENT_ATTRIBUTES = EVIDENT_METHODS | frozenset({"shape", "dtype", "ndim", "size", "mT"})

_NOT_TENSORS = frozenset(
    [
        "device", "dtype", "Size", "Generator", "finfo", "iinfo", "numel", "compile", "no_grad", "enable_grad",
        "inference_mode", "set_grad_enabled", "autocast", "manual_seed", "seed", "initial_seed", "save", "load",
        "typename", "overrides", "equal", "allclose", "promote_types", "result_type", "memory_format", "stream", "vmap",
        "cond", "broadcast_shapes", "jit", "compiler", "cuda", "backends", "distributed",
    ]
)  # fmt: skip
_NOT_TENSOR_PREFIX = pattern(r"(is|set|get|use|can|are)_")
_FUNCTIONAL = ("torch.nn.functional.", "torch.fft.", "torch.linalg.", "torch.special.", "torch._C._nn.")
_SEVERAL_RESULTS = frozenset(
    {"torch.nn.functional.multi_head_attention_forward", "torch.linalg.svd", "torch.linalg.qr"}
)
_MODULE_SEQUENCES = frozenset({"LSTM", "GRU", "RNN", "MultiheadAttention", "LSTMCell"})
_TENSOR_TYPE = r"(?:torch\.)?(?:Float|Long|Int|Bool|Half|Double|Byte|BFloat16)?Tensor"
_TENSOR = pattern(rf"(?:Optional\[{_TENSOR_TYPE}\]|{_TENSOR_TYPE})(?:\|None)?")
_SHAPED_TENSOR = pattern(r"(?:\w+\.)?(?:Float|Int|Bool|Shaped|Num|Complex)\[(?:torch\.)?Tensor,.*\]")
_PYTHON_TYPE = r"(?:int|float|bool|str|bytes|None|torch\.(?:dtype|device|Size|layout))"
_PYTHON = pattern(
    rf"(?:Optional\[)?(?:Union\[)?(?:[lL]ist\[|[tT]uple\[)?{_PYTHON_TYPE}(?:[,|](?:{_PYTHON_TYPE}|\.\.\.))*\]*(?:\|None)?"
)
_TENSORS = pattern(
    rf"(?:Optional\[)?(?:[lL]ist|[tT]uple|Sequence)\[{_TENSOR_TYPE}(?:,(?:{_TENSOR_TYPE}|\.\.\.))*\]\]?(?:\|None)?"
)


def returns_tensor(full_name: str) -> bool:
    """Whether a function of torch returns a tensor."""
    if full_name in _SEVERAL_RESULTS:
        return False
    if full_name.startswith(_FUNCTIONAL):
        return True
    owner, _, name = full_name.rpartition(".")
    return owner == "torch" and name.islower() and name not in _NOT_TENSORS and not _NOT_TENSOR_PREFIX.match(name)


def is_module_class(full_name: str) -> bool:
    """Whether a name is a class of ``torch.nn`` that computes."""
    owner, _, name = full_name.rpartition(".")
    return (
        owner in ("torch.nn", "torch.nn.modules")
        and name[:1].isupper()
        and name not in ("Module", "Parameter", "Buffer")
    )


def returns_several(module_class: str) -> bool:
    """Whether calling a module of torch returns a tuple."""
    return module_class.rpartition(".")[2] in _MODULE_SEQUENCES


def is_tensor_annotation(text: str) -> bool:
    text = _plain(text)
    return bool(_TENSOR.fullmatch(text) or _SHAPED_TENSOR.fullmatch(text))


def is_python_annotation(text: str) -> bool:
    return bool(_PYTHON.fullmatch(_plain(text)))


def is_tensors_annotation(text: str) -> bool:
    """Whether it annotates a list or tuple of tensors."""
    return bool(_TENSORS.fullmatch(_plain(text)))


def _plain(text: str) -> str:
    return "".join(text.split()).strip("\"'").removeprefix("typing.")
