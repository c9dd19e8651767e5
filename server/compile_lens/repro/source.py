"""Writes *source* repros: the user's own function or module, what it needs from its files, and its rebuilt inputs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from tokenize import OP, generate_tokens
from typing import Any

from compile_lens.repro.capture import CapturedCall, CapturedRegion
from compile_lens.repro.contract import Criterion
from compile_lens.repro.expectation import Expectation
from compile_lens.repro.expressions import CannotWrite, Expressions
from compile_lens.repro.harness import WITH_RECORDS, harness, imports
from compile_lens.repro.slices import own_source, own_values
from compile_lens.repro.templates import render

RULE = "# ---- {} " + 60 * "-"
COMPILED, JUDGED = "what is compiled", "how it is judged"
# options of torch.compile that a repro sets itself
NOT_OPTIONS = ("backend", "disable")


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a repro below its header, in three parts, and notes for the header.

    ``saved`` names the values that it loads from its folder. ``backward``: the program computes gradients; ``changes``: it changes
    state between calls; ``modes`` are the context managers of its calls.
    """

    imports: str
    subject: str
    judge: str
    notes: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    backward: bool = False
    changes: bool = False
    modes: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        """The text."""
        rule = RULE.format(JUDGED)
        return f"{self.imports}\n{RULE.format(COMPILED)}\n\n{self.subject}\n\n\n{rule}\n\n{self.judge}"


def write_source(
    region: CapturedRegion,
    calls: tuple[CapturedCall, ...],
    expected: Expectation,
    replacement_device: str = "",
    data_folder: str = "",
) -> Script:
    """The script for ``calls`` of ``region``. Raises CannotWrite with one sentence."""
    if not calls:
        raise CannotWrite("The run never called the region, so there are no inputs to rebuild.")
    expressions = Expressions(replacement_device)
    source = own_source(region, expressions)
    backend = _backend(region, expressions, expected.criterion)
    make_target = _make_target(region, calls[0], expressions)
    make_calls = _make_calls(calls, expressions)
    before_call = _before_call(region, calls)
    options = _options(region, expressions)
    notes = [*source.notes, *_notes(region, expressions)]
    foreign = sorted(expressions.devices - {"cpu", "meta"})
    if replacement_device and foreign:
        notes.append(f"Written for {', '.join(foreign)}, which is not available: moved to {replacement_device}.")
    modes = tuple(_modes(region.state))
    judge = harness(expected.criterion, expected.constants, region.runs_backward, modes, bool(before_call))
    names = {name for name in expressions.imports if name.partition(".")[0] != "torch"}
    deep = sorted(name for name in expressions.imports if name.startswith("torch."))
    subject = render(
        "source",
        settings=_settings(region, expected.criterion),
        definitions="\n\n\n".join([*([source.text] if source.text else []), *_helpers(expressions, data_folder)]),
        options=options,
        backend=backend,
        make_target=make_target,
        make_calls=make_calls,
        before_call=before_call,
    )
    return Script(
        imports=import_lines(imports(expected.criterion) | names, source.future, deep),
        subject=subject.lstrip("\n"),
        judge=judge,
        notes=tuple(notes),
        saved=tuple(expressions.saved),
        backward=region.runs_backward,
        changes=bool(before_call),
        modes=modes,
    )


def import_lines(names: set[str], future: bool = False, deep: Iterable[str] = ()) -> str:
    """The imports of a script: modules of the standard library and others, then torch."""
    return render("imports", modules=sorted(names), future=future, uses_path=True, torch_modules=deep) + "\n"


def _helpers(expressions: Expressions, data_folder: str) -> Iterator[str]:
    if expressions.uses_rebuilt:
        yield render("rebuilt")
    if expressions.saved:
        yield render("saved", folder=repr(data_folder))


def _settings(region: CapturedRegion, criterion: Criterion) -> list[str]:
    lines = []
    state = region.state
    if state["default_dtype"] != "torch.float32":
        lines.append(f"torch.set_default_dtype({state['default_dtype']})")
    if state["matmul_precision"] != "highest":
        lines.append(f"torch.set_float32_matmul_precision({state['matmul_precision']!r})")
    if state["deterministic"]:
        lines.append("torch.use_deterministic_algorithms(True)")
    lines += region.config
    if region.uses_random and criterion in (Criterion.ANY, Criterion.DIFFERS):
        lines.append(
            "torch._inductor.config.fallback_random = True  # the random numbers of eager: others would be no difference"
        )
    return lines


def _modes(state: Any) -> Iterator[str]:
    if state["inference"]:
        yield "torch.inference_mode()"
    elif not state["grad"]:
        yield "torch.no_grad()"
    for device, dtype in state["autocast"]:
        yield f"torch.autocast({device!r}, {dtype})"


def _options(region: CapturedRegion, expressions: Expressions) -> str:
    expressions.begin()
    kept = {
        name: value for name, value in region.options.items() if name not in NOT_OPTIONS and value not in (None, False)
    }
    if region.options.get("dynamic") is False:
        kept["dynamic"] = False
    return f"{{{', '.join(f'{name!r}: {expressions.write(value)}' for name, value in kept.items())}}}"


def _backend(region: CapturedRegion, expressions: Expressions, criterion: Criterion) -> str:
    """The program's own backend, or ``eager`` for what Dynamo decides alone, which saves the time of the C++ compiler."""
    expressions.begin()
    own = region.options.get("backend") or "inductor"
    if own == "inductor" and criterion in WITH_RECORDS:
        return '"eager"  # Dynamo decides this before a backend is asked'
    return expressions.write(own)


def _make_target(region: CapturedRegion, first: CapturedCall, expressions: Expressions) -> str:
    """``make_target``: builds the modules and values that may change, and returns what is compiled."""
    values = own_values(region, first)
    expressions.begin(region.target, *(value for _, value in values))
    lines = ["torch.manual_seed(0)"]
    for name, value in values:
        text = expressions.write(value)
        lines += expressions.statements()
        expressions.statements().clear()
        lines.append(f"{name} = {text}")
    target = expressions.write(region.target)
    lines += expressions.statements()
    lines.append(f"return {target}")
    if values:
        lines.insert(0, f"global {', '.join(name for name, _ in values)}")
    if lines[0] == "torch.manual_seed(0)" and len(lines) == 2 and "(" not in lines[1]:
        lines = lines[1:]
    return "\n".join(lines)


def _make_calls(calls: tuple[CapturedCall, ...], expressions: Expressions) -> str:
    lines = ["torch.manual_seed(0)", "calls = []"]
    plain = True
    for call in calls:
        expressions.begin([list(call.args), dict(call.kwargs)])
        args = [expressions.write(value) for value in call.args]
        kwargs = [f"{name!r}: {expressions.write(value)}" for name, value in call.kwargs.items()]
        plain = plain and not expressions.statements()
        lines += expressions.statements()
        lines.append(f"calls.append((({', '.join(args)}{',' if len(args) == 1 else ''}), {{{', '.join(kwargs)}}}))")
    lines.append("return calls")
    if plain:
        made = [f"{line.removeprefix('calls.append(').removesuffix(')')}," for line in _wrapped(lines[2:-1])]
        lines = [lines[0], "return [", *(textwrap.indent(line, "    ") for line in made), "]"]
    else:
        lines = list(_wrapped(lines))
    return "\n".join(lines)


def _wrapped(lines: list[str]) -> Iterator[str]:
    """Split long calls into one argument per line."""
    for line in lines:
        yield line if len(line) <= 116 else _broken(line)


def _broken(line: str) -> str:
    """One argument per line; a comma within a text is none between arguments."""
    begin = "calls.append("
    if not line.startswith(f"{begin}(("):
        return line
    depth, cuts = 0, [len(begin)]
    for token in generate_tokens(StringIO(line).readline):
        if token.type != OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        elif token.string == "," and depth <= 3:
            cuts.append(token.end[1])
    parts = [line[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(line)], strict=True)]
    return begin + "\n ".join(parts)


def _before_call(region: CapturedRegion, calls: tuple[CapturedCall, ...]) -> str:
    """``before_call``: repeats what the program changed between calls: globals, and plain attributes of modules."""
    lines: list[str] = []
    names: set[str] = set()
    before = calls[0]
    for number, call in enumerate(calls[1:], 2):
        changed = [(name, value) for name, value in call.globals.items() if before.globals.get(name, value) != value]
        names |= {name for name, _ in changed}
        body = [f"{name} = {value!r}" for name, value in changed]
        owner = "target.__self__" if region.target["is"] == "attribute" else "target"
        for path, value in call.attributes.items():
            if path in before.attributes and before.attributes[path] != value:
                module, _, attribute = path.rpartition(".")
                holder = f"{owner}.get_submodule({module!r})" if module else owner
                body.append(f"{holder}.{attribute} = {value!r}")
        if body:
            lines += [f"if number == {number}:", *(f"    {line}" for line in body)]
        before = replace(
            call, globals={**before.globals, **call.globals}, attributes=call.attributes or before.attributes
        )
    if not lines:
        return ""
    if names:
        lines.insert(0, f"global {', '.join(sorted(names))}")
    return "\n".join(lines)


def _notes(region: CapturedRegion, expressions: Expressions) -> Iterator[str]:
    if region.uses_random:
        yield "The code uses random numbers; each call starts from the same seed."
    if "module" in (region.target["is"], region.target.get("of", {}).get("is")) and not expressions.saved:
        yield "Weights are initialized by the constructor after torch.manual_seed(0); they are not those of the run."
    if region.left_out:
        names = ", ".join(f"`{name}`" for name in region.left_out)
        yield f"Left out: the program replaces {names}, which a script cannot repeat."
    if expressions.uses_rebuilt:
        yield "Objects are rebuilt from their attributes, without their constructors."
