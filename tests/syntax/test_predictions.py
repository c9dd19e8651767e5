"""Constructs that are predicted to break, and those that only look like it. What torch 2.13 does with each was tried out."""

from __future__ import annotations

from textwrap import dedent

import pytest

from compile_lens.syntax.predictions import registry
from compile_lens.syntax.predictions.predict import predict
from fixture_notation import Expected, difference, read

HEADER = """\
import copy, json, logging, math, os, random, sys, time, warnings
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)
"""


def check(source: str) -> None:
    """The predictions for an annotated program are those written under its lines."""
    program = read(HEADER + dedent(source))
    found = tuple(
        sorted(
            Expected(p.place.line, p.place.column, p.place.end_line, p.place.end_column, p.code)
            for p in predict("\n".join(program.lines))
        )
    )
    assert found == program.expected, "\n" + difference(program.lines, program.expected, found)


def body(lines: str, parameters: str = "x: torch.Tensor, n: int = 3") -> str:
    """A compiled function with these lines, which may hold expectations."""
    indented = "\n".join(
        f"#{line[1:].replace('^', '    ^', 1)}" if line.startswith("#") else f"    {line}"
        for line in dedent(lines).strip("\n").split("\n")
    )
    return f"@torch.compile\ndef f({parameters}):\n{indented}\n    return x\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("print(x.shape)", "GB0059"),
        ("logger.info('a')", "GB0291"),
        ("logging.info('a')", "GB4841"),
        ("warnings.warn('a')", "GB0007"),
        ("sys.stdout.write('a')", "GB0156"),
        ("x.sum().item()", "GB0124"),
        ("x.tolist()", "GB0109"),
        ("int(x[0])", "GB0124"),
        ("bool(x.any())", "GB0124"),
        ("breakpoint()", "GB0059"),
        ("open('a')", "GB0059"),
        ("time.perf_counter()", "GB0007"),
        ("random.random()", "GB0007"),
        ("os.path.exists('a')", "GB0007"),
        ("json.dumps({})", "GB0156"),
        ("np.random.default_rng(0)", "GB0294"),
        ("torch.nonzero(x)", "GB0036"),
        ("x.nonzero()", "GB0036"),
        ("torch.unique(x)", "GB0036"),
        ("torch.where(x > 0)", "GB0036"),
        ("F.one_hot(x)", "GB0246"),
        ("torch.allclose(x, x)", "GB0033"),
        ("x.backward()", "GB0123"),
        ("torch._dynamo.graph_break()", "GB0025"),
        ("torch.autograd.grad(x.sum(), x)", "GB9186"),
    ],
)
def test_one_construct(line: str, code: str) -> None:
    (prediction,) = predict(HEADER + body(line))
    assert prediction.code == code
    assert code in registry.BY_NAME[prediction.rule].codes
    assert prediction.function == "f"


@pytest.mark.parametrize(
    "line",
    [
        "n = x.shape[0]\nif n > 3: x = x + 1",
        "if x.size(0) > 1 and x.dim() == 2 and len(x) > 2: x = x + 1",
        "if x is None: x = 1",
        "if isinstance(n, int): x = x + 1",
        "if x.dtype == torch.float16: x = x.float()",
        "if x.device.type == 'cuda': x = x.cpu()",
        "assert x.sum() > 0",
        "assert (x > 0).all(), 'all of it'",
        "assert x.dim() == 2, f'{x.shape}'",
        "y = torch.where(x > 0, x, 0)",
        "x[x > 0] = 1.0",
        "y = x.numpy()",
        "y = random.randint(0, 3)",
        "y = os.environ.get('A')",
        "y = os.path.join('a', 'b')",
        "y = F.one_hot(x, 5)",
        "y = x.repeat_interleave(2)",
        "for row in x: y = row + 1",
        "y = int(x.shape[0])",
        "y = math.sqrt(n)",
        "y = copy.deepcopy([1, 2])",
        "if False: print(x)",
        "raise ValueError(f'{x.sum().item()}')",
        "try:\n    y = x + 1\nexcept ValueError:\n    print(x)",
    ],
)
def test_no_break(line: str) -> None:
    assert predict(HEADER + body(line)) == ()


def test_every_part_of_a_condition_that_python_must_know() -> None:
    check(
        """
        @torch.compile
        def f(x: torch.Tensor, flag: bool):
            if flag and x.sum() > 0:
        #               ^^^^^^^^^^^ GB0170
                x = x - 1
            elif not x.any():
        #            ^^^^^^^ GB0170
                x = x + 1
            while x.max() > 1:
        #         ^^^^^^^^^^^ GB0170
                x = x / 2
            assert x.min() > 0, "negative"
            return x if x.mean() < 1 else -x
        #               ^^^^^^^^^^^^ GB0170
        """
    )


def test_what_holds_a_tensor_is_followed_through_names() -> None:
    check(
        """
        @torch.compile
        def f(x: torch.Tensor, other=None, count=0):
            values, indices = x.max(dim=-1)
            found = values > 0
            if found.all():
        #      ^^^^^^^^^^^ GB0170
                count += 1
            if count > 3 or other is None:
                return x
            rows = [row.sum() for row in x.split(1)]
            total = sum(rows)
            if total > 1:
        #      ^^^^^^^^^ GB0170
                return x
            return x
        """
    )


def test_a_method_on_a_line_of_its_own() -> None:
    check(
        """
        @torch.compile
        def f(x: torch.Tensor):
            return (
                x.sum()
                .item()
        #        ^^^^^^ GB0124
            )
        """
    )


@pytest.mark.parametrize(
    "source", ["", "def", "@torch.compile\ndef f(", "import torch\n@torch.compile\ndef f(x:\n  if x", "\0"]
)
def test_broken_code_gives_no_error(source: str) -> None:
    assert predict(HEADER + source) == ()
