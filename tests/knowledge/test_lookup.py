"""Finding things by the way users write them; no torch is needed."""

from __future__ import annotations

import pytest

from compile_lens.knowledge.curated import curated
from compile_lens.knowledge.entry import Kind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.search import search


@pytest.mark.parametrize(
    ("written", "kind", "name"),
    [
        ("TORCH_LOGS=fusion", Kind.LOG, "fusion"),
        ('TORCH_LOGS="+dynamo"', Kind.LOG, "dynamo"),
        ("graph_breaks", Kind.LOG, "graph_breaks"),
        ("TORCHINDUCTOR_MAX_AUTOTUNE", Kind.ENVIRONMENT, "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("TORCHINDUCTOR_MAX_AUTOTUNE=1", Kind.ENVIRONMENT, "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("TORCH_LOGS", Kind.ENVIRONMENT, "TORCH_LOGS"),
        ("torch._inductor.config.max_autotune", Kind.OPTION, "torch._inductor.config.max_autotune"),
        ("triton.cudagraphs", Kind.OPTION, "torch._inductor.config.triton.cudagraphs"),
        ("GB0059", Kind.CODE, "GB0059"),
        ("gb59", Kind.CODE, "GB0059"),
        ("aten.native_layer_norm", Kind.OPERATOR, "aten.native_layer_norm"),
        ("torch.ops.aten.relu.default", Kind.OPERATOR, "aten.relu.default"),
        ("aten::relu", Kind.OPERATOR, "aten.relu"),
        ("relu", Kind.OPS, "relu"),
        ("Pointwise", Kind.IR, "Pointwise"),
        ("ir.Pointwise", Kind.IR, "Pointwise"),
        ("ops.index_expr", Kind.OPS, "index_expr"),
        ("V.graph", Kind.VIRTUALIZED, "graph"),
        ("tl.load", Kind.TRITON, "tl.load"),
        ("triton.language.load", Kind.TRITON, "tl.load"),
        ("triton_helpers.max2", Kind.TRITON, "triton_helpers.max2"),
        ("XBLOCK", Kind.CODEGEN, "XBLOCK"),
        ("max-autotune", Kind.MODE, "max-autotune"),
        ("aot_eager", Kind.BACKEND, "aot_eager"),
        ("TensorVariable", Kind.VARIABLE, "TensorVariable"),
        ("TENSOR_MATCH", Kind.GUARD, "TENSOR_MATCH"),
        ("call_function", Kind.FX, "call_function"),
        ("ir_post_fusion.txt", Kind.FILE, "ir_post_fusion.txt"),
        ("inductor/lowerings", Kind.BISECT, "inductor/lowerings"),
        ("pipeline", Kind.STAGE, "pipeline"),
        ("torch.compiler.disable", Kind.FUNCTION, "torch.compiler.disable"),
        ("torch._dynamo.mark_dynamic", Kind.FUNCTION, "torch._dynamo.mark_dynamic"),
    ],
)
def test_found_as_it_is_written(bundled: Knowledge, written: str, kind: Kind, name: str) -> None:
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
    if near in bundled.names(Kind.CODE) or not near.startswith("GB"):
        assert near in nearest


def test_search(bundled: Knowledge) -> None:
    assert "TORCH_LOGS=fusion" in [entry.full_name for entry in search(bundled, "fusion")]
    assert not search(bundled, "nothing-has-this-in-it")


def test_every_text_of_ours_is_of_something(bundled: Knowledge) -> None:
    """A text whose name no release has would never be shown."""
    lost = {
        kind.value: [name for name in curated(kind) if not (bundled.knows(kind, name) or bundled.past.seen(kind, name))]
        for kind in Kind
        if kind is not Kind.ENVIRONMENT
    }
    assert not {kind: names for kind, names in lost.items() if names}


def test_variables_are_found_in_the_source(bundled: Knowledge) -> None:
    """Texts of ours are written for some variables; none is in the list for that reason alone."""
    table = bundled.tables.table(Kind.ENVIRONMENT)
    by_option = {name for row in bundled.tables.table(Kind.OPTION).values() for name in row.get("env", ())}
    assert not [name for name in curated(Kind.ENVIRONMENT) if name not in table and name not in by_option]


@pytest.mark.parametrize("kind", list(Kind))
def test_related_names_exist(bundled: Knowledge, kind: Kind) -> None:
    missing = [
        f"{name} → {other}" for name, text in curated(kind).items() for other in text.related if not bundled.find(other)
    ]
    assert not missing


# names without a text of ours or of torch's; what is said of them is facts alone (signature, place, level, library)
WITHOUT_TEXT = {
    Kind.ENVIRONMENT: 31,  # C++ reads them, whose source no wheel has
    Kind.OPTION: 0,
    Kind.VARIABLE: 0,
    Kind.FUNCTION: 44,
    Kind.OPERATOR: 1277,
    Kind.TRITON: 24,
    Kind.ARTIFACT: 53,
    Kind.BISECT: 1,
}


@pytest.mark.parametrize("kind", list(Kind))
def test_how_many_names_have_facts_alone(bundled: Knowledge, kind: Kind) -> None:
    entries = {name: bundled.get(kind, name) for name in bundled.names(kind)}
    without = [name for name, entry in entries.items() if entry is None or not entry.has_meaning]
    assert len(without) <= WITHOUT_TEXT.get(kind, 0), without


def test_a_variable_that_sets_an_option_says_what_the_option_does(bundled: Knowledge) -> None:
    entry = bundled.get(Kind.ENVIRONMENT, "TORCHINDUCTOR_INPLACE_PADDING")
    assert entry is not None and entry.ours.startswith("Sets `torch._inductor.config.inplace_padding`. Pads a matrix ")


def test_a_text_may_be_of_several_names(bundled: Knowledge) -> None:
    shapes = [
        bundled.get(Kind.OPTION, f"torch._inductor.config.{device}.compile_opt_level") for device in ("cuda", "xpu")
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
    entry = bundled.get(Kind.OPERATOR, name)
    assert entry is not None
    (told,) = [value for label, value in entry.facts if label == "Becomes"]
    assert told.startswith(becomes) and told.endswith("(traced on CPU with torch 2.13.0)")


def test_an_operator_that_stays_itself_becomes_nothing_else(bundled: Knowledge) -> None:
    entry = bundled.get(Kind.OPERATOR, "aten.mul.Tensor")
    assert entry is not None and "Becomes" not in dict(entry.facts)
