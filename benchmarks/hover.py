"""How long hovers and completions take in the server, and what the tables weigh: 2,000 requests each on a file of 5,000 lines.

Figures are of the handlers, with an edit before every tenth request so that nothing made for the version before can be used. The
baseline is what the same machine needs to parse that file once.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable

from benchmarks.table.figure import Figure, Of
from compile_lens.documents.documents import Change, Documents, Snapshot
from compile_lens.documents.line_index import Position
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.lsp.completion import items_for, slot_at
from compile_lens.lsp.knowledge_at import named_at
from compile_lens.syntax.tree import parse
from compile_lens.syntax.window import imports_of

LINES = 5_000
REQUESTS = 2_000
SEED = 20261121
BLOCK = '''
class Layer{n}(torch.nn.Module):
    """A layer with something to ask about in each line."""

    def forward(self, x, weight):
        os.environ["TORCH_LOGS"] = "+dynamo,graph_breaks,recompiles"
        ic.triton.cudagraphs = True
        y = F.layer_norm(torch.relu(x @ weight), (8,))
        z = torch.ops.aten.native_layer_norm.default(y, (8,), None, None, 1e-5)
        return torch.compile(self.step, mode="max-autotune", options={{"max_autotune": True}})(z)
'''
HEAD = "import os\nimport torch\nimport torch.nn.functional as F\nfrom torch._inductor import config as ic\n"
ASKED = (
    "graph_breaks",
    "cudagraphs",
    "layer_norm(",
    "relu",
    "native_layer_norm",
    "max-autotune",
    "max_autotune",
    "forward",
    "weight",
)
COMPLETED = ('"+dynamo,', "ic.triton.", 'mode="', 'options={"', "torch.compile(self.step, ")


def measure() -> list[Figure]:
    """The 95th percentile of both, and the memory of the tables that they read."""
    documents = Documents()
    text = HEAD + "".join(BLOCK.format(n=number) for number in range(LINES // BLOCK.count("\n")))
    documents.open("file:///bench.py", "/bench.py", "python", 1, text)
    knowledge = Knowledge()
    imports = imports_of(text)  # the server keeps those of each document
    began = time.perf_counter()
    parse(text)
    whole = (time.perf_counter() - began) * 1e3

    def hover(snapshot: Snapshot, line: int, column: int) -> None:
        named = named_at(snapshot, knowledge, imports, line, column)
        for entry in named.entries if named is not None else ():
            to_markdown(entry, knowledge.tables)

    def complete(snapshot: Snapshot, line: int, column: int) -> None:
        slot = slot_at(snapshot, imports, line, column)
        if slot is not None:
            from lsprotocol import types

            place = types.Range(types.Position(line, column), types.Position(line, column))
            list(items_for(knowledge, slot, place, snapshot.path))

    return [
        Figure("hover, 95 %", _measure(documents, hover, ASKED, 1), "ms", whole, "parsing the file", 3, Of.VALUE),
        Figure("completion, 95 %", _measure(documents, complete, COMPLETED, None), "ms", whole, goal=10, of=Of.VALUE),
        Figure("memory of all tables", _memory(), "MB"),
    ]


def _measure(
    documents: Documents,
    answer: Callable[[Snapshot, int, int], None],
    marks: tuple[str, ...],
    offset: int | None,
) -> float:
    generator = random.Random(SEED)
    snapshot = documents.all()[0]
    lines = snapshot.text.split("\n")
    places = [
        (number, line.index(mark) + (len(mark) if offset is None else offset) + 1)
        for number, line in enumerate(lines, 1)
        for mark in marks
        if mark in line
    ]
    times: list[float] = []
    for request in range(REQUESTS):
        if request % 10 == 0:
            end = Position(len(lines) + request, 0)
            documents.change(snapshot.uri, snapshot.version + 1, [Change("# typed\n", end, end)])
            snapshot = documents.all()[0]
        line, column = generator.choice(places)
        began = time.perf_counter()
        answer(snapshot, line, column)
        times.append((time.perf_counter() - began) * 1e3)
    times.sort()
    return times[int(len(times) * 0.95)]


def _memory() -> float:
    tracemalloc.start()
    knowledge = Knowledge()
    for kind in KnowledgeKind:
        knowledge.names(kind)
        knowledge.get(kind, "")
    assert knowledge.past.releases
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / 1e6
