"""Records what operators are once decomposed for Inductor: ``python tests/knowledge/record_decompositions.py [OUTPUT.json.gz]``.

Not a test. Each operator of torch's own list of sample inputs (``op_db``, which needs ``expecttest`` and ``hypothesis``) is traced on
fake CPU tensors with mutations taken out and Inductor's decompositions applied, as AOTAutograd does it; what is left in the graph is
what the operator becomes. One that stays itself is left out. Kept as ``server/compile_lens/knowledge/data/decompositions.json.gz``.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch._inductor.decomposition import select_decomp_table
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

OUTPUT = Path(__file__).parents[2] / "server/compile_lens/knowledge/data/decompositions.json.gz"
Call = tuple[Any, tuple[Any, ...], dict[str, Any]]
SAMPLES = 6
MAX_FORMS = 3
MAX_OPERATORS = 12


def main(output: Path) -> None:
    warnings.simplefilter("ignore")
    found: dict[str, list[list[str]]] = {}
    failed = 0
    for info in op_db:
        packets = (getattr(torch.ops.aten, name, None) for name in (info.aten_name, info.name.rpartition(".")[2]))
        packet = next((one for one in packets if one is not None), None)
        dtype = torch.float32 if torch.float32 in info.dtypes else next(iter(sorted(info.dtypes, key=str)), None)
        if packet is None or dtype is None:
            continue
        try:
            samples = list(zip(range(SAMPLES), info.sample_inputs("cpu", dtype), strict=False))
        except Exception:
            continue
        for _, sample in samples:
            try:
                calls = operators_called(packet, (sample.input, *sample.args), sample.kwargs)
                for overload, arguments, keywords in calls:
                    left = operators_left(overload, arguments, keywords)
                    forms = found.setdefault(str(overload), [])
                    if left not in forms:
                        forms.append(left)
            except Exception:
                failed += 1
    kept = {
        name: forms[:MAX_FORMS]
        for name, forms in sorted(found.items())
        # one that is left as it is, is said to be so by the tables
        if forms != [[name.rpartition(".")[0]]] and all(len(form) <= MAX_OPERATORS for form in forms[:MAX_FORMS])
    }
    content = {"torch": torch.__version__.partition("+")[0], "becomes": kept}
    with gzip.GzipFile(output, "wb", mtime=0) as file:
        file.write(json.dumps(content, separators=(",", ":")).encode())
    print(f"{len(kept)} operators of {len(found)} that were traced; {failed} samples could not be")


class Seen(TorchDispatchMode):
    """Remembers the operators that are called below the dispatcher's own compositions, with what they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def operators_called(packet: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Call]:
    """The overload that a call of ``packet`` means, and the operators that the dispatcher makes of it."""
    name = torch._C._jit_resolve_packet(packet._qualified_op_name, *arguments, **keywords)
    with Seen() as seen, torch.no_grad():
        packet(*arguments, **keywords)
    calls = [(getattr(packet, name), arguments, keywords), *seen.calls]
    return list({str(call[0]): call for call in reversed(calls) if call[0].namespace == "aten"}.values())


def operators_left(packet: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
    """Operators of the graph, each once, in their order: ``aten.mul``."""

    def call(*given: Any) -> Any:
        return packet(*given, **keywords)

    traced = make_fx(functionalize(call), decomposition_table=select_decomp_table(), tracing_mode="fake")(*arguments)
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    return list(dict.fromkeys(str(target).rpartition(".")[0] for target in targets if hasattr(target, "_schema")))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT)
