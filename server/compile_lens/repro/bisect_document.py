"""Renders a bisection as Markdown, for a terminal, an editor or a bug report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from compile_lens.agent.runtime.search_protocol import NamedPlace, UserLine
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.bisect_guide import Reading, reading
from compile_lens.repro.verdict import Bisection, BisectionStatus, Step, VerdictKernel
from compile_lens.shown_text import code_block, code_cell, code_span, markdown_text, text_cell
from compile_lens.shown_text import link as linked
from compile_lens.wording import counted

Link = Callable[[str, int], str]


def plain_link(file: str, line: int) -> str:
    """``path:line``, which terminals and editors open."""
    return code_span(f"{file}:{line}")


def markdown_link(file: str, line: int) -> str:
    """A link that an editor follows."""
    return linked(f"{Path(file).name}:{line}", f"{Path(file).as_uri()}#L{line}")


def document(found: Bisection, knowledge: Knowledge, link: Link = plain_link, changes: Iterable[str] = ()) -> str:
    """The whole document. ``changes`` are sentences about differences from the last bisection."""
    parts = [f"# Bisection of {markdown_text(Path(found.repro).name)}", f"**{markdown_text(found.sentence)}**"]
    if changed := [f"- {markdown_text(sentence)}" for sentence in changes]:
        parts.append("\n".join(["## Changes since the last bisection", "", *changed]))
    if found.verdict is not None:
        guide = reading(found.verdict, knowledge)
        parts += [_verdict(found, guide), *_where(found, link), _next(found, guide)]
    if found.switches:
        parts.append(_switches(found))
    parts += [f"> {markdown_text(note)}" for note in found.notes]
    if found.steps:
        parts.append(_steps(found.steps))
    if found.status is not BisectionStatus.FOUND and (last := _last_output(found)):
        parts.append(f"## Last output of the repro\n\n{code_block(last)}")
    if found.commands:
        lines = [f"{title}:\n\n{code_block(line, 'sh')}" for title, line in found.commands]
        parts.append("\n\n".join(["## By hand", *lines]))
    how = "forked from one warm process" if found.forked else "each in a new process"
    runs = counted(len(found.steps), "run")
    parts.append(f"*torch {found.torch}, {runs} of the repro in {found.seconds:.1f} s, {how}.*")
    return "\n\n".join(parts) + "\n"


def _verdict(found: Bisection, guide: Reading) -> str:
    verdict = found.verdict
    assert verdict is not None
    rows = [("Backend", code_cell(verdict.backend)), ("Stage", guide.stage)]
    if verdict.subsystem:
        rows.append(("Subsystem", code_cell(verdict.subsystem)))
    if verdict.number is not None and verdict.debug_info != verdict.subsystem:
        rows.append(("Number", str(verdict.number)))
    if verdict.debug_info and verdict.debug_info != verdict.subsystem:
        rows.append(("Name", code_cell(verdict.debug_info)))
    if found.operator and found.operator != verdict.debug_info:
        rows.append(("Operator", code_cell(found.operator)))
    lines = ["## Verdict", "", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
    return "\n".join([*lines, "", guide.meaning]).rstrip()


def _where(found: Bisection, link: Link) -> Iterable[str]:
    if found.source:
        yield "\n".join(["## In your code", "", *(_source(line, link) for line in found.source)])
    if found.places:
        yield "\n".join(["## In torch", "", *(_place(place, link) for place in found.places)])
    if found.kernels:
        lines = [text for kernel in found.kernels for text in _kernel(kernel, link)]
        yield "\n".join(["## Kernel", "", *lines])


def _source(line: UserLine, link: Link) -> str:
    where = f"- {link(line.file, line.line)}" + (f" in {code_span(line.function)}" if line.function else "")
    return f"{where}: {code_span(line.text)}" if line.text else where


def _place(place: NamedPlace, link: Link) -> str:
    return f"- {place.label}: {link(place.file, place.line)} ({code_span(place.name)})"


def _kernel(kernel: VerdictKernel, link: Link) -> Iterable[str]:
    yield f"- {code_span(kernel.name)}, generated from {', '.join(map(code_span, kernel.nodes))}"
    for line in kernel.lines:
        yield f"  {_source(line, link)}"


def _next(found: Bisection, guide: Reading) -> str:
    logs = ",".join(guide.logs)
    lines = ["## Read next", "", f"- {guide.advice}"] if guide.advice else ["## Read next", ""]
    lines.append(
        f"- `TORCH_LOGS={logs} TORCH_COMPILE_BACKEND={found.verdict and found.verdict.backend}` logs this stage"
    )
    lines += [f"- `compile-lens explain TORCH_LOGS={name.lstrip('+')}`" for name in guide.logs[:1]]
    return "\n".join(lines)


def _switches(found: Bisection) -> str:
    lines = ["## Options tried", "", "| with | the problem is |", "|---|---|"]
    lines += [
        f"| {switch.meaning} ({code_cell(_options(switch.options))}) | {'**gone**' if switch.helps else 'still present'} |"
        for switch in found.switches
    ]
    return "\n".join(lines)


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"{name.removeprefix('torch.')} = {value!r}" for name, value in options.items())


def _steps(steps: Iterable[Step]) -> str:
    lines = ["## Steps", "", "| # | run | verdict | ended | seconds |", "|---:|---|---|---|---:|"]
    for number, step in enumerate(steps, 1):
        verdict = "good" if step.good else "**bad**"
        lines.append(
            f"| {number} | {text_cell(describe_step(step))} | {verdict} | {text_cell(step.ending)} | {step.seconds:.1f} |"
        )
    return "\n".join(lines)


def describe_step(step: Step) -> str:
    """A short description of a step."""
    if step.purpose == "baseline":
        return "without torch.compile"
    if step.purpose == "own":
        return "with the repro's own backend"
    if step.purpose == "explain":
        return f"{step.backend}, to explain the verdict"
    if step.switch:
        return f"{step.backend}, option {step.switch}"
    if step.state == "test_disable" and step.subsystem and step.subsystem.startswith(f"{step.backend}_"):
        return f"{step.backend} with another {step.subsystem.removeprefix(f'{step.backend}_')}"
    if step.state == "test_disable":
        return f"{step.backend} without {step.subsystem}"
    if step.state == "find_max_bounds":
        return f"{step.backend}, counting {step.subsystem}"
    if step.state == "bisect":
        return f"{step.backend}, {step.subsystem} between {step.low} and {step.high}"
    return step.backend


def _last_output(found: Bisection) -> str:
    return next((step.output.strip() for step in reversed(found.steps) if step.output.strip()), "")
