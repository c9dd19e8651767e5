"""Builds entries of operators and functions: levels, kernels, and what becomes of them at each stage."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind, TorchPlace
from compile_lens.knowledge.places import place, read_place
from compile_lens.wording import and_more

Row = Mapping[str, Any]
MAX_SCHEMAS = 8
_KEPT = ("In AOTAutograd", "kept: it has no decomposition")
_TAGS = {
    "core": "in the core ATen set",
    "pointwise": "elementwise",
    "reduction": "a reduction",
    "view_copy": "a copy of a view",
    "inplace_view": "changes the metadata of its input",
    "data_dependent_output": "its result is a Python number that depends on data: breaks the graph unless captured",
    "dynamic_output_shape": "the shape of its result depends on data: breaks the graph unless captured",
    "nondeterministic_seeded": "random, the same for the same seed",
    "nondeterministic_bitwise": "not bitwise reproducible",
    "needs_fixed_stride_order": "Inductor keeps the strides of its inputs",
    "needs_exact_strides": "Inductor keeps the exact strides of its inputs",
    "flexible_layout": "Inductor may choose the strides of its inputs",
    "cudagraph_unsafe": "not safe in a CUDA graph",
    "maybe_aliasing_or_mutating": "may return or change its inputs, although its schema does not say so",
    "out": "writes into a tensor that it is given",
    "inplace": "changes its first input",
    "generated": "generated from another variant",
    "pt2_compliant_tag": "tested with torch.compile",
}
DECOMPOSITIONS_DATA = Path(__file__).parent / "data" / "decompositions.json.gz"


def operator(name: str, row: Row) -> KnowledgeEntry:
    """``name`` is a packet (``aten.add``) or an overload (``aten.add.Tensor``), whose row has it alone."""
    overloads: Mapping[str, Row] = row["overloads"]
    main = main_overload(overloads)
    chosen = overloads[main]
    packet = ".".join(name.split(".")[:2])
    facts: list[tuple[str, str]] = [("Schema", f"`{chosen['schema']}`")]
    others = [overload for overload in overloads if overload != main]
    if others:
        more = and_more(len(others) - MAX_SCHEMAS)
        facts.append(
            ("Overloads", ", ".join(f"`{overload}`" for overload in [main, *others][: MAX_SCHEMAS + 1]) + more)
        )
    facts.append(("Level", _level(packet, chosen)))
    tags = chosen.get("tags", ())
    if tags:
        facts.append(("Tags", ", ".join(f"`{tag}`" + (f" ({_TAGS[tag]})" if tag in _TAGS else "") for tag in tags)))
    if chosen.get("kernels"):
        facts.append(("Kernels", ", ".join(f"`{key}`" for key in chosen["kernels"])))
    becomes = decompositions().describe(f"{packet}.{main}")
    # a trace says more than the tables of decompositions: some are added only where they are used
    facts += [step for step in _stages(chosen) if step != _KEPT or not becomes]
    if becomes:
        facts.append(("Becomes", becomes))
    return KnowledgeEntry(
        KnowledgeKind.OPERATOR,
        name,
        theirs=chosen.get("doc", ""),
        facts=tuple(facts),
        related=tuple(chosen.get("lowering", {}).get("makes", ())),
        places=_places(chosen),
    )


def main_overload(overloads: Mapping[str, Row]) -> str:
    """The overload to show first: one that Inductor lowers, that takes tensors and has no output arguments."""

    def rank(item: tuple[str, Row]) -> tuple[int, int, int, int]:
        name, row = item
        writes = "out" in row.get("tags", ()) or name.endswith("out")
        return (writes, "core" not in row.get("tags", ()), "lowering" not in row, name not in ("default", "Tensor"))

    return min(overloads.items(), key=rank)[0]


def _level(packet: str, row: Row) -> str:
    namespace = packet.partition(".")[0]
    if namespace == "prims":
        return "prims: primitive operators that decompositions use"
    if namespace != "aten":
        return f"`{namespace}`: an operator of a library outside ATen"
    if "core" in row.get("tags", ()):
        return "core ATen: kept in an exported graph after core decompositions"
    if "CompositeImplicitAutograd" in row.get("kernels", ()):
        return "full ATen, composite: the dispatcher decomposes it before autograd"
    if row.get("core_decomposition"):
        return "full ATen: decomposed on the way to core ATen"
    return "full ATen"


def _stages(row: Row) -> list[tuple[str, str]]:
    """What becomes of it after AOTAutograd and in Inductor."""
    composite = "CompositeImplicitAutograd" in row.get("kernels", ()) and "decomposition" not in row
    steps: list[tuple[str, str]] = []
    if composite:
        steps.append(("In AOTAutograd", "decomposed by the dispatcher into the operators that implement it"))
    elif "inductor_decomposition" in row:
        where = f"`{row['inductor_decomposition']}`"
        steps.append(("In AOTAutograd, for Inductor", f"may be decomposed by a function in Inductor's table ({where})"))
    elif "decomposition" in row:
        steps.append(
            ("In AOTAutograd", f"kept for Inductor, although torch has a decomposition (`{row['decomposition']}`)")
        )
    else:
        steps.append(_KEPT)
    lowering = row.get("lowering")
    if lowering is not None:
        steps.append(("In Inductor", _lowered(lowering, is_fallback=bool(row.get("fallback")))))
    elif not composite:
        steps.append(
            (
                "In Inductor",
                "no lowering of its own: decomposed earlier, or called by a fallback kernel",
            )
        )
    if "meta" in row or "Meta" in row.get("kernels", ()):
        where = f" (`{row['meta']}`)" if "meta" in row else " (in C++)"
        steps.append(("Shapes", f"a meta kernel{where}" + (f", a fake one (`{row['fake']}`)" if "fake" in row else "")))
    elif "fake" in row:
        steps.append(("Shapes", f"a fake kernel (`{row['fake']}`)"))
    return steps


def _lowered(lowering: Row, *, is_fallback: bool) -> str:
    makes = lowering.get("makes", ())
    where = lowering.get("registered_at") or lowering.get("at", "")
    if "FallbackKernel" in makes and is_fallback:
        return f"falls back to the eager kernel, as an `ir.FallbackKernel` (`{where}`)"
    if lowering.get("name", "").startswith(("make_pointwise.", "make_reduction.")):
        return f"is lowered to {', '.join(f'`{name}`' for name in makes)} (`{where}`)"
    # the classes are those in the text of the lowering: which of them it creates depends on its arguments
    creates = f", which may create {', '.join(f'`{name}`' for name in makes)}" if makes else ""
    return f"has its own lowering (`{where}`){creates}"


def _places(row: Row) -> tuple[TorchPlace, ...]:
    """Places, the one in Inductor first, because go-to-definition uses the first."""
    found: list[TorchPlace] = []
    lowering = row.get("lowering", {})
    for label, text in (
        ("lowering, registered", lowering.get("registered_at")),
        ("lowering", lowering.get("at")),
        ("decomposition of Inductor", row.get("inductor_decomposition")),
        ("decomposition", row.get("decomposition")),
        ("meta kernel", row.get("meta")),
        ("fake kernel", row.get("fake")),
        ("class", row.get("class_at")),
    ):
        if text and all(str(other) != text for other in found):
            found.append(read_place(label, text))
    return tuple(found)


def function(name: str, row: Row) -> KnowledgeEntry:
    short = name.rpartition(".")[2]
    facts = [("Signature", f"`{short}{row['signature']}`")] if "signature" in row else []
    facts += [(f"`{argument}`", " ".join(text.split())) for argument, text in row.get("arguments", {}).items()]
    return KnowledgeEntry(
        KnowledgeKind.FUNCTION, name, theirs=row.get("doc", ""), facts=tuple(facts), places=place(row, "defined")
    )


@dataclass(frozen=True, slots=True)
class Decompositions:
    """``becomes``: by overload (``aten.softmax.int``), the operators that remain for each form of its arguments.

    Traced on fake CPU tensors with ``torch``, as AOTAutograd does for Inductor: functionalized and decomposed.
    """

    torch: str
    becomes: dict[str, list[list[str]]]

    def describe(self, overload: str) -> str:
        """```aten.t`, `aten.addmm` (traced on CPU with torch 2.13.0)``, or '' if nothing was recorded."""
        forms = self.becomes.get(overload)
        if not forms:
            return ""
        shown = ["nothing" if not form else ", ".join(f"`{operator}`" for operator in form) for form in forms]
        return f"{'; or '.join(shown)} (traced on CPU with torch {self.torch})"


@cache
def decompositions() -> Decompositions:
    """The bundled data."""
    with gzip.open(DECOMPOSITIONS_DATA, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return Decompositions(content["torch"], content["becomes"])
