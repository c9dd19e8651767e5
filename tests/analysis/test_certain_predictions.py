"""Rules that are on because what is called decides alone: torch breaks at each of their names, with the code that is predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.syntax.predictions import registry, untraced_calls
from compile_lens.syntax.predictions.predict import predict
from warm_host import WarmHost

HEAD = """\
import copy, datetime, gc, hashlib, inspect, io, json, logging, os, pdb, pickle, random, subprocess, sys, threading, time, uuid
import warnings
import numpy
import torch
import torch.nn.functional as F

os.environ["PYTHONBREAKPOINT"] = "0"
pdb.set_trace = lambda: None
sys.stdin = io.StringIO("")
logger = logging.getLogger(__name__)


@torch.compiler.disable
def disabled(x):
    return x
"""
# what a name is called with, where that is not nothing
ARGUMENTS = {
    "builtins.open": "os.devnull",
    "builtins.exec": "'1'",
    "builtins.compile": "'1', 'a', 'eval'",
    "time.sleep": "0",
    "time.strftime": "'%Y'",
    "random.choice": "[1, 2]",
    "random.choices": "[1, 2]",
    "random.shuffle": "[1, 2]",
    "random.sample": "[1, 2], 1",
    "random.gauss": "0, 1",
    "random.seed": "0",
    "os.listdir": "'.'",
    "os.stat": "'.'",
    "os.remove": "'no such file'",
    "os.makedirs": "'.', exist_ok=True",
    "os.mkdir": "'.'",
    "os.path.exists": "'.'",
    "os.path.isfile": "'.'",
    "os.path.isdir": "'.'",
    "os.environ.setdefault": "'COMPILE_LENS_TEST', '1'",
    "torch.save": "x, os.devnull",
    "torch.load": "os.devnull",
    "subprocess.run": "['true']",
    "subprocess.Popen": "['true']",
    "subprocess.check_output": "['true']",
    "pickle.dumps": "1",
    "pickle.loads": "pickled",
    "sys.getsizeof": "1",
    "sys.getrefcount": "1",
    "torch.jit.script": "disabled",
    "torch.set_num_threads": "1",
    "torch.nn.utils.rnn.pack_padded_sequence": "x[None], [3], batch_first=True",
    "json.dumps": "{}",
    "json.loads": "'1'",
    "numpy.random.permutation": "3",
    "numpy.random.beta": "1, 1",
    "numpy.random.binomial": "1, 0.5",
    "numpy.random.gamma": "1",
    "numpy.random.dirichlet": "[1, 1]",
    "numpy.random.multinomial": "1, [1]",
}
STATEMENTS = [
    "print(1)",
    "breakpoint()",
    "numpy.random.choice(3)",
    "logger.info('a')",
    "logger.warning('a')",
    "logging.info('a')",
    "logging.error('a')",
    "warnings.warn('a')",
    "sys.stdout.write('')",
    "sys.stderr.flush()",
    "torch.manual_seed(0)",
    "torch.Generator()",
    "torch.autograd.grad(x.sum(), x, allow_unused=True)",
    "torch._dynamo.graph_break()",
    "disabled(x)",
    "torch.equal(x, x)",
    "torch.allclose(x, x)",
    "torch.is_nonzero(x.sum())",
    "F.one_hot(x.long())",
    "x.sum().backward()",
]
# what is no break by itself where it is called, only where it is entered
ENTERED = (
    "threading.Lock",
    "threading.RLock",
    "torch.random.fork_rng",
    "torch.autograd.set_detect_anomaly",
    "io.StringIO",
)
NOT_HERE = ("ipdb.set_trace",)  # a package that is not installed


def program() -> str:
    """One compiled function for each name."""
    statements = list(STATEMENTS)
    for name in sorted(untraced_calls.NAMES):
        call = f"{name.removeprefix('builtins.')}({ARGUMENTS.get(name, '')})"
        if name in ENTERED:
            argument = "True" if name.endswith("anomaly") else ""
            statements.append(f"with {name}({argument}): x = x + 1")
        elif name not in NOT_HERE and name not in ("pdb.set_trace", "pdb.breakpoint"):
            statements.append(call)
    functions = [
        f"@torch.compile(backend='eager')\ndef f{number}(x):\n    pickled = b'I1\\n.'\n    x = x + 1\n    {statement}\n    return x\n"
        for number, statement in enumerate(statements)
    ]
    calls = f"for f in [{', '.join(f'f{number}' for number in range(len(statements)))}]:\n"
    calls += "    try:\n        f(torch.ones(3, requires_grad=True))\n    except BaseException as error:\n        print(type(error))\n"
    return "\n\n".join([HEAD, *functions, calls])


@pytest.mark.nightly
def test_torch_breaks_at_every_name(warm_host: WarmHost, tmp_path: Path) -> None:
    file = tmp_path / "certain.py"
    file.write_text(program())
    certain = frozenset(rule.name for rule in registry.RULES if rule.is_certain)
    predictions = predict(program(), certain)
    assert {prediction.rule for prediction in predictions} == certain
    found = {
        (finding.place.line, finding.code)
        for finding in warm_host.analyze(file).outcome.findings
        if finding.kind is Kind.GRAPH_BREAK
    }
    lines = program().splitlines()
    wrong = [
        f"{prediction.rule} {prediction.code}: {lines[prediction.place.line - 1].strip()}"
        for prediction in predictions
        if (prediction.place.line, prediction.code) not in found
    ]
    assert not wrong, "\n".join(wrong)
