"""Settings of what stands beside the text: lenses and inlay hints."""

from __future__ import annotations

from dataclasses import dataclass, field

from compile_lens.settings.setting import documented


@dataclass(frozen=True, slots=True)
class LensSettings:
    """Code lenses."""

    enabled: bool = field(
        default=True,
        metadata=documented(
            "Show a code lens above each compile region and each compiled function with the result of the last run. "
            "Default: on."
        ),
    )
    candidates: bool = field(
        default=True,
        metadata=documented(
            "Show a code lens above modules and functions that are not compiled yet, to see what `torch.compile` would "
            "do. Default: on."
        ),
    )


@dataclass(frozen=True, slots=True)
class InlaySettings:
    """Inlay hints."""

    enabled: bool = field(
        default=False,
        metadata=documented(
            "Show inlay hints where a graph ends, and for dynamic dimensions of parameters. Default: off."
        ),
    )


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The compiler's stages beside the source, in VS Code."""

    colors: bool = field(
        default=True,
        metadata=documented(
            "Give the lines of a compiler stage and the lines of the source that they were made of the same color "
            "(VS Code). Default: on."
        ),
    )
    follow: bool = field(
        default=True,
        metadata=documented(
            "Mark and show, in the source and in the compiler stages beside it, what belongs to the line of the cursor "
            "(VS Code). Default: on."
        ),
    )
    gpu: str = field(
        default="",
        metadata=documented(
            "GPU for which kernels are previewed: a name such as `h100`, or a JSON file with its figures (docs/gpu-preview.md). "
            "Default: none, so that you choose one, and the choice is remembered for the workspace."
        ),
    )
    assembly: bool = field(
        default=True,
        metadata=documented(
            "Also compile the kernels of a GPU preview with Triton, down to PTX, for registers and shared memory. Default: on."
        ),
    )
