"""What passes took and changed: in a run that notes them, and in a trace that has the graphs around a phase and torch's events."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.graph_changes import changes_between
from compile_lens.stages.model import Graph, PassPhase, PhaseKind, StageKind
from compile_lens.stages.opened import read_stages
from compile_lens.stages.passes import changes_of, name_of
from compile_lens.trace.files import trace_files

DATA = Path(__file__).parent.parent / "data"
PROGRAM = "/cluster/job/passes.py"
SOURCE = (DATA / "stages" / "passes.py").read_text().split("\n")


@cache
def noted() -> OpenedStages:
    return read_stages(DATA / "stages" / "passes_2.13.log.gz")


@cache
def recorded() -> OpenedStages:
    (trace,) = trace_files(DATA / "h200-single")
    return read_stages(trace)


def graph(stages: OpenedStages, name: str) -> Graph:
    found = stages.graph(name)
    assert found is not None
    return found


def phase(of: Graph, kind: PhaseKind) -> PassPhase:
    return next(phase for phase in of.phases if phase.kind is kind)


def test_each_pass_has_its_time_and_what_it_changed() -> None:
    joint = phase(graph(noted(), "0_0/forward"), PhaseKind.JOINT)
    changed = {name_of(one): changes_of(one) for one in joint.passes if one.is_changed}
    assert list(changed) == [
        "joint.remove_noop_ops",
        "joint.constant_fold_uniform_value",
        "joint.pattern_matcher",
        "joint.fuse_seed_creation_pass",
    ]
    random = changed["joint.pattern_matcher"]
    assert random is not None and random.removed == ("rand",)
    assert random.added == ("inductor_seed_default", "inductor_random_default")
    assert all(one.seconds is not None and one.seconds >= 0 for one in joint.passes)
    assert sum(one.seconds or 0 for one in joint.passes if one.depth == 0) <= (joint.seconds or 0)
    whole = changes_of(joint)
    assert whole is not None and "rand" in whole.removed and "inductor_random_default" in whole.added
    # what comes between is nobody's: each pass begins with the graph that the one before has left
    texts = [one for one in joint.passes if one.after is not None]
    for one, other in pairwise(texts):
        assert one.after is not None and other.before is not None and one.after.text() == other.before.text()


def test_the_document_of_a_pass_leads_to_the_source() -> None:
    of = graph(noted(), "0_0/forward")
    stages = [stage for stage in of.stages if stage.kind is StageKind.PASS]
    assert [stage.id.partition("/pass/")[2] for stage in stages][:2] == ["joint", "joint.00.remove_noop_ops"]
    stage = noted().stage("0_0/forward/pass/joint.00.remove_noop_ops")
    assert stage is not None and stage.language == "diff"
    lines = stage.text.split("\n")
    gone = [number for number, line in enumerate(lines, 1) if line.startswith("-") and "aten.clone" in line]
    assert gone
    links = noted().links_of(stage)
    for number in gone:
        ((place,),) = [links.sources[number]]
        assert place.file == PROGRAM and SOURCE[place.line - 1].startswith("    ")
        assert number in noted().lines_at(stage, PROGRAM, place.line)


def test_a_graph_in_the_graph_has_its_passes() -> None:
    of = graph(noted(), "1_0/inference")
    for each in of.phases:
        assert len({one.inner for one in each.passes}) == 3, each.kind
    assert not any(one.is_changed for each in of.phases for one in each.passes if one.phase is PhaseKind.PRE_GRAD)


def test_a_trace_without_notes_has_times_and_the_changes_of_phases() -> None:
    of = graph(recorded(), "1_0/forward")
    after = phase(of, PhaseKind.POST_GRAD)
    changes = changes_of(after)
    assert changes is not None and changes.added == ("mm_default", "add_tensor") and changes.removed == ("addmm_1",)
    assert after.seconds is not None and 0.06 < after.seconds < 0.07
    names = [one.name for one in after.passes]
    assert "stable_sort" in names and "remove_noop_ops" in names
    assert all(one.is_changed is None and changes_of(one) is None and one.seconds is not None for one in after.passes)


def test_each_graph_of_a_frame_has_its_own_events() -> None:
    forward, backward = (graph(recorded(), f"1_0/{name}") for name in ("forward", "backward"))
    assert forward.times["_recursive_post_grad_passes"] > backward.times["_recursive_post_grad_passes"] > 0
    assert "bytecode_tracing" in forward.times and "bytecode_tracing" not in backward.times
    assert "entire_backward_compile" in backward.times and "entire_backward_compile" not in forward.times
    # a phase of a graph inside of the graph is a part of that of the graph
    inner = graph(noted(), "1_0/inference")
    assert phase(inner, PhaseKind.JOINT).seconds is not None
    assert inner.times["_recursive_joint_graph_passes"] < inner.times["_recursive_post_grad_passes"]


BEFORE = """\
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4]"):
         # File: /a.py:1 in f, code: y = x + 1
        add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1)

         # File: /a.py:2 in f, code: z = y.clone()
        clone: "f32[4]" = torch.ops.aten.clone.default(add);  add = None
        sin: "f32[4]" = torch.ops.aten.sin.default(x);  x = None
        cos: "f32[4]" = torch.ops.aten.cos.default(clone);  clone = None
        return (cos, sin)
"""


def test_only_what_a_pass_did_is_in_the_diff() -> None:
    """The comments and the values that a line frees move when a neighbor goes."""
    after = BEFORE.replace('        clone: "f32[4]" = torch.ops.aten.clone.default(add);  add = None\n', "")
    after = after.replace("cos.default(clone);  clone = None", "cos.default(add);  add = None")
    changes = changes_between(BEFORE, after)
    assert (changes.added, changes.removed, changes.changed, changes.is_reordered) == ((), ("clone",), ("cos",), False)
    signs = [line for line in changes.text.split("\n") if line[:1] in "+-"]
    assert len(signs) == 4 and "  cos: " in signs[1] and "  cos: " in signs[2] and not signs[3]
    same = changes_between(BEFORE, BEFORE.replace(";  x = None", ""))
    assert same.is_empty and not same.changed


def test_nodes_that_change_places_are_told() -> None:
    lines = BEFORE.split("\n")
    lines[3], lines[6] = lines[7], lines[3]
    changes = changes_between(BEFORE, "\n".join([*lines[:7], BEFORE.split("\n")[6], *lines[8:]]))
    assert changes.is_reordered and not changes.added and not changes.removed
