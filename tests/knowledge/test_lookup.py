"""Finding things by the way users write them; no torch is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.knowledge.curated import curated
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge, search
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.tables import bundled_tables


@pytest.mark.parametrize(
    ("written", "kind", "name"),
    [
        ("TORCH_LOGS=fusion", KnowledgeKind.LOG, "fusion"),
        ('TORCH_LOGS="+dynamo"', KnowledgeKind.LOG, "dynamo"),
        ("graph_breaks", KnowledgeKind.LOG, "graph_breaks"),
        ("TORCHINDUCTOR_MAX_AUTOTUNE", KnowledgeKind.ENVIRONMENT, "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("TORCHINDUCTOR_MAX_AUTOTUNE=1", KnowledgeKind.ENVIRONMENT, "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("TORCH_LOGS", KnowledgeKind.ENVIRONMENT, "TORCH_LOGS"),
        ("torch._inductor.config.max_autotune", KnowledgeKind.OPTION, "torch._inductor.config.max_autotune"),
        ("triton.cudagraphs", KnowledgeKind.OPTION, "torch._inductor.config.triton.cudagraphs"),
        ("GB0059", KnowledgeKind.CODE, "GB0059"),
        ("gb59", KnowledgeKind.CODE, "GB0059"),
        ("aten.native_layer_norm", KnowledgeKind.OPERATOR, "aten.native_layer_norm"),
        ("torch.ops.aten.relu.default", KnowledgeKind.OPERATOR, "aten.relu.default"),
        ("aten::relu", KnowledgeKind.OPERATOR, "aten.relu"),
        ("relu", KnowledgeKind.OPS, "relu"),
        ("Pointwise", KnowledgeKind.IR, "Pointwise"),
        ("ir.Pointwise", KnowledgeKind.IR, "Pointwise"),
        ("ops.index_expr", KnowledgeKind.OPS, "index_expr"),
        ("V.graph", KnowledgeKind.VIRTUALIZED, "graph"),
        ("tl.load", KnowledgeKind.TRITON, "tl.load"),
        ("triton.language.load", KnowledgeKind.TRITON, "tl.load"),
        ("triton_helpers.max2", KnowledgeKind.TRITON, "triton_helpers.max2"),
        ("XBLOCK", KnowledgeKind.CODEGEN, "XBLOCK"),
        ("max-autotune", KnowledgeKind.MODE, "max-autotune"),
        ("aot_eager", KnowledgeKind.BACKEND, "aot_eager"),
        ("TensorVariable", KnowledgeKind.VARIABLE, "TensorVariable"),
        ("TENSOR_MATCH", KnowledgeKind.GUARD, "TENSOR_MATCH"),
        ("call_function", KnowledgeKind.FX, "call_function"),
        ("ir_post_fusion.txt", KnowledgeKind.FILE, "ir_post_fusion.txt"),
        ("inductor/lowerings", KnowledgeKind.BISECT, "inductor/lowerings"),
        ("pipeline", KnowledgeKind.STAGE, "pipeline"),
        ("torch.compiler.disable", KnowledgeKind.FUNCTION, "torch.compiler.disable"),
        ("torch._dynamo.mark_dynamic", KnowledgeKind.FUNCTION, "torch._dynamo.mark_dynamic"),
        ("fresh_cache", KnowledgeKind.FUNCTION, "torch._inductor.utils.fresh_cache"),
        ("aoti_compile_and_package", KnowledgeKind.FUNCTION, "torch._inductor.aoti_compile_and_package"),
        ("torch._dynamo.exc.Unsupported", KnowledgeKind.EXCEPTION, "torch._dynamo.exc.Unsupported"),
        ("exc.Unsupported", KnowledgeKind.EXCEPTION, "torch._dynamo.exc.Unsupported"),
        ("BackendCompilerFailed", KnowledgeKind.EXCEPTION, "torch._dynamo.exc.BackendCompilerFailed"),
        ("TORCH_COMPILE_BACKEND", KnowledgeKind.ENVIRONMENT, "TORCH_COMPILE_BACKEND"),
        ("CUDA_LAUNCH_BLOCKING", KnowledgeKind.ENVIRONMENT, "CUDA_LAUNCH_BLOCKING"),
    ],
)
def test_found_as_it_is_written(bundled: Knowledge, written: str, kind: KnowledgeKind, name: str) -> None:
    entries = bundled.find(written)
    assert entries and (entries[0].kind, entries[0].name) == (kind, name)
    assert entries[0].full_name in to_markdown(entries[0], bundled.tables)


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("TORCH_LOGS=graph_brakes", "TORCH_LOGS=graph_breaks"),
        ("TORCHINDUCTOR_MAX_AUTOTUN", "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("Pointwize", "Pointwise"),
        ("GB9999", "GB0999"),
    ],
)
def test_what_is_near_to_an_unknown_name(bundled: Knowledge, written: str, near: str) -> None:
    assert not bundled.find(written)
    nearest = bundled.nearest(written)
    assert nearest
    if near in bundled.names(KnowledgeKind.CODE) or not near.startswith("GB"):
        assert near in nearest


def test_search(bundled: Knowledge) -> None:
    assert "TORCH_LOGS=fusion" in [entry.full_name for entry in search(bundled, "fusion")]
    assert not search(bundled, "nothing-has-this-in-it")


def test_a_hint_that_torch_writes_as_several_literals_is_one(bundled: Knowledge) -> None:
    (entry,) = bundled.find("GB0059")
    assert "(e.g. `print`), you can try adding it to" in to_markdown(entry, bundled.tables)


def test_every_text_of_ours_is_of_something(bundled: Knowledge) -> None:
    """A text whose name no release has would never be shown."""
    lost = {
        kind.value: [name for name in curated(kind) if not (bundled.knows(kind, name) or bundled.past.seen(kind, name))]
        for kind in KnowledgeKind
        if kind is not KnowledgeKind.ENVIRONMENT
    }
    assert not {kind: names for kind, names in lost.items() if names}


def test_variables_are_found_in_the_source(bundled: Knowledge) -> None:
    """Texts of ours are written for some variables; none is in the list for that reason alone."""
    table = bundled.tables.table(KnowledgeKind.ENVIRONMENT)
    by_option = {name for row in bundled.tables.table(KnowledgeKind.OPTION).values() for name in row.get("env", ())}
    read_by_the_driver = {"CUDA_LAUNCH_BLOCKING"}
    found = {*table, *by_option, *read_by_the_driver}
    assert not [name for name in curated(KnowledgeKind.ENVIRONMENT) if name not in found]


@pytest.mark.parametrize("kind", list(KnowledgeKind))
def test_related_names_exist(bundled: Knowledge, kind: KnowledgeKind) -> None:
    missing = [
        f"{name} → {other}" for name, text in curated(kind).items() for other in text.related if not bundled.find(other)
    ]
    assert not missing


# names without a text of ours or of torch's; what is said of them is facts alone (signature, place, level, library)
WITHOUT_TEXT = {
    KnowledgeKind.ENVIRONMENT: 31,  # C++ reads them, whose source no wheel has
    KnowledgeKind.OPTION: 0,
    KnowledgeKind.VARIABLE: 0,
    KnowledgeKind.FUNCTION: 44,
    KnowledgeKind.OPERATOR: 874,
    KnowledgeKind.TRITON: 24,
    KnowledgeKind.ARTIFACT: 53,
    KnowledgeKind.BISECT: 1,
}


@pytest.mark.parametrize("kind", list(KnowledgeKind))
def test_how_many_names_have_facts_alone(bundled: Knowledge, kind: KnowledgeKind) -> None:
    entries = {name: bundled.get(kind, name) for name in bundled.names(kind)}
    without = [name for name, entry in entries.items() if entry is None or not entry.has_meaning]
    assert len(without) <= WITHOUT_TEXT.get(kind, 0), without


def test_a_variable_that_sets_an_option_says_what_the_option_does(bundled: Knowledge) -> None:
    entry = bundled.get(KnowledgeKind.ENVIRONMENT, "TORCHINDUCTOR_INPLACE_PADDING")
    assert entry is not None and entry.ours.startswith("Sets `torch._inductor.config.inplace_padding`. Pads a matrix ")


def test_a_text_may_be_of_several_names(bundled: Knowledge) -> None:
    shapes = [
        bundled.get(KnowledgeKind.OPTION, f"torch._inductor.config.{device}.compile_opt_level")
        for device in ("cuda", "xpu")
    ]
    assert all(entry is not None and entry.ours.startswith("How far the device compiler") for entry in shapes)


@pytest.mark.parametrize(
    ("name", "becomes"),
    [
        ("aten.softmax", "`aten.amax`, `aten.sub`, `aten.exp`, `aten.sum`, `aten.div`"),
        ("aten.layer_norm", "`aten.var_mean`, `aten.add`, `aten.rsqrt`, `aten.sub`, `aten.mul`"),
        ("aten.gelu.default", "`aten.mul`, `aten.erf`, `aten.add`; or `aten.mul`, `aten.add`, `aten.tanh`"),
        ("aten.std_mean.correction", "`aten.var_mean`, `aten.sqrt`"),
    ],
)
def test_what_an_operator_becomes(bundled: Knowledge, name: str, becomes: str) -> None:
    entry = bundled.get(KnowledgeKind.OPERATOR, name)
    assert entry is not None
    (told,) = [value for label, value in entry.facts if label == "Becomes"]
    assert told.startswith(becomes) and told.endswith("(traced on CPU with torch 2.13.0)")


def test_an_operator_that_stays_itself_becomes_nothing_else(bundled: Knowledge) -> None:
    entry = bundled.get(KnowledgeKind.OPERATOR, "aten.mul.Tensor")
    assert entry is not None and "Becomes" not in dict(entry.facts)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("prims.convert_element_type", "Creates a copy of a tensor with the given dtype."),
        ("prims.add", "The primitive of `torch.add`"),
        ("aten.upsample_nearest3d_backward", "The gradient of `aten.upsample_nearest3d`."),
        ("aten._foreach_rsqrt_", "`aten.rsqrt` for each tensor of a list"),
        ("TORCHINDUCTOR_REDIS_HOST", "host name"),
    ],
)
def test_what_torch_says_in_code_alone(bundled: Knowledge, name: str, words: str) -> None:
    assert words in to_markdown(bundled.find(name)[0], bundled.tables)


@pytest.mark.parametrize(
    ("name", "label", "words"),
    [
        ("prims.inductor_seed", "In Inductor", "has its own lowering (`torch/_inductor/lowering.py:"),
        ("aten.relu", "In Inductor", "is lowered to `Pointwise`"),
        ("aten.relu_", "In AOTAutograd", "replaced by `aten.relu`"),
    ],
)
def test_what_becomes_of_an_operator(bundled: Knowledge, name: str, label: str, words: str) -> None:
    facts = dict(bundled.find(name)[0].facts)
    assert words in facts[label] and "what the lowering returns" not in str(facts)


def test_tables_of_the_same_release_lead_to_the_installed_sources(tmp_path: Path) -> None:
    same = bundled_tables("2.13.0+cu130", str(tmp_path))
    assert (same.root, same.instead_of) == (str(tmp_path), "")
    other = bundled_tables("2.11.0", str(tmp_path))
    assert (other.root, other.instead_of) == (None, "2.11.0")
    entry = Knowledge(other).find("Pointwise")[0]
    assert "bundled table; torch 2.11.0 is installed" in to_markdown(entry, other)
