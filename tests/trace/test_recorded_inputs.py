"""What a trace says of arguments becomes text that is run later: a name of a dtype is a name, whatever the trace says."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import TraceBytes, iterate

START = "V1122 12:00:00.000000 1 torch/_logging/structured.py:19] "


def tensors_of(dtype: str, size: Sequence[object] = (2,), stride: Sequence[object] = (1,)) -> list[str]:
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    tensor = {"id": 0, "describer_id": 0, "ndim": 1, "dtype": dtype, "device": "cpu", "size": size, "stride": stride}
    source = {"describer_id": 0, "id": 0, "source": "L['x']"}
    records = [{"describe_tensor": tensor, **ids}, {"describe_source": source, **ids}]
    builder = ReportBuilder()
    for record in iterate(
        TraceBytes("".join(f"{START}{json.dumps(record)}\n" for record in records).encode()), frozenset()
    ):
        builder.add(record)
    return [tensor.dtype for inputs in builder.report().inputs for _, tensor in inputs.tensors]


@pytest.mark.parametrize(
    "dtype", ["__import__('os').system('id') or float32", "float32[0] or f()", "", "__class__", "a.b", "\n"]
)
def test_what_is_no_name_of_a_dtype_is_left_out(dtype: str) -> None:
    assert tensors_of(dtype) == []
    assert tensors_of("torch.float32") == ["float32"]


@pytest.mark.parametrize(
    ("size", "stride"), [((2,), (1, 1)), ((2, 2), (1,)), (("2",), (1,)), ((True,), (1,)), ((), (1,))]
)
def test_a_shape_that_is_none_is_left_out(size: Sequence[object], stride: Sequence[object]) -> None:
    assert tensors_of("torch.float32", size, stride) == []
    assert tensors_of("torch.float32", (2, 2), ()) == ["float32"]
