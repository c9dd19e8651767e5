# A repro for torch.compile: relu gives wrong numbers
#
# criterion: differs
# kind: source
# from: a bug planted with torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY
# run: python relu_accuracy.py
#    exit code 0: good, 1: the problem occurs, 125: cannot be judged
# bisect: compile-lens bisect relu_accuracy.py
# minify: compile-lens minify relu_accuracy.py
# logs: TORCH_LOGS="+inductor,output_code" python relu_accuracy.py
import contextlib
import os
import sys
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.config

# ---------------------------------------------------------------- what is compiled

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"


def fn(x):
    return torch.relu(x.sin()).sum()


COMPILE_OPTIONS = {}
BACKWARD = False


def make_target():
    return fn


def make_calls():
    torch.manual_seed(0)
    return [((torch.randn(64, 64),), {})]


# ---------------------------------------------------------------- how it is judged

GOOD, BAD, CANNOT_JUDGE = 0, 1, 125


def main():
    torch._dynamo.reset()
    backend = os.environ.get("TORCH_COMPILE_BACKEND", "inductor")
    with fresh_cache():
        code, sentence = judge(backend)
    print(f"{ {GOOD: 'good', BAD: 'BAD', CANNOT_JUDGE: 'cannot be judged'}[code] } with backend {backend}: {sentence}")
    return code


def judge(backend):
    try:
        expected = run(make_target(), make_calls())
    except Exception as error:
        return CANNOT_JUDGE, f"eager itself fails with {type(error).__name__}: {error}"
    with contextlib.suppress(Exception):  # no float64 reference then; torch compares with eager alone
        exact = run(in_float64(make_target()), in_float64(make_calls()))
        expected = [(name, value, exact_value) for (name, value), (_, exact_value) in zip(expected, exact, strict=True)]
    try:
        actual = run(torch.compile(make_target(), backend=backend, **COMPILE_OPTIONS), make_calls())
    except Exception as error:
        return CANNOT_JUDGE, f"another problem: the compiled run raises {type(error).__name__}: {error}"
    return compare(expected, actual)


def compare(expected, actual):
    """By torch's own rules (torch._dynamo.utils.same): close to eager, or no further from float64 than eager is."""
    from torch._dynamo.utils import same

    if len(expected) != len(actual):
        return BAD, f"eager has {len(expected)} results, compiled {len(actual)}"
    wrong = []
    for (name, value, *exact), (_, other) in zip(expected, actual, strict=True):
        tolerance = torch._dynamo.config.repro_tolerance
        if not same(
            value, other, exact[0] if exact else None, tol=tolerance, equal_nan=True, log_error=lambda *_: None
        ):
            largest = (value.double() - other.double()).abs().max().item() if value.shape == other.shape else "shapes"
            wrong.append(f"{name} (largest difference {largest:.3g})" if largest != "shapes" else f"{name} (its shape)")
    return (
        (BAD, f"compiled differs from eager in {', '.join(wrong)}") if wrong else (GOOD, "compiled agrees with eager")
    )


def run(target, calls):
    """The results of all calls as (name, tensor): outputs, and gradients if the code that this was made from asked for them."""
    results = []
    for number, (args, kwargs) in enumerate(calls):
        torch.manual_seed(0)
        outputs = tensors(target(*args, **kwargs), f"output of call {number + 1}")
        results += [(name, tensor.detach().clone()) for name, tensor in outputs]
        if BACKWARD:
            sum(tensor.sum() for _, tensor in outputs if tensor.requires_grad).backward()
            inputs = tensors((args, kwargs), f"gradient of call {number + 1}, input")
            results += [(name, tensor.grad) for name, tensor in inputs if tensor.grad is not None]
    return results


def tensors(value, name):
    leaves = torch.utils._pytree.tree_leaves(value)
    return [(f"{name}[{n}]", leaf) for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]


def in_float64(value):
    if isinstance(value, torch.nn.Module):
        return value.double()
    if isinstance(value, list):
        to_double = lambda t: t.double() if isinstance(t, torch.Tensor) and t.is_floating_point() else t  # noqa: E731
        return torch.utils._pytree.tree_map(to_double, value)
    return value


@contextlib.contextmanager
def fresh_cache():
    """Private caches, removed at the end; but torch's bisector has its state in the cache directory, which is kept while it works."""
    from torch._inductor import utils

    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if folder is None:
        try:
            from torch._inductor.runtime.cache_dir_utils import default_cache_dir
        except ImportError:
            from torch._inductor.runtime.runtime_utils import default_cache_dir
        folder = default_cache_dir()
    bisecting = any(name.startswith("TORCH_BISECT_") for name in os.environ)
    if bisecting or "TORCH_REPRO_KEEP_CACHE" in os.environ or Path(folder, "bisect", "bisect_status.txt").exists():
        yield
        return
    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache
    with fresh():
        yield


if __name__ == "__main__":
    sys.exit(main())
