"""Names that libraries have removed and that mean the same elsewhere: what stands in for them in the agent, what to write in the server.

Data alone, with what shows it for each group: notes of a release, or the version that still had the name. A name counts only where the
installed version lacks it and has the other one, so no row has an effect on a program that finds what it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_CONTAINERS = (
    *("AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "ByteString", "Callable", "Collection"),
    *("Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator", "KeysView", "Mapping"),
    *("MappingView", "MutableMapping", "MutableSequence", "MutableSet", "Reversible", "Sequence", "Set", "Sized"),
    "ValuesView",
)
_WINDOWS = (
    *("barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin", "cosine", "exponential"),
    *("flattop", "gaussian", "general_gaussian", "hamming", "hann", "kaiser", "nuttall", "parzen", "triang", "tukey"),
)
_WITH_WEIGHTS = (
    *(
        "alexnet",
        "densenet",
        "googlenet",
        "inception",
        "mnasnet",
        "mobilenetv2",
        "mobilenetv3",
        "resnet",
        "shufflenetv2",
    ),
    *("squeezenet", "vgg"),
)
_OF_TORCH_SIX = {
    "string_classes": "(str, bytes)",
    "int_classes": "int",
    "inf": "torch.inf",
    "nan": "torch.nan",
    "container_abcs": "collections.abc",
    "PY2": "False",
    "PY3": "True",
    "PY37": "True",
    "FileNotFoundError": "FileNotFoundError",
}


@dataclass(frozen=True)
class Removal:
    """What one version has removed. ``names``: the old full name, and an expression of full names that means the same, or which to use.

    ``since`` is '' where several versions have, or it is not known which.
    """

    since: str
    source: str
    names: Mapping[str, str]


def _in(old: str, new: str, names: tuple[str, ...]) -> dict[str, str]:
    return {f"{old}.{name}": f"{new}.{name}" for name in names}


REMOVALS = (
    Removal(
        "Python 3.8",
        "docs.python.org/3/whatsnew/3.8.html#api-and-feature-removals",
        {"time.clock": "time.perf_counter", "cgi.escape": "html.escape"},
    ),
    Removal(
        "Python 3.9",
        "docs.python.org/3/whatsnew/3.9.html#removed",
        {
            "fractions.gcd": "math.gcd",
            "base64.encodestring": "base64.encodebytes",
            "base64.decodestring": "base64.decodebytes",
        },
    ),
    Removal(
        "Python 3.10",
        "docs.python.org/3/whatsnew/3.10.html#removed",
        _in("collections", "collections.abc", _CONTAINERS),
    ),
    Removal(
        "Python 3.11",
        "docs.python.org/3/whatsnew/3.11.html#removed",
        {"inspect.getargspec": "inspect.getfullargspec"},
    ),
    Removal(
        "Python 3.12",
        "docs.python.org/3/whatsnew/3.12.html#removed",
        {
            "imp.reload": "importlib.reload",
            "imp.new_module": "types.ModuleType",
            "configparser.SafeConfigParser": "configparser.ConfigParser",
            "locale.format": "locale.format_string",
        },
    ),
    Removal("Python 3.13", "docs.python.org/3/whatsnew/3.13.html#pep-594", {"pipes.quote": "shlex.quote"}),
    Removal(
        "NumPy 1.24",
        "numpy.org/doc/stable/release/1.24.0-notes.html#expired-deprecations",
        {f"numpy.{name}": name for name in ("bool", "complex", "float", "int", "object", "str")}
        | {"numpy.long": "int", "numpy.unicode": "str"},
    ),
    Removal(
        "NumPy 2.0",
        "numpy.org/doc/stable/numpy_2_0_migration_guide.html#main-namespace",
        {
            "numpy.Inf": "numpy.inf",
            "numpy.Infinity": "numpy.inf",
            "numpy.infty": "numpy.inf",
            "numpy.PINF": "numpy.inf",
            "numpy.NINF": "-numpy.inf",
            "numpy.NaN": "numpy.nan",
            "numpy.NAN": "numpy.nan",
            "numpy.float_": "numpy.float64",
            "numpy.complex_": "numpy.complex128",
            "numpy.cfloat": "numpy.complex128",
            "numpy.singlecomplex": "numpy.complex64",
            "numpy.longfloat": "numpy.longdouble",
            "numpy.string_": "numpy.bytes_",
            "numpy.unicode_": "numpy.str_",
            "numpy.round_": "numpy.round",
            "numpy.product": "numpy.prod",
            "numpy.cumproduct": "numpy.cumprod",
            "numpy.sometrue": "numpy.any",
            "numpy.alltrue": "numpy.all",
            "numpy.mat": "numpy.asmatrix",
            "numpy.issubclass_": "issubclass",
        },
    ),
    Removal(
        "",
        "numpy.org/doc/stable/release/2.0.0-notes.html#deprecations",
        {"numpy.trapz": "numpy.trapezoid", "numpy.row_stack": "numpy.vstack", "numpy.in1d": "numpy.isin"},
    ),
    Removal(
        "SciPy 1.9",
        "docs.scipy.org/doc/scipy/release/1.9.0-notes.html#expired-deprecations",
        {"scipy.linalg.pinv2": "scipy.linalg.pinv"},
    ),
    Removal(
        "SciPy 1.13",
        "docs.scipy.org/doc/scipy/release/1.13.0-notes.html#expired-deprecations",
        _in("scipy.signal", "scipy.signal.windows", _WINDOWS),
    ),
    Removal(
        "SciPy 1.14",
        "docs.scipy.org/doc/scipy/release/1.14.0-notes.html#expired-deprecations",
        {
            "scipy.integrate.simps": "scipy.integrate.simpson",
            "scipy.integrate.trapz": "scipy.integrate.trapezoid",
            "scipy.integrate.cumtrapz": "scipy.integrate.cumulative_trapezoid",
        },
    ),
    Removal(
        "",
        "docs.scipy.org/doc/scipy-1.2.0/reference/misc.html",
        _in("scipy.misc", "scipy.special", ("comb", "factorial", "logsumexp")),
    ),
    Removal(
        "PyTorch 1.8",
        "github.com/pytorch/pytorch/releases/tag/v1.8.0",
        {"torch.rfft": "torch.fft.rfft", "torch.irfft": "torch.fft.irfft"},
    ),
    # the functions are there, and raise
    Removal(
        "",
        "torch/_linalg_utils.py (2.13)",
        {
            "torch.eig": "torch.linalg.eig",
            "torch.symeig": "torch.linalg.eigh",
            "torch.solve": "torch.linalg.solve",
            "torch.matrix_rank": "torch.linalg.matrix_rank",
        },
    ),
    Removal(
        "PyTorch 2.0",
        "github.com/pytorch/pytorch/pull/94709",
        {f"torch._six.{name}": new for name, new in _OF_TORCH_SIX.items()},
    ),
    Removal(
        "",
        "github.com/pytorch/pytorch/tree/v1.7.0",
        {
            "torch.tensor.Tensor": "torch.Tensor",
            "torch._utils._accumulate": "itertools.accumulate",
            "torch.nn.modules.linear._LinearWithBias": "torch.nn.modules.linear.NonDynamicallyQuantizableLinear",
            "torch.utils.data.dataloader._DataLoaderIter": "torch.utils.data.dataloader._BaseDataLoaderIter",
            "torch.utils.data.dataloader.string_classes": "(str, bytes)",
            "torch.utils.data._utils.collate.string_classes": "(str, bytes)",
            "torch.utils.data._utils.collate.int_classes": "int",
            "torch.utils.data._utils.collate.container_abcs": "collections.abc",
            "torch.distributed.fsdp.wrap.default_auto_wrap_policy": "torch.distributed.fsdp.wrap.size_based_auto_wrap_policy",
            "torch.hub._download_url_to_file": "torch.hub.download_url_to_file",
            "torch.optim.optimizer.params_t": "torch.optim.optimizer.ParamsT",
        },
    ),
    Removal(
        "torchvision 0.13",
        "github.com/pytorch/vision/releases/tag/v0.13.0",
        {f"torchvision.models.{name}.model_urls": "torchvision.models.get_weight" for name in _WITH_WEIGHTS},
    ),
    Removal(
        "",
        "github.com/pytorch/vision/tree/v0.8.0",
        {"torchvision.models.utils.load_state_dict_from_url": "torch.hub.load_state_dict_from_url"}
        | {
            f"torchvision.models.{name}.load_state_dict_from_url": "torch.hub.load_state_dict_from_url"
            for name in _WITH_WEIGHTS
        }
        | _in("torchvision.ops.misc", "torch.nn", ("Conv2d", "ConvTranspose2d", "BatchNorm2d"))
        | {
            "torchvision.ops.misc.interpolate": "torch.nn.functional.interpolate",
            "torchvision.transforms.Scale": "torchvision.transforms.Resize",
            "torchvision.transforms.RandomSizedCrop": "torchvision.transforms.RandomResizedCrop",
        },
    ),
    Removal(
        "Pillow 10.0",
        "pillow.readthedocs.io/en/stable/releasenotes/10.0.0.html#constants",
        {
            "PIL.Image.ANTIALIAS": "PIL.Image.LANCZOS",
            "PIL.Image.LINEAR": "PIL.Image.BILINEAR",
            "PIL.Image.CUBIC": "PIL.Image.BICUBIC",
        },
    ),
    Removal(
        "",
        "github.com/huggingface/transformers/tree/v4.20.0",
        _in(
            "transformers.modeling_utils",
            "transformers.pytorch_utils",
            ("apply_chunking_to_forward", "prune_conv1d_layer", "prune_linear_layer", "Conv1D"),
        ),
    ),
    Removal(
        "",
        "scikit-image.org/docs/stable/release_notes/release_0.18.html",
        {
            "skimage.measure.compare_mse": "skimage.metrics.mean_squared_error",
            "skimage.measure.compare_psnr": "skimage.metrics.peak_signal_noise_ratio",
        },
    ),
    Removal(
        "",
        "pytorch-geometric.readthedocs.io/en/2.0.0/modules/loader.html",
        _in("torch_geometric.data", "torch_geometric.loader", ("DataLoader", "DataListLoader", "NeighborSampler")),
    ),
    Removal(
        "",
        "lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html",
        {"pytorch_lightning.utilities.distributed.rank_zero_only": "pytorch_lightning.utilities.rank_zero_only"},
    ),
    Removal(
        "",
        "setuptools.pypa.io/en/latest/pkg_resources.html",
        {
            "pkg_resources.get_distribution": "importlib.metadata.distribution",
            "pkg_resources.DistributionNotFound": "importlib.metadata.PackageNotFoundError",
            "pkg_resources.parse_version": "packaging.version.parse",
        },
    ),
)

# modules that have another name now, with all that is in them
_MODULES = (
    (re.compile(r"torchvision\.transforms\.(functional_(?:tensor|pil))$"), r"torchvision.transforms._\1"),
    (
        re.compile(r"transformers\.((?:configuration|modeling|tokenization)_([a-z0-9]+))$"),
        r"transformers.models.\2.\1",
    ),
    (re.compile(r"transformers\.file_utils$"), "transformers.utils"),
    (re.compile(r"transformers\.generation_utils$"), "transformers.generation"),
    (re.compile(r"transformers\.generation_(logits_process|stopping_criteria)$"), r"transformers.generation.\1"),
    (re.compile(r"pytorch_lightning\.metrics\b"), "torchmetrics"),
    (re.compile(r"pytorch_lightning\.utilities\.cli$"), "pytorch_lightning.cli"),
    (re.compile(r"sklearn\.externals\.joblib$"), "joblib"),
    (re.compile(r"sklearn\.cross_validation$"), "sklearn.model_selection"),
)
_BY_NAME = {old: (new, removal.since) for removal in REMOVALS for old, new in removal.names.items()}


def replacement(name: str) -> tuple[str, str]:
    """What means the same as the full name ``name``, which is not there, and since when it is not; '' for what is not known."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    module, _, last = name.rpartition(".")
    renamed = module_replacement(module)
    return (f"{renamed}.{last}", "") if renamed else ("", "")


def module_replacement(name: str) -> str:
    """The module that was called ``name`` before; '' where none was."""
    return next((pattern.sub(new, name) for pattern, new in _MODULES if pattern.match(name)), "")


def names_in(module: str) -> tuple[str, ...]:
    """The names that ``module`` had and that mean the same elsewhere."""
    return tuple(name.rpartition(".")[2] for name in _BY_NAME if name.rpartition(".")[0] == module)
