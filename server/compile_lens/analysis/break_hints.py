"""Corrects torch's hints about graph breaks: settings under a wrong name, and those that only move the break."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import SourceTree, ancestors, nodes_of
from compile_lens.trace.report import BreakReason, StackFrame

# "Set torch._dynamo.trace_autograd_ops=True" (torch/_dynamo/variables/tensor.py, torch 2.11 to 2.13): that is no setting
MISPLACED = pattern(
    r"`?\btorch\._(?P<part>dynamo|inductor|functorch)\.(?!config\b)(?P<name>\w+)\s*=\s*(?P<value>\w+)`?"
)
SETTING = pattern(r"torch\._(?:dynamo|functorch|inductor)\.config\.\w+\s*=\s*\w+")
# the operators behind `.item()` and outputs of unknown size
SCALAR, SHAPE = "capture_scalar_outputs", "capture_dynamic_output_shape_ops"
# what it is asked of the user to do with a function
CALLED = pattern(r"^\s*(?:Avoid calling|Apply `@torch\._dynamo\.dont_skip_tracing` to)[^`]*`(?P<name>[\w.]+)")
# its forward pass is Python that synchronizes, and Dynamo does not trace it
WRAPPER = pattern(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$")
# what it calls may be traced as a frame of its own, whose stack does not lead through that file
OF_WRAPPER = "`DistributedDataParallel._inside_ddp_forward`"
# a break that a call of `torch._dynamo.graph_break` asks for, which may be in a library
REQUESTED = "Call to `torch._dynamo.graph_break()`"
# torch/optim/optimizer.py, `_use_grad_for_differentiable`
OPTIMIZER = pattern(r"[/\\]torch[/\\]optim[/\\]\w+\.py$")
STEP_HINT = (
    "torch breaks here on purpose, so that the optimizer's step is a graph of its own, without gradients: nothing needs to change. "
    "For one graph (`fullgraph=True`), call it outside of the compiled function."
)
LIBRARY_HINT = (
    "The call is in `{name}`, in an installed library: nothing needs to change. "
    "For one graph, call that outside of the compiled function."
)
# that torch does not trace it is known
ISSUE = pattern(r"(?:file|report) an issue")
INSIDE_WRAPPER = "Compile the module before it is wrapped: `DistributedDataParallel(torch.compile(module))`."
RANDOM_NUMBER = (
    "No setting avoids it: draw the NumPy random number outside of the compiled function, and pass it in as a tensor."
)
LOOP = "No setting avoids it: a loop needs the number of values at compile time. Compute with the whole tensor, or loop outside."
LEAVE_LOOP_HINT = (
    "Compile the body of the loop as a function of its own, and decide outside of it whether to call it again:"
    " the loop then runs in eager."
)
# calls that only pass on what is iterated
PASSED_ON = frozenset({"enumerate", "zip", "reversed", "list", "tuple", "sorted", "range", "len"})
LOOPS = frozenset({"for_statement", "for_in_clause"})
LEAVES_LOOP = frozenset({"break_statement", "return_statement"})


def hints_of(
    reason: BreakReason, place: Place, sources: Sources, stack: tuple[StackFrame, ...] = ()
) -> tuple[str, ...]:
    """torch's hints with what is wrong in them put right, without those about functions that the user does not call."""
    if reason.title.startswith(REQUESTED) and stack and not sources.is_own(stack[-1].file):
        is_step = OPTIMIZER.search(stack[-1].file) is not None
        return (STEP_HINT if is_step else LIBRARY_HINT.format(name=stack[-1].name),)
    hints = [hint for hint in reason.hints if not _is_about_internals(hint, place, sources, stack)]
    if OF_WRAPPER in reason.explanation or any(WRAPPER.search(frame.file) for frame in stack):
        hints = [INSIDE_WRAPPER, *(hint for hint in hints if not ISSUE.search(hint))]
    if _may_leave_loop(place, sources):
        return (LEAVE_LOOP_HINT, *dict.fromkeys(map(corrected, hints)))
    instead = instead_of_setting(reason, place, sources)
    if instead:
        return (instead, *(hint for hint in hints if not SETTING.search(hint)))
    return tuple(dict.fromkeys(map(corrected, hints)))


def _may_leave_loop(place: Place, sources: Sources) -> bool:
    """Whether ``place`` is in the condition by which a loop is left, so that a tensor's data decides how often it runs."""
    tree = sources.tree_of(place.file)
    if tree is None:
        return False
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    inner = tree.root.named_descendant_for_byte_range(start, end)
    leaves = False
    for node in ancestors(inner) if inner is not None else ():
        if node.type in ("function_definition", "lambda"):
            return False
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        is_condition = condition is not None and condition.start_byte <= start < condition.end_byte
        if node.type == "if_statement" and is_condition and body is not None:
            leaves = leaves or any(each.type in LEAVES_LOOP for each in body.named_children)
        if node.type in ("for_statement", "while_statement"):
            return leaves or is_condition
    return False


def _is_about_internals(hint: str, place: Place, sources: Sources, stack: tuple[StackFrame, ...]) -> bool:
    """Whether ``hint`` asks the user to change how torch or a library calls a function: it names one that the line does not."""
    named = CALLED.search(hint)
    if named is None or not stack or sources.is_own(stack[-1].file):
        return False
    name = named["name"].rpartition(".")[2]
    own = sources.deepest_own(stack)
    tree = sources.tree_of(place.file)
    text = own.text if own is not None else ""
    text += tree.line_text(place.line) if tree is not None else ""
    return not re.search(rf"\b{re.escape(name)}\b", text)


def corrected(hint: str) -> str:
    """``hint`` with each setting under the name that it has."""
    match = MISPLACED.search(hint)
    if match is None:
        return hint
    part, name, value = match["part"], match["name"], match["value"]
    right = f"`torch._{part}.config.{name} = {value}`"
    return f"{MISPLACED.sub(right, hint).rstrip('.')}. (torch's own text names `torch._{part}.{name}`, which has no effect.)"


def instead_of_setting(reason: BreakReason, place: Place, sources: Sources) -> str:
    """What to do where the setting that torch names only moves the break; '' where it helps, or torch names none."""
    tree = sources.tree_of(place.file)
    named = "\n".join(hint for hint in reason.hints if SETTING.search(hint))
    if tree is None or not named:
        return ""
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    node = tree.root.named_descendant_for_byte_range(start, end)
    if node is None:
        return ""
    if SCALAR in named and any(_is_random_number(tree, call) for call in nodes_of(node, "call")):
        return RANDOM_NUMBER
    return LOOP if SHAPE in named and _is_iterated(tree, node) else ""


def _is_random_number(tree: SourceTree, call: tree_sitter.Node) -> bool:
    function = call.child_by_field_name("function")
    name = read_imports(tree).resolve(tree.node_text(function)) if function is not None else None
    return name is not None and name.startswith("numpy.random.")


def _is_iterated(tree: SourceTree, node: tree_sitter.Node) -> bool:
    """Whether a loop goes over the value of ``node``, at once or through the variable that it is assigned to."""
    for inner in ancestors(node):
        parent = inner.parent
        if parent is None:
            return False
        if parent.type in LOOPS:
            return parent.child_by_field_name("right") == inner
        if parent.type == "assignment" and parent.child_by_field_name("right") == inner:
            target = parent.child_by_field_name("left")
            return (
                target is not None
                and target.type == "identifier"
                and _has_loop_over(tree, parent, tree.node_text(target))
            )
        if parent.type not in ("call", "argument_list", "parenthesized_expression") or not _passes_on(tree, parent):
            return False
    return False


def _passes_on(tree: SourceTree, node: tree_sitter.Node) -> bool:
    function = node.child_by_field_name("function") if node.type == "call" else None
    return node.type != "call" or (function is not None and tree.node_text(function) in PASSED_ON)


def _has_loop_over(tree: SourceTree, assignment: tree_sitter.Node, name: str) -> bool:
    function = next((node for node in ancestors(assignment) if node.type in ("function_definition", "module")), None)
    return function is not None and any(_goes_over(tree, loop, name) for loop in _loops(function))


def _loops(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type in LOOPS:
        yield node
    for child in node.named_children:
        yield from _loops(child)


def _goes_over(tree: SourceTree, loop: tree_sitter.Node, name: str) -> bool:
    right = loop.child_by_field_name("right")
    while right is not None and right.type == "call" and _passes_on(tree, right):
        arguments = right.child_by_field_name("arguments")
        inner = [node for node in arguments.named_children if node.type != "comment"] if arguments is not None else []
        if any(tree.node_text(node) == name for node in inner):
            return True
        right = inner[0] if inner else None
    return right is not None and tree.node_text(right) == name
