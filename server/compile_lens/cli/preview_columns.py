"""The columns that a table of kernels has in a preview: how certain each is, and what it takes of the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text

from compile_lens.stages.figures import bytes_text
from compile_lens.stages.gpu_preview import Certainty, GpuPreview, LaunchConfiguration
from compile_lens.stages.model import Graph, Kernel

STYLES = {Certainty.EXACT: "green", Certainty.ONE_OF: "yellow", Certainty.GPU_DECIDES: "red"}


@dataclass(frozen=True, slots=True)
class PreviewColumns:
    """Columns for kernels of ``graph``. Where a kernel has several configurations, each has a line."""

    preview: GpuPreview
    graph: Graph
    headers: ClassVar = ("certainty", "configurations", "registers", "shared", "spills")

    def cells(self, kernel: Kernel) -> tuple[Text, ...]:
        """What is known of ``kernel``; empty cells for what is no kernel of Triton's."""
        known = self.preview.kernel(kernel.name, self.graph.compile_id)
        if known is None:
            return tuple(Text() for _ in self.headers)
        style = STYLES.get(known.certainty, "") if known.certainty is not None else ""
        rows = known.configurations
        return (
            Text(known.label, style=style),
            Text("\n".join(map(_options, rows))),
            *(Text("\n".join(_number(row, name) for row in rows)) for name in ("registers", "shared", "spills")),
        )


def columns_of(preview: GpuPreview | None, graph: Graph) -> PreviewColumns | None:
    """The columns for ``graph``, None outside of a preview."""
    return PreviewColumns(preview, graph) if preview is not None else None


def _options(configuration: LaunchConfiguration) -> str:
    blocks = [
        f"{name.removesuffix('BLOCK')}{value}" for name, value in configuration.options.items() if "BLOCK" in name
    ]
    text = " ".join([*blocks, f"warps {configuration.num_warps}", f"stages {configuration.num_stages}"])
    return f"{text} (does not fit)" if configuration.error else text


def _number(configuration: LaunchConfiguration, name: str) -> str:
    value: int | None = getattr(configuration, name)
    if value is None:
        return ""
    return bytes_text(value) if name == "shared" else f"{value}"
