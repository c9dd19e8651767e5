"""Opens what torch writes with ``TORCH_COMPILE_DEBUG=1``: a folder for each graph, with its documents as files.

It has no frames and no region. Names of the folders are ``model__0_forward_1.0`` (``DebugContext`` in torch/_inductor/debug.py, torch 2.6
to 2.13).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.documents import document, kernel_stages
from compile_lens.stages.kernels import KernelTexts, read_kernels
from compile_lens.stages.model import Direction, Graph, Kernel, PhaseKind, StageKind
from compile_lens.stages.passes import GraphPasses
from compile_lens.stages.provenance import MAPPINGS, STACKS, Lines, no_lines
from compile_lens.trace.files import TraceError
from compile_lens.trace.walked import walked

FOLDER = re.compile(r"^(?P<name>.+?)_(?P<direction>forward|backward|inference)_(?P<number>\d+)\.(?P<part>\d+)$")
FILES = {
    "fx_graph_readable.py": StageKind.POST_GRAD_BEFORE,
    "fx_graph_transformed.py": StageKind.POST_GRAD,
    "ir_pre_fusion.txt": StageKind.IR_PRE_FUSION,
    "ir_post_fusion.txt": StageKind.IR_POST_FUSION,
    "output_code.py": StageKind.OUTPUT_CODE,
}
PROVENANCE = (MAPPINGS, STACKS)
# bytes of all documents together; graphs of whole models have some
LARGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class TextFile:
    """A document that is a file."""

    path: Path

    def text(self) -> str | None:
        """Its text, or None if it cannot be read. A link leads to a file of this machine, whose text nobody has put there."""
        if self.path.is_symlink():
            return None
        try:
            return read_regular(self.path, LARGEST).decode("utf-8", "replace")
        except OSError:
            return None


def is_debug_folder(path: Path) -> bool:
    """Whether torch wrote ``path``, or a folder around it, for debugging."""
    return next(_folders(path), None) is not None


def read_debug_folder(path: Path, lines_of: Lines = no_lines) -> OpenedStages:
    """The stages of all graphs below ``path``, in the order of their numbers. Raises TraceError for documents without end."""
    folders = sorted(_folders(path), key=_order)
    _check_sizes(path, folders)
    return OpenedStages(tuple(_graph(folder, lines_of) for folder in folders))


def _check_sizes(path: Path, folders: Sequence[Path]) -> None:
    """Holes count: they take no room on the disk, and all that is made of them does elsewhere."""
    total = 0
    for folder in folders:
        for name in (*FILES, *(f"{one}.json" for one in PROVENANCE)):
            with contextlib.suppress(OSError):
                total += os.lstat(folder / name).st_size
    if total > LARGEST:
        raise TraceError(
            f"{path} is not read: its documents have {total >> 20:,} MiB, and at most {LARGEST >> 20} MiB are read. Give the folder of a "
            "single graph."
        )


def _folders(path: Path) -> Iterator[Path]:
    if FOLDER.match(path.name) and _has_documents(str(path)):
        yield path
    for place, folders, _ in walked(path) if path.is_dir() else ():
        if place == str(path) or os.path.basename(place) == "torchinductor":  # noqa: PTH119
            inside = [os.path.join(place, name) for name in folders if FOLDER.match(name)]  # noqa: PTH118
            yield from (Path(folder) for folder in inside if _has_documents(folder))


def _has_documents(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in FILES)  # noqa: PTH113, PTH118


def _order(folder: Path) -> tuple[str, str, int, int]:
    found = FOLDER.match(folder.name)
    assert found is not None
    return str(folder.parent), found["name"], int(found["number"]), int(found["part"])


def _graph(folder: Path, lines_of: Lines) -> Graph:
    found = FOLDER.match(folder.name)
    assert found is not None
    direction = Direction(found["direction"])
    name = f"{found['name']}_{found['number']}_{found['part']}/{direction.value}"
    files = {kind: TextFile(folder / file) for file, kind in FILES.items() if (folder / file).is_file()}
    code = files.get(StageKind.OUTPUT_CODE)
    before, after = files.get(StageKind.POST_GRAD_BEFORE), files.get(StageKind.POST_GRAD)
    around = {PhaseKind.POST_GRAD: (before, after)} if before is not None and after is not None else {}
    passes = GraphPasses(name, (), around, tuple)
    return Graph(
        id=name,
        compile_id="",
        direction=direction,
        function=found["name"],
        file="",
        line=0,
        region=None,
        documents=tuple(document(name, kind, source) for kind, source in files.items()),
        read_kernels=partial(_kernels, name, folder, code, files, lines_of) if code is not None else tuple,
        read_kernel_stages=partial(kernel_stages, name, code) if code is not None else tuple,
        read_not_fused=_not_told,
        read_times=dict,
        read_phases=passes.phases,
        read_pass_stages=passes.stages,
    )


def _not_told(_kernels: tuple[Kernel, ...]) -> tuple[()]:
    return ()


def _kernels(
    name: str, folder: Path, code: TextFile, files: dict[StageKind, TextFile], lines_of: Lines
) -> tuple[Kernel, ...]:
    graphs = [files[kind] for kind in (StageKind.POST_GRAD, StageKind.POST_GRAD_BEFORE) if kind in files]
    written = {one: TextFile(folder / f"{one}.json") for one in PROVENANCE if (folder / f"{one}.json").is_file()}
    return read_kernels(KernelTexts(name, code, tuple(graphs), None, written, lines_of))
