"""Reads what is noted of Triton kernels, and what a preview for a GPU that was not there says of itself: which are certain, what was
assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from compile_lens.stages.model import SourceSpan, StageKind
from compile_lens.trace.records import UNREADABLE, Payload, read_json
from compile_lens.trace.report import Artifact, CompileReport

T = TypeVar("T")
ABOUT, KERNEL, DECISION = "compile_lens_gpu_preview", "compile_lens_gpu_kernel", "compile_lens_gpu_decision"
ASSEMBLY = (StageKind.TTIR, StageKind.TTGIR, StageKind.LLIR, StageKind.PTX, StageKind.SASS)


class Certainty(str, Enum):
    """Whether a real GPU would have the kernel as it is shown: as it is; one of its configurations; another one, perhaps."""

    EXACT = "exact"
    ONE_OF = "one-of"
    GPU_DECIDES = "gpu-decides"


@dataclass(frozen=True, slots=True)
class AssemblyText:
    """A text of one configuration of a kernel, read from its note when it is asked for."""

    note: Payload
    configuration: int
    kind: StageKind

    def text(self) -> str | None:
        """The text, or None if the note is lost."""
        try:
            text = read_json(self.note.text())["configurations"][self.configuration]["assembly"][self.kind.value]
        except UNREADABLE:
            return None
        return text if isinstance(text, str) else None


@dataclass(frozen=True, slots=True)
class LaunchConfiguration:
    """One way to launch a kernel. Of a compiled one: ``registers`` of a thread, ``shared`` memory of a block in bytes, spilled words.

    ``halves`` is the number of the configuration whose block it has half of. ``error`` says why it cannot be used.
    """

    options: Mapping[str, int | str]
    num_warps: int
    num_stages: int
    registers: int | None = None
    shared: int | None = None
    spills: int | None = None
    halves: int | None = None
    error: str = ""
    assembly: Mapping[StageKind, AssemblyText] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        return ", ".join([*options, f"num_warps={self.num_warps}", f"num_stages={self.num_stages}"])


@dataclass(frozen=True, slots=True)
class GpuKernel:
    """What is known of one kernel: of a preview without the GPU, and why it is not more; of a run, how it was compiled.

    ``certainty`` is None of a run, and if it could not be found out.
    """

    name: str
    compile_id: str | None
    certainty: Certainty | None
    why: str
    configurations: tuple[LaunchConfiguration, ...]

    @property
    def label(self) -> str:
        """``exact``, ``one of 3``, ``GPU decides``; '' if it could not be found out."""
        if self.certainty is Certainty.ONE_OF:
            return f"one of {sum(not one.error for one in self.configurations)}"
        return (
            {Certainty.EXACT: "exact", Certainty.GPU_DECIDES: "GPU decides"}.get(self.certainty, "")
            if self.certainty
            else ""
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that only the GPU decides. ``what``: ``attention``, ``padding``, ``max-autotune``, ``value`` or ``failed``.

    ``others`` are what could have been taken instead; ``at`` is the user's line that led to it.
    """

    what: str
    taken: str
    others: tuple[str, ...]
    why: str
    at: SourceSpan | None

    def __str__(self) -> str:
        """One sentence."""
        place = f" (line {self.at.line})" if self.at is not None else ""
        if self.what == "failed":
            return f"A graph{place} was not compiled: {self.why}"
        if self.what == "value":
            return f"The program reads a value{place} that the preview did not compute. It went on with zeros."
        return f"{self.what.capitalize()}{place}: {self.taken} was assumed. {self.why}"


@dataclass(frozen=True, slots=True)
class GpuPreview:
    """A preview. ``wanted_triton`` is the version for this torch, '' if it is not known; ``triton`` is '' if there is none.

    ``retargeted``: the program does not name a GPU, and its graphs were compiled as if they were on one.
    """

    gpu: str
    device: str
    architecture: str
    torch: str
    triton: str
    wanted_triton: str
    retargeted: bool
    kernels: tuple[GpuKernel, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def title(self) -> str:
        """For which GPU, and with what: ``as for H100 (sm_90), torch 2.13.0, triton 3.7.1``."""
        made_with = f"as for {self.gpu} ({self.architecture}), torch {self.torch.partition('+')[0]}"
        return f"{made_with}, triton {self.triton}" if self.triton else made_with

    @property
    def triton_problem(self) -> str:
        """What to install, as a sentence; '' if nothing is amiss."""
        if not self.wanted_triton or self.triton == self.wanted_triton:
            return "" if self.triton else "Configurations and PTX need the package `triton`: install it."
        install = f"`pip install triton=={self.wanted_triton}`"
        release = self.torch.partition("+")[0]
        if not self.triton:
            return f"Configurations and PTX need triton {self.wanted_triton}, which torch {release} is made for: {install}."
        return f"torch {release} is made for triton {self.wanted_triton}, not {self.triton}: {install}."

    def kernel(self, name: str, compile_id: str | None = None) -> GpuKernel | None:
        """What is known of the kernel ``name``, of the frame ``compile_id`` if it is given."""
        return kernel_named(self.kernels, name, compile_id)


def kernel_named(kernels: Iterable[GpuKernel], name: str, compile_id: str | None = None) -> GpuKernel | None:
    """The kernel ``name`` of the frame ``compile_id``; else of any, since a graph that torch had in its cache has it from another."""
    found = [kernel for kernel in kernels if kernel.name == name]
    return next((kernel for kernel in found if kernel.compile_id == compile_id), found[0] if found else None)


def gpu_kernels(report: CompileReport) -> tuple[GpuKernel, ...]:
    """What is noted of the kernels of a run or a preview."""
    return tuple(_notes(report, KERNEL, _kernel))


def preview_of(report: CompileReport) -> GpuPreview | None:
    """The preview that ``report`` was made of; None if it is of an ordinary run."""
    about = next(_notes(report, ABOUT, _about), None)
    if about is None:
        return None
    return replace(about, kernels=gpu_kernels(report), decisions=tuple(_notes(report, DECISION, _decision)))


def _notes(report: CompileReport, name: str, read: Callable[[dict[str, Any], Artifact], T]) -> Iterator[T]:
    """The notes of a name. One that a program wrote itself, or damaged, is passed over."""
    for artifact in report.artifacts:
        if artifact.name == name:
            try:
                found = read(read_json(artifact.payload.text()), artifact)
            except UNREADABLE:
                continue
            yield found


def _about(note: dict[str, Any], _: Artifact) -> GpuPreview:
    return GpuPreview(
        gpu=str(note["gpu"]),
        device=str(note["name"]),
        architecture=str(note["architecture"]),
        torch=str(note["torch"]),
        triton=str(note["triton"]),
        wanted_triton=str(note["wanted_triton"]),
        retargeted=bool(note["retargeted"]),
    )


def _kernel(note: dict[str, Any], artifact: Artifact) -> GpuKernel:
    certainty = Certainty(note["class"]) if "class" in note else None
    configurations = tuple(
        _configuration(one, index, artifact.payload) for index, one in enumerate(note.get("configurations", ()))
    )
    return GpuKernel(str(note["kernel"]), artifact.compile_id, certainty, str(note.get("why", "")), configurations)


def _configuration(note: dict[str, Any], index: int, payload: Payload) -> LaunchConfiguration:
    texts = note.get("assembly", {})
    return LaunchConfiguration(
        options={str(name): value if isinstance(value, int) else str(value) for name, value in note["options"].items()},
        num_warps=int(note["num_warps"]),
        num_stages=int(note["num_stages"]),
        registers=_number(note, "registers"),
        shared=_number(note, "shared"),
        spills=_number(note, "spills"),
        halves=_number(note, "made_from"),
        error=str(note.get("error", "")),
        assembly={kind: AssemblyText(payload, index, kind) for kind in ASSEMBLY if kind.value in texts},
    )


def _number(note: dict[str, Any], name: str) -> int | None:
    return None if note.get(name) is None else int(note[name])


def _decision(note: dict[str, Any], _: Artifact) -> Decision:
    others = tuple(str(other) for other in note["others"])
    return Decision(str(note["what"]), str(note["taken"]), others, str(note["why"]), _at(note["stack"]))


def _at(stack: list[dict[str, Any]]) -> SourceSpan | None:
    if not stack:
        return None
    last = stack[-1]
    line, *others = (_number(last, name) for name in ("line", "column", "end_line", "end_column"))
    return SourceSpan(str(last["file"]), line, *others) if line is not None and line > 0 else None
