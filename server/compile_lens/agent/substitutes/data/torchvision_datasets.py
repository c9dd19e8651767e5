"""Substitutes missing data sets of torchvision for classification: random images of the right size, and labels."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from ...instrument.in_place import call_after_failure
from ...runtime.missing_requirement import is_not_found
from ..weights.lookups import Lookups, reason
from .lengths import made_up_length
from .splits import remember

DATASET = "dataset"
# size, channels and classes by class; subclasses count as their base
KNOWN = {
    "MNIST": (28, 1, 10),
    "CIFAR10": (32, 3, 10),
    "CIFAR100": (32, 3, 100),
    "SVHN": (32, 3, 10),
    "STL10": (96, 3, 10),
    "ImageNet": (256, 3, 1000),
    "ImageFolder": (256, 3, 2),
    "Flowers102": (256, 3, 102),
    "Food101": (256, 3, 101),
    "OxfordIIITPet": (256, 3, 37),
    "StanfordCars": (256, 3, 196),
    "FGVCAircraft": (256, 3, 100),
    "GTSRB": (64, 3, 43),
    "DTD": (256, 3, 47),
    "EuroSAT": (64, 3, 10),
    "Caltech101": (256, 3, 101),
    "Caltech256": (256, 3, 257),
    "Country211": (256, 3, 211),
    "PCAM": (96, 3, 2),
    "SUN397": (256, 3, 397),
    "FER2013": (48, 1, 7),
    "USPS": (16, 1, 10),
    "SEMEION": (16, 1, 10),
    "Places365": (256, 3, 365),
}
ROWS, CHANNELS_FIRST = ("CIFAR10",), ("SVHN", "STL10")
# how many images the real sets have, for training and for testing
LENGTHS = {
    "MNIST": (60_000, 10_000),
    "FashionMNIST": (60_000, 10_000),
    "KMNIST": (60_000, 10_000),
    "CIFAR10": (50_000, 10_000),
    "CIFAR100": (50_000, 10_000),
    "SVHN": (73_257, 26_032),
    "STL10": (5_000, 8_000),
}
DOWNLOAD_FAILED = "Error downloading"


class TorchvisionDatasets:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {"torchvision.datasets": self._change}

    def _change(self, module: Any) -> None:
        for name in KNOWN:
            cls = getattr(module, name, None)
            if isinstance(cls, type) and "__init__" in vars(cls):
                call_after_failure(vars(cls)["__init__"], partial(self._failed, module))

    def _failed(self, module: Any, error: Exception, dataset: Any, /, *args: Any, **named: Any) -> tuple[None] | None:
        is_missing = is_not_found(error) or str(error).startswith(DOWNLOAD_FAILED) or "found or corrupted" in str(error)
        if not is_missing or not self._lookups.may_substitute(error):
            return None
        cls = type(dataset)
        known = next(base.__name__ for base in cls.__mro__ if base.__name__ in KNOWN)
        given = _arguments(cls, dataset, args, named)
        stack = self._lookups.stack(sys._getframe(1))
        count = made_up_length(stack, _real_length(cls.__name__, given))
        _fill(module, dataset, known, given, count)
        remember(dataset)
        size, channels, classes = KNOWN[known]
        note = {
            "what": DATASET,
            "name": f"{cls.__name__} in {given.get('root', '')}",
            "made": f"{count} random images of {size}×{size}×{channels} in {classes} classes",
            "why": reason(error) or str(error).partition("\n")[0],
            "stack": stack,
        }
        self._lookups.write(note)
        return (None,)


def _real_length(name: str, given: dict[str, Any]) -> int | None:
    lengths = LENGTHS.get(name)
    is_training = given.get("train", given.get("split", "train") == "train")
    return None if lengths is None else lengths[0 if is_training else 1]


def _arguments(cls: Any, dataset: Any, args: Any, named: Any) -> dict[str, Any]:
    """What the constructor was given, by name."""
    try:
        bound = inspect.signature(cls.__init__).bind(dataset, *args, **named)
    except TypeError:  # a subclass passes on something else
        return dict(named)
    bound.apply_defaults()
    return {**bound.arguments, **bound.arguments.get("kwargs", {})}


def _fill(module: Any, dataset: Any, known: str, given: dict[str, Any], count: int) -> None:
    """Give ``dataset`` the attributes that its class has, and images for what it would read from files."""
    import torch

    numpy = sys.modules["numpy"]

    size, channels, classes = KNOWN[known]
    module.VisionDataset.__init__(
        dataset,
        given.get("root", ""),
        transform=given.get("transform"),
        target_transform=given.get("target_transform"),
    )
    dataset.train = given.get("train", True)
    dataset.split = given.get("split", "train")
    targets = [index % classes for index in range(count)]
    dataset.classes = list(getattr(dataset, "classes", None) or (f"class {index}" for index in range(classes)))
    if not isinstance(getattr(type(dataset), "class_to_idx", None), property):
        dataset.class_to_idx = {name: index for index, name in enumerate(dataset.classes[:classes])}
    generator = numpy.random.default_rng(0)
    if known == "MNIST":
        dataset.data = torch.from_numpy(generator.integers(0, 256, (count, size, size), dtype=numpy.uint8))
        dataset.targets = torch.tensor(targets)
        return
    if any(base.__name__ in ROWS for base in type(dataset).__mro__):
        dataset.data = generator.integers(0, 256, (count, size, size, channels), dtype=numpy.uint8)
        dataset.targets = targets
        return
    if known in CHANNELS_FIRST:
        dataset.data = generator.integers(0, 256, (count, channels, size, size), dtype=numpy.uint8)
        dataset.labels = numpy.array(targets)
        return
    dataset.targets = targets
    dataset.samples = dataset.imgs = [(f"image {index}", target) for index, target in enumerate(targets)]
    _read_from_memory(dataset, size, channels)


def _read_from_memory(dataset: Any, size: int, channels: int) -> None:
    """Make ``dataset`` one of a subclass whose items are random images."""
    numpy = sys.modules["numpy"]

    pixels = numpy.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=numpy.uint8)
    image = importlib.import_module("PIL.Image").fromarray(pixels).convert("RGB" if channels == 3 else "L")

    def item(self: Any, index: int) -> Any:
        if not -len(self.targets) <= index < len(self.targets):
            raise IndexError(index)
        made, target = image.copy(), self.targets[index]
        return self.transforms(made, target) if self.transforms is not None else (made, target)

    cls = type(dataset)
    changed = {"__getitem__": item, "__len__": lambda self: len(self.targets), "__module__": cls.__module__}
    dataset.__class__ = type(cls.__name__, (cls,), changed)
