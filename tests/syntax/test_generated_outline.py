"""The parts of generated code, for outlines and folding."""

from __future__ import annotations

import pytest

from compile_lens.syntax.generated_outline import PartKind, folds_of, parts_of

CODE = """\
from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()

cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*'], r'''
extern "C"  void  kernel(const float* in_ptr0)
{
def inside_a_string():
}
''')


async_compile.wait(globals())

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        buf0 = empty_strided_cpu((8, 8), (8, 1),
)
        return (buf0, )

runner = Runner(partitions=[])
"""
LLVM = """\
source_filename = "LLVMDialectModule"
define void @triton_poi_fused_add_0(ptr addrspace(1) %0) !dbg !7 {
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""
PTX = """\
.version 8.7
.visible .entry triton_poi_fused_add_0(
\t.param .u64 .ptr .global .align 1 triton_poi_fused_add_0_param_0
)
.reqntid 128
{
\tret;
}
"""
MLIR = """\
module {
  tt.func public @triton_poi_fused_add_0(%in_ptr0: !tt.ptr<f32>) attributes {noinline = false} {
    tt.return
  }
}
"""
CPP = """\
#include <cmath>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
    {
        out_ptr0[0] = in_ptr0[0];
    }
}
"""
IR = """\
op0: SchedulerNode(ComputedBuffer)
op0.writes = [MemoryDep('buf0', c0, {c0: 64})]


op1_op2: FusedSchedulerNode(SchedulerNode,SchedulerNode)
op1_op2.writes = []
"""


def test_python_with_kernels_as_strings() -> None:
    found = [(part.name, part.kind, part.first_line, part.last_line, part.depth) for part in parts_of(CODE, "python")]
    assert found == [
        ("cpp_fused_add_0", PartKind.KERNEL, 4, 9, 0),
        ("Runner", PartKind.CLASS, 14, 21, 0),
        ("__init__", PartKind.FUNCTION, 15, 16, 1),
        ("call", PartKind.FUNCTION, 18, 21, 1),
    ]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("llvm", LLVM, [("triton_poi_fused_add_0", 2, 4)]),
        ("ptx", PTX, [("triton_poi_fused_add_0", 2, 8)]),
        ("mlir", MLIR, [("triton_poi_fused_add_0", 2, 4)]),
        ("cpp", CPP, [("kernel", 2, 8)]),
        ("plaintext", IR, [("op0", 1, 2), ("op1_op2", 5, 6)]),
    ],
)
def test_other_languages(language: str, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(part.name, part.first_line, part.last_line) for part in parts_of(text, language)] == expected
    folds = folds_of(text, language)
    assert {(first, last) for _, first, last in expected} <= set(folds)
    assert all(first < last for first, last in folds)


def test_guards_have_no_parts() -> None:
    assert parts_of("TREE_GUARD_MANAGER:\n+- RootGuardManager\n", "plaintext") == []
