"""Values of options that real traces tell, and what they are beside their defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.run_values import with_run_value
from compile_lens.trace.builder import read_report
from compile_lens.trace.files import trace_files
from compile_lens.trace.option_values import OptionRecords, OptionValues

DATA = Path(__file__).parent.parent / "data"


def recorded(*metrics: dict[str, object]) -> OptionValues:
    """As if compilations 0/0, 1/0, … had ended with these metrics."""
    records = OptionRecords()
    for number, fields in enumerate(metrics):
        records.take(f"{number}/0", fields)
    return records.found()


def told(values: OptionValues, name: str, kind: KnowledgeKind = KnowledgeKind.OPTION) -> list[tuple[str, str]]:
    knowledge = Knowledge()
    entry = knowledge.get(kind, name)
    assert entry is not None
    facts = with_run_value(entry, knowledge, values).facts
    return list(facts[: len(facts) - len(entry.facts)])


@pytest.mark.parametrize("folder", ["h200-single", "h200-ddp"])
def test_what_a_trace_of_a_gpu_run_tells(folder: str) -> None:
    for file in trace_files(DATA / folder):
        values = read_report(file).options
        assert [one.value for one in values.of("torch._dynamo.config.recompile_limit")] == [8]
        assert [one.value for one in values.of("torch._inductor.config.triton.cudagraphs")] == [False]
        assert told(values, "torch._dynamo.config.recompile_limit") == [
            ("In the last run of this file", "`8` (the default)")
        ]
        # dynamo leaves it out of what it records, and there is no such option
        assert values.of("torch._dynamo.config.debug_dir_root") == ()
        assert values.of("torch._dynamo.config.no_such_option") == ()


def test_a_value_that_changes_is_told_with_the_compilation_from_which_it_holds() -> None:
    values = recorded(*({"dynamo_config": json.dumps({"recompile_limit": limit})} for limit in (8, 8, 2, 64)))
    assert told(values, "torch._dynamo.config.recompile_limit") == [
        (
            "In the last run of this file",
            "`8` since compilation `0/0`, then `2` since compilation `2/0`, then `64` since compilation `3/0` (default `8`)",
        )
    ]
    # a former name is another name of the same value
    assert told(values, "torch._dynamo.config.cache_size_limit")[0][1].startswith("`8` since")


def test_false_is_not_zero_and_a_set_is_the_list_that_json_made_of_it() -> None:
    values = recorded(
        {"inductor_config": json.dumps({"max_autotune": 0, "profiler_mark_wrapper_call": False})},
        {"inductor_config": json.dumps({"max_autotune": False, "profiler_mark_wrapper_call": False})},
    )
    assert [one.value for one in values.of("torch._inductor.config.max_autotune")] == [0, False]
    ((_, text),) = told(values, "torch._inductor.config.profiler_mark_wrapper_call")
    assert text.startswith("`False` (the default); ")
    listed = recorded({"dynamo_config": json.dumps({"skipfiles_inline_module_allowlist": []})})
    entry = Knowledge().get(KnowledgeKind.OPTION, "torch._dynamo.config.skipfiles_inline_module_allowlist")
    assert entry is not None and ("In the last run of this file", "`[]`") in [
        (label, text.partition(" (")[0]) for label, text in with_run_value(entry, Knowledge(), listed).facts
    ]


def test_a_variable_tells_the_options_that_it_sets() -> None:
    values = recorded({"inductor_config": json.dumps({"max_autotune": True})})
    ((label, text),) = told(values, "TORCHINDUCTOR_MAX_AUTOTUNE", KnowledgeKind.ENVIRONMENT)
    assert label == "`torch._inductor.config.max_autotune` in the last run of this file"
    assert text.startswith("`True` (default `False`); ")


@pytest.mark.parametrize(
    "text", ["Inductor Config cannot be pickled", "[]", '{"max_autotune": "Value is not JSON serializable"}']
)
def test_what_torch_could_not_write_is_not_told(text: str) -> None:
    assert told(recorded({"inductor_config": text}), "torch._inductor.config.max_autotune") == []


def test_what_is_no_option_stays_as_it_is() -> None:
    entry = KnowledgeEntry(KnowledgeKind.LOG, "graph_breaks")
    assert with_run_value(entry, Knowledge(), recorded()) is entry
