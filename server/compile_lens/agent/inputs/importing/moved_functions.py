"""What stands in for names that were removed, where the function that took their place has other parameters or results.

They are plain functions of torch's own, so that a compiler traces through them.
"""

from __future__ import annotations

import collections
import importlib
from collections.abc import Callable
from enum import EnumMeta
from typing import Any

_OfEigenvalues = collections.namedtuple("_OfEigenvalues", ("eigenvalues", "eigenvectors"))
_OfSolution = collections.namedtuple("_OfSolution", ("solution", "LU"))
_ArgSpec = collections.namedtuple("_ArgSpec", ("args", "varargs", "keywords", "defaults"))


def made(name: str) -> Any:
    """What stands in for ``name``; None where nothing has to be made for it. Raises what the library raises."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    module, _, last = name.rpartition(".")
    return _model_urls(module) if last == "model_urls" else None


def _getargspec(function: Any) -> Any:
    import inspect

    return _ArgSpec(*inspect.getfullargspec(function)[:4])


def _in1d(one: Any, two: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    numpy: Any = importlib.import_module("numpy")
    return numpy.isin(numpy.ravel(one), two, assume_unique=assume_unique, invert=invert)


def _simps(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, even: Any = None) -> Any:
    return importlib.import_module("scipy.integrate").simpson(y, x=x, dx=dx, axis=axis)


def _eig(input: Any, eigenvectors: bool = False) -> Any:
    """As in torch 1.8: complex numbers are pairs of real ones, and two conjugate vectors are real and imaginary part of one."""
    import torch

    values, vectors = torch.linalg.eig(input)
    packed = torch.where(values.imag < 0, -vectors.imag, vectors.real) if eigenvectors else input.new_empty(0)
    return _OfEigenvalues(torch.view_as_real(values), packed)


def _symeig(input: Any, eigenvectors: bool = False, upper: bool = True) -> Any:
    import torch

    side = "U" if upper else "L"
    if eigenvectors:
        return _OfEigenvalues(*torch.linalg.eigh(input, UPLO=side))
    return _OfEigenvalues(torch.linalg.eigvalsh(input, UPLO=side), input.new_empty(0))


def _solve(input: Any, A: Any) -> Any:  # noqa: N803 - its name in torch 1.8
    import torch

    return _OfSolution(torch.linalg.solve(A, input), torch.linalg.lu_factor(A)[0])


def _matrix_rank(input: Any, tol: Any = None, symmetric: bool = False) -> Any:
    import torch

    if tol is None:
        return torch.linalg.matrix_rank(input, hermitian=symmetric)
    return torch.linalg.matrix_rank(input, tol, hermitian=symmetric)


def _rfft(input: Any, signal_ndim: int, normalized: bool = False, onesided: bool = True) -> Any:
    import torch

    transform = torch.fft.rfftn if onesided else torch.fft.fftn
    dimensions = tuple(range(-signal_ndim, 0))
    return torch.view_as_real(transform(input, dim=dimensions, norm="ortho" if normalized else "backward"))


def _irfft(
    input: Any, signal_ndim: int, normalized: bool = False, onesided: bool = True, signal_sizes: Any = None
) -> Any:
    import torch

    numbers, norm = torch.view_as_complex(input.contiguous()), "ortho" if normalized else "backward"
    dimensions = tuple(range(-signal_ndim, 0))
    if not onesided:
        return torch.fft.ifftn(numbers, dim=dimensions, norm=norm).real
    return torch.fft.irfftn(numbers, s=signal_sizes or None, dim=dimensions, norm=norm)


def _model_urls(module: str) -> dict[str, str]:
    """The addresses of the weights that each function of a module of torchvision's has, by its name: the first that were published."""
    found = {}
    for name, each in vars(importlib.import_module(module)).items():
        weights: list[Any] = list(each) if isinstance(each, EnumMeta) and name.endswith("_Weights") else []
        if weights:
            found[name.removesuffix("_Weights").lower()] = str(weights[0].url)
    return found


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inspect.getargspec": _getargspec,
    "numpy.in1d": _in1d,
    "scipy.integrate.simps": _simps,
    "torch.eig": _eig,
    "torch.symeig": _symeig,
    "torch.solve": _solve,
    "torch.matrix_rank": _matrix_rank,
    "torch.rfft": _rfft,
    "torch.irfft": _irfft,
}
