"""The names of graphs, their sources and their kernels in lists of stages."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.stage_set import StageSet
from compile_lens.stages.figures import bytes_text
from compile_lens.stages.model import Direction, Graph, Stage, StageKind
from compile_lens.wording import counted

WORDS = {Direction.NOT_LOWERED: "captured"}


def title_of(graph: Graph) -> str:
    """``forward [0/0] · backward``: the function, its frame, and the pass."""
    direction = WORDS.get(graph.direction, graph.direction.value)
    return f"{graph.function} [{graph.compile_id}] · {direction}"


def title_of_source(of: StageSet) -> str:
    """``train.py``; of a preview: ``train.py, as for H100 (sm_90), torch 2.13.0, triton 3.7.1``."""
    preview = of.opened.preview
    return f"{Path(of.facts.file).name}, {preview.title}" if preview is not None else of.facts.title


def resources_of(of: StageSet, graph: Graph, stage: Stage) -> str:
    """What a kernel takes of the GPU, for its PTX in a preview: ``34 registers, 2 kB of shared memory``; '' where that is not known."""
    preview = of.opened.preview
    known = preview.kernel(stage.kernel, graph.compile_id) if preview is not None and stage.kernel else None
    if known is None or stage.kind is not StageKind.PTX:
        return known.label if known is not None and stage.kind is StageKind.KERNEL else ""
    number = stage.id.rpartition(".")[2]
    index = int(number) if len(known.configurations) > 1 and number.isdecimal() else 0
    taken = known.configurations[index]
    parts = [counted(taken.registers, "register") if taken.registers is not None else ""]
    parts += [f"{bytes_text(taken.shared)} of shared memory" if taken.shared else ""]
    parts += [f"{counted(taken.spills, 'word')} spilled" if taken.spills else ""]
    return ", ".join(filter(None, parts))
