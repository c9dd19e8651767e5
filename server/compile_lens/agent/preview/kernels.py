"""Reads what is known of each kernel: whether the GPU would choose among configurations, and, if asked, what Triton makes of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..instrument.sass import sass_of
from ..runtime.degraded import degraded
from ..torch_internals.attributes import compiled_kernel
from ..torch_internals.inductor import KERNEL_MODULES, SET_PTXAS_PATH
from .notes import PreviewNotes
from .resources import Resources, read_resources

EXACT, ONE_OF, GPU_DECIDES = "exact", "one-of", "gpu-decides"
STAGES = ("ttir", "ttgir", "llir", "ptx")
# what torch writes into a kernel for its own use
BY_TIMING = {
    "coordinate_descent_tuning": "torch tries neighbors of the configuration on the GPU (`coordinate_descent_tuning`).",
}
OCCUPANCY_WIDTH = (
    64  # a smaller block is not halved (torch/_inductor/runtime/triton_heuristics.py, _dynamic_scale_rblock)
)


@dataclass
class KernelConfiguration:
    """One way in which a kernel may be launched. ``made_from``: it is another one with half its block, for more of them at once."""

    options: dict[str, Any]
    warps: int
    pipelined: int
    made_from: int | None = None
    resources: Resources | None = None
    error: str = ""
    assembly: dict[str, str] = field(default_factory=dict)


class KernelReader:
    """Collects kernels as Inductor generates them. ``assembly``: they are also compiled.

    ``figures`` are those of the GPU, by the names of ``torch.cuda.get_device_properties``.
    """

    def __init__(self, notes: PreviewNotes, figures: Mapping[str, Any], assembly: bool) -> None:
        self._notes = notes
        self._figures = figures
        self._assembly = assembly
        self._pending: list[tuple[str, str]] = []
        self._candidates = 0
        self._known: dict[str, dict[str, Any]] = {}  # by source

    def add(self, name: str, source: str) -> None:
        """A kernel of the graph that is being compiled."""
        self._pending.append((name, source))

    def chosen_among(self, candidates: int) -> None:
        """A template of the graph that is being compiled was taken from so many candidates."""
        self._candidates = max(self._candidates, candidates)

    def read_pending(self) -> None:
        """Write a note for each kernel that was added since."""
        pending, self._pending = self._pending, []
        for name, source in pending:
            if source not in self._known:
                self._known[source] = self._read(name, source)
            self._notes.kernel({"kernel": name, **self._known[source]})
        self._candidates = 0

    def _read(self, name: str, source: str) -> dict[str, Any]:
        modules = KERNEL_MODULES.get()
        if modules is None:
            return {}
        try:
            tuner = getattr(modules.load(source), name)
            configurations = list(self._configurations(tuner))
        except Exception as error:  # Triton reads the source, and may be missing or of another version
            degraded("the configurations of previewed kernels", error)
            return {}
        kind, why = self._judge(tuner, configurations)
        return {"class": kind, "why": why, "configurations": [_as_note(one) for one in configurations]}

    def _judge(self, tuner: Any, configurations: list[KernelConfiguration]) -> tuple[str, str]:
        about = getattr(tuner, "inductor_meta", None) or {}
        for option, why in BY_TIMING.items():
            if about.get(option):
                return GPU_DECIDES, why
        if self._candidates and _heuristic(tuner) == "TEMPLATE":
            return GPU_DECIDES, "torch measures on the GPU which candidate of max-autotune is fastest."
        usable = [one for one in configurations if not one.error]
        if len(usable) > 1:
            return ONE_OF, "torch measures its configurations on the GPU, and takes the fastest."
        return EXACT, "torch has one configuration for it."

    def _configurations(self, tuner: Any) -> Iterator[KernelConfiguration]:
        made = [(_configuration(config), config) for config in tuner.configs or []]
        may_halve = self._may_halve(tuner)
        # whether torch adds another one depends on the registers of the first
        compiles = self._assembly or (may_halve and len(made) == 1)
        for index, (configuration, config) in enumerate(made):
            if compiles:
                self._compile(tuner, configuration, config)
            yield configuration
            if may_halve and configuration.resources is not None:
                yield from self._halved(tuner, index, configuration, config, [one.options for one, _ in made])

    def _compile(self, tuner: Any, configuration: KernelConfiguration, config: Any) -> None:
        (SET_PTXAS_PATH.get() or (lambda: None))()
        try:
            binary = compiled_kernel(tuner, config)
        except Exception as error:  # a configuration that the GPU has no room for, or that Triton refuses
            configuration.error = f"{type(error).__name__}: {error}".strip()[:500]
            return
        configuration.resources = read_resources(binary)
        if configuration.resources.shared > self._figures["shared_memory_per_block_optin"]:
            configuration.error = (
                f"It takes {configuration.resources.shared:,} bytes of shared memory, "
                f"and a block has {self._figures['shared_memory_per_block_optin']:,}."
            )
        if self._assembly:
            configuration.assembly = {stage: text for stage in STAGES if isinstance(text := binary.asm.get(stage), str)}
            if (sass := sass_of(binary.asm["cubin"])) is not None:
                configuration.assembly["sass"] = sass

    def _may_halve(self, tuner: Any) -> bool:
        """Whether torch may add configurations with half the block, by the registers that those it has take."""
        about = getattr(tuner, "inductor_meta", None) or {}
        return bool(
            about.get("dynamic_scale_rblock", True)
            and not about.get("persistent_reduction")
            and _heuristic(tuner) == "REDUCTION"
            and getattr(tuner, "size_hints", None) is not None
            and self._figures["major"] >= 8
        )

    def _halved(
        self, tuner: Any, index: int, made: KernelConfiguration, config: Any, known: list[dict[str, Any]]
    ) -> Iterator[KernelConfiguration]:
        """The configuration that torch adds to raise the occupancy of ``made`` (``_dynamic_scale_rblock``), if it does."""
        assert made.resources is not None
        blocks = {name: value for name, value in config.kwargs.items() if name.startswith("R")}
        threads = self._figures["max_threads_per_multi_processor"]
        registers = self._figures["regs_per_multiprocessor"]
        product = 1
        for value in blocks.values():
            product *= value
        if not blocks or product <= OCCUPANCY_WIDTH or made.resources.registers <= registers // threads:
            return
        of_block = made.resources.registers * self._figures["warp_size"] * config.num_warps
        at_once = max(registers // of_block, 1) * self._figures["multi_processor_count"]
        width = config.kwargs.get("XBLOCK", 1)
        if (tuner.size_hints["x"] + width - 1) // width <= at_once:
            return
        other = copy.deepcopy(config)
        other.kwargs[max(blocks, key=lambda name: blocks[name])] //= 2
        if other.kwargs in [options for options in known if options == other.kwargs]:
            return
        added = _configuration(other)
        added.made_from = index
        self._compile(tuner, added, other)
        yield added


def _heuristic(tuner: Any) -> str:
    """``POINTWISE``, ``REDUCTION``, ``TEMPLATE``… (torch/_inductor/runtime/hints.py)."""
    return getattr(getattr(tuner, "heuristic_type", None), "name", "")


def _configuration(config: Any) -> KernelConfiguration:
    return KernelConfiguration(dict(config.kwargs), config.num_warps, config.num_stages)


def _as_note(configuration: KernelConfiguration) -> dict[str, Any]:
    resources = configuration.resources
    return {
        "options": {
            name: value for name, value in configuration.options.items() if isinstance(value, (int, str, bool))
        },
        "num_warps": configuration.warps,
        "num_stages": configuration.pipelined,
        **({"made_from": configuration.made_from} if configuration.made_from is not None else {}),
        **(
            {"registers": resources.registers, "shared": resources.shared, "spills": resources.spills}
            if resources is not None
            else {}
        ),
        **({"error": configuration.error} if configuration.error else {}),
        **({"assembly": configuration.assembly} if configuration.assembly else {}),
    }
