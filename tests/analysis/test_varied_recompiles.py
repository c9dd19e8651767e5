"""What a call in another way recompiles and breaks is all told: each function with each of its causes, each break at its line."""

from __future__ import annotations

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.variations import find_variations
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import (
    BreakReason,
    Compilation,
    CompileReport,
    GraphBreak,
    GuardFailure,
    Recompile,
    ResumeOf,
    StackFrame,
    Variation,
    VariationEffect,
    VariedCall,
)

FILE = "/p/model.py"
TEXT = """\
class Net:
    def forward(self, x):
        y = self.first(x) if self.training else x
        print(y)
        return self.drop(y) if self.training else y

    def first(self, x):
        return x * self.rate if self.part.training else x
"""


def recompiled(number: int, name: str, line: int, guard: str, at: int, resumes: int = 0) -> Compilation:
    failure = GuardFailure(f"{number}/0", guard, file_tail="model.py", line=at)
    resume_of = ResumeOf(name, resumes) if resumes else None
    return Compilation(f"{number}/1", name, FILE, line, resume_of, recompile=Recompile(f"{number}/1", (failure,)))


def broken(line: int) -> Compilation:
    frame = StackFrame(FILE, line, "forward")
    reason = BreakReason("Call to `torch._dynamo.graph_break()`", "", (), "", "GB0025", None, False, "")
    found = GraphBreak("4/0", 0, reason, FILE, line, (frame,), "")
    return Compilation("4/0", "forward", FILE, 2, breaks=(found,))


def variation(kind: str, phrase: str, *calls: tuple[Compilation, ...]) -> Variation:
    varied = tuple(VariedCall(CompileReport(compilations=each), CompileReport()) for each in calls)
    return Variation(0, "Net", kind, phrase, VariationEffect.CALLED, calls=varied, is_usual=True)


def found_in(kind: str, *calls: tuple[Compilation, ...]) -> list[Finding]:
    return found_with(variation(kind, "the same inputs again", *calls))


def found_with(*variations: Variation) -> list[Finding]:
    tree = parse(TEXT)
    report = CompileReport(variations=variations)
    context = RunContext(
        report, Sources(FILE, lambda file: tree if file == FILE else None), RegionIndex(report, FILE, tree)
    )
    return list(find_variations(context))


def test_every_function_that_recompiles_is_named_with_its_cause() -> None:
    (finding,) = found_in(
        "mode",
        (
            recompiled(0, "forward", 2, "L['self'].training == True", 3),
            recompiled(1, "first", 7, "L['self'].part.training == True", 8),
            recompiled(2, "forward", 2, "L['self'].training == True", 5, resumes=4),
        ),
        (recompiled(3, "first", 7, "L['self'].rate == 0.5", 8),),
    )
    assert finding.message == (
        "With the same inputs again, `Net` would recompile: `self.training` changed (was True); so does `self.part.training`."
    )
    assert finding.explanation.splitlines()[-5:] == [
        "All that recompiles:",
        "`forward` at model.py:3: `self.training` changed (was True)",
        "`first` at model.py:8: `self.part.training` changed (was True)",
        "the rest of `forward` after line 4 at model.py:3: `self.training` changed (was True)",
        "`first` at model.py:8: `self.rate` changed (was 0.5)",
    ]


def test_one_recompile_is_told_once() -> None:
    (finding,) = found_in("same", (recompiled(0, "forward", 2, "L['self'].training == True", 3),))
    assert finding.explanation == ""


def test_each_break_is_told_at_its_own_line() -> None:
    findings = found_in("same", (broken(4), broken(8), broken(4)))
    assert [(finding.code, finding.place.line) for finding in findings] == [("would-break", 4), ("would-break", 8)]
    assert all(
        finding.message.startswith("With the same inputs again, `Net` would break here: ") for finding in findings
    )


def test_arguments_together_are_told_what_none_of_them_does_alone() -> None:
    mask = recompiled(0, "forward", 2, "L['mask'] is None", 3)
    both = recompiled(1, "first", 7, "L['self'].rate == 0.5", 8)
    findings = found_with(
        variation("argument", "`mask=a`", (mask, broken(4))),
        variation("arguments-together", "`mask=a` and `bias=b`", (mask, both, broken(4))),
    )
    assert [(finding.code, finding.message.partition(",")[0]) for finding in findings] == [
        ("would-break", "With `mask=a`"),
        ("would-recompile", "With `mask=a`"),
        ("would-recompile", "With `mask=a` and `bias=b`"),
    ]
    assert "`self.rate` changed" in findings[-1].message
