"""Chooses the entry that a file is analyzed with: the user's, else the first one that compiles anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from compile_lens.agent.runtime.entry_plans import (
    CallTarget,
    CallTime,
    DoctestExamples,
    DocumentedExample,
    EntryPlan,
    ModelOfScript,
    SynthesizedCalls,
    UsingScript,
    UsingTest,
)
from compile_lens.agent.runtime.entry_protocol import FUNCTION_CALL
from compile_lens.analysis.coverage import Coverage
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.not_compiled import ASKED_FOR
from compile_lens.analysis.outcome import Outcome, PassedOver, Status
from compile_lens.analysis.run_errors import STOPPED, UNRUNNABLE, as_script
from compile_lens.documents.source_file import source_if_readable
from compile_lens.entries.entry import (
    AUTOMATIC,
    CALLED_FUNCTIONS,
    MODEL,
    SCRIPT,
    Entry,
    EntryChoice,
    EntryKind,
    script,
)
from compile_lens.entries.entry_comment import entry_comment
from compile_lens.entries.entry_spec import read_entry
from compile_lens.entries.find import find_entries
from compile_lens.entries.importers import EXAMPLE, arguments_elsewhere, find_examples, find_importers
from compile_lens.entries.recorded import Recording
from compile_lens.entries.targets import find_targets
from compile_lens.pipeline.entry_reach import check_reach, within_reach
from compile_lens.pipeline.entry_time import EntryTime
from compile_lens.pipeline.main_of_file import is_about, main_target, names_class, with_offer
from compile_lens.pipeline.nothing_called import why_nothing_was_called
from compile_lens.pipeline.own_words import in_own_words, told_what_was_not_run
from compile_lens.pipeline.workspace import documented_examples, mentioning
from compile_lens.syntax.tree import parse
from compile_lens.workers.access import Access
from compile_lens.workers.job import Job, VariationRequest

Analyze = Callable[[Any, Job, Callable[[Outcome], None] | None, Filters], Awaitable[Outcome]]
NO_FILTERS = Filters()
# for inputs of what stands before a syntax error: the text is being written, and the next run follows soon
BROKEN_SEARCH_S = 3.0
# tests and scripts that import the file come before made-up inputs, unless they take too long (each so many seconds or a sixth of the
# time limit, whichever is longer), or what was tried before did
ELSEWHERE = (EntryKind.TEST, EntryKind.FILE)
ELSEWHERE_S = 20.0
PATIENCE_S = 15.0
# what may end with a part of the file
PARTIAL = (EntryKind.DOCTEST, EntryKind.MODEL, EntryKind.EXAMPLE, *ELSEWHERE)
# what is compiled as if the file compiled it, and is called as users call it
USUAL = (EntryKind.SYNTHESIZED, EntryKind.MODEL, EntryKind.EXAMPLE)
USING = (UsingTest, UsingScript)
NO_TIME = "Not run: the entries tried first took too long."
# for calls that are made up: so many seconds of processor time or a sixth of the time limit, whichever is longer, but never the whole limit
MADE_UP_S = 36.0
MADE_UP_SHARE = 0.8
# for further models of a program: so much of the time for the first one
FURTHER_SHARE = 0.5
# for what an example or a test leaves out of the file, by the clock
REST_SHARE = 0.3
# on a busy machine, where processor time takes longer, by the clock
CLOCK_SHARE = 0.7


def entries_of(file: str, text: str, root: Path | None, recording: Recording | None = None) -> tuple[Entry, ...]:
    """All entries of ``file``, those in other files below ``root`` and what was recorded of it included."""
    tree = parse(text)
    targets = find_targets(tree)
    if root is None or not targets:
        return find_entries(tree, (), recording)
    others = mentioning(Path(file), root)
    documented = documented_examples(root)
    elsewhere = (*find_examples(file, documented, targets), *find_importers(file, str(root), others, targets))
    found = find_entries(tree, elsewhere, recording)
    return _with_call_sites(found, arguments_elsewhere((*documented, *others), file, tree))


def _with_call_sites(entries: tuple[Entry, ...], given: dict[str, dict[str, str]]) -> tuple[Entry, ...]:
    """Constructor arguments that other files show, for targets that this one shows none for."""

    def completed(target: CallTarget) -> CallTarget:
        known = given.get(target.name.partition(".")[0])
        return replace(target, given=known) if known and not target.given else target

    return tuple(
        replace(entry, plan=replace(entry.plan, targets=tuple(completed(target) for target in entry.plan.targets)))
        if entry.kind is EntryKind.SYNTHESIZED and isinstance(entry.plan, SynthesizedCalls)
        else entry
        for entry in entries
    )


def choose(
    file: str,
    text: str,
    root: Path | None,
    requested: str = "",
    remembered: str = "",
    recording: Recording | None = None,
    requested_by: str = "",
) -> EntryChoice:
    """The entries to try for ``file``. ``requested`` is what an option or a setting names, ``remembered`` what was chosen in an editor.
    ``requested_by`` is what names the former, where it is not the user: a file, or a setting that may be one.

    The comment in the file goes before what is remembered, and an option before both. Raises BadEntry for one that there is not, and for
    one that a file names and that runs a file elsewhere.
    """
    tree = parse(text)
    comment = entry_comment(tree)
    line = f"line {comment[1]}" if comment is not None else ""
    for spec, origin, said_by in (
        (requested, "as requested", requested_by),
        (comment[0] if comment is not None else "", line, f"{line} of {Path(file).name}"),
        (remembered, "your earlier choice", ""),
    ):
        if spec == AUTOMATIC:
            break
        if spec:
            found = entries_of(
                file,
                text,
                root if "::" in spec or spec.endswith(".py") or spec.startswith(EXAMPLE) else None,
                recording,
            )
            entry = read_entry(spec, origin, file, tree, found)
            if said_by:
                check_reach(entry, said_by, file, root)
            return EntryChoice((entry,), True, said_by)
    return EntryChoice(within_reach(entries_of(file, text, root, recording), file, root))


def as_if_compiled(file: str, text: str, name: str) -> EntryChoice:
    """Compile ``name`` of ``file`` as if the file did, with inputs made up for it. Raises BadEntry when there is no such name."""
    return EntryChoice((read_entry(f"synthesized:{name}", "as if the file compiled it", file, parse(text), ()),), True)


def has_reached(outcome: Outcome) -> bool:
    """Whether a run compiled anything, or tried to."""
    return (
        bool(outcome.graphs or outcome.functions)
        or any(region.frames for region in outcome.regions)
        or any(finding.kind.row.shows_compiling for finding in outcome.findings)
        or any(
            finding.kind is Kind.NOT_COMPILED and finding.severity is Severity.WARNING for finding in outcome.findings
        )
        or _is_disabled(outcome)
    )


def _is_disabled(outcome: Outcome) -> bool:
    """Whether the compiler was turned off for all regions: another entry would compile what the program does not."""
    severities = {finding.severity for finding in outcome.findings if finding.kind is Kind.NOT_COMPILED}
    return severities == {ASKED_FOR}


def _synthesized(choice: EntryChoice) -> SynthesizedCalls | None:
    """The calls with synthesized inputs of a file that compiles nothing itself."""
    plans = (entry.plan for entry in choice.entries if entry.kind is EntryKind.SYNTHESIZED)
    return next((plan for plan in plans if isinstance(plan, SynthesizedCalls) and plan.apart), None)


def _is_about_functions(outcome: Outcome) -> bool:
    """Whether a script built no model, and what it calls with tensors was compiled instead."""
    return bool(outcome.calls) and all(call.text == FUNCTION_CALL for call in outcome.calls)


async def analyze_by_entries(
    analyze: Analyze,
    host: Any,
    job: Job,
    choice: EntryChoice,
    on_partial: Callable[[Outcome], None] | None = None,
    filters: Filters = NO_FILTERS,
) -> Outcome:
    """Analyze ``job`` with the first entry that reaches something. What was tried before is in ``passed_over``.

    What ends with a part of a file gives way to what reaches its main class. Where nothing is reached, the outcome is that of the
    first entry that could be run. With full access, only the file itself runs, as a script, or the entry that the user names.
    """
    if job.access is not Access.FULL:
        seen: list[Outcome] = []
        outcome = await _first_that_reaches(_noting(analyze, seen), host, job, choice, on_partial, filters)
        main = main_target(choice)
        if not names_class(main) or is_about(outcome, main):
            return outcome
        return with_offer(outcome, main, parse(_text_of(job)), seen)
    outcome = await _first_that_reaches(analyze, host, job, in_own_words(choice), on_partial, filters)
    return told_what_was_not_run(outcome, choice, has_reached(outcome))


def _noting(analyze: Analyze, seen: list[Outcome]) -> Analyze:
    """``analyze``, which adds each outcome to ``seen``."""

    async def noted(*arguments: Any) -> Outcome:
        seen.append(await analyze(*arguments))
        return seen[-1]

    return noted


def _text_of(job: Job) -> str:
    return (source_if_readable(job.file) or "") if job.text is None else job.text


async def _first_that_reaches(
    analyze: Analyze,
    host: Any,
    job: Job,
    choice: EntryChoice,
    on_partial: Callable[[Outcome], None] | None,
    filters: Filters,
) -> Outcome:
    main, part = main_target(choice), None
    time = EntryTime(job.timeout_s)
    passed: list[PassedOver] = []
    kept: list[Finding] = []
    first: Outcome | None = None
    coverage: Coverage | None = None
    is_broken = False
    for entry in choice.entries:
        if is_broken and entry.kind is not EntryKind.SYNTHESIZED:
            continue  # nothing can import the file until its syntax is mended
        if is_broken and isinstance(entry.plan, SynthesizedCalls):
            entry = replace(entry, plan=replace(entry.plan, seconds=BROKEN_SEARCH_S))
        has_other = entry is not choice.entries[-1] and not choice.is_explicit
        is_elsewhere = has_other and entry.kind in ELSEWHERE
        is_usual = _is_usual(entry)
        if has_other and (time.is_over or (is_elsewhere and time.elapsed_s > PATIENCE_S)):
            passed.append(PassedOver(entry.spec, entry.title, NO_TIME))
            continue
        is_limited = (is_elsewhere and not is_usual) or (entry.kind is EntryKind.SCRIPT and _has_run_as_model(passed))
        seconds = time.left_for(is_last=not has_other, is_usual=is_usual)
        limited = replace(job, timeout_s=min(seconds, _share_of_elsewhere(job)) if is_limited else seconds)
        job_of_entry = _job_of(limited, entry, None if choice.is_explicit else _synthesized(choice))
        outcome = await analyze(host, job_of_entry, _keeping(kept, on_partial), filters)
        if is_usual and outcome.calls:
            outcome = _ended_in_a_call(outcome, entry)
        elif limited.timeout_s < job.timeout_s:
            outcome = _cut_short(outcome, entry, limited.timeout_s)
        ran_itself = entry.kind is EntryKind.SYNTHESIZED and not outcome.calls and has_reached(outcome)
        coverage = outcome.coverage or coverage
        used = script() if ran_itself else entry  # the file's own statements called everything: nothing was made up
        is_of_script = entry.kind is EntryKind.MODEL and _is_about_functions(outcome)
        title = CALLED_FUNCTIONS if is_of_script else used.title
        outcome = msgspec.structs.replace(outcome, entry=used.spec, entry_title=title)
        is_stuck = outcome.status is Status.FAILED and not outcome.is_unusable
        is_part = entry.kind in PARTIAL and has_reached(outcome) and not is_about(outcome, main)
        if entry.kind is EntryKind.MODEL and outcome.calls and not names_class(main):
            is_part = False  # the file is about the model that it builds, more than about a function that helps
        if is_part and not is_stuck:
            part = part or _with_history(outcome, passed, kept)
            passed.append(PassedOver(entry.spec, entry.title, f"It did not reach `{main}`."))
            continue
        if part is not None and not is_about(outcome, main):
            continue
        if choice.is_explicit or is_stuck or has_reached(outcome):
            return _with_history(outcome, passed, kept)
        is_broken = is_broken or any(finding.message.startswith(UNRUNNABLE) for finding in outcome.findings)
        passed.append(PassedOver(entry.spec, entry.title, _why_not(outcome, limited.timeout_s)))
        if entry.kind is EntryKind.SCRIPT and not _is_only_a_part_of_a_package(outcome):
            kept += [as_script(finding) for finding in outcome.findings if finding.kind is Kind.RUN_ERROR]
        if is_broken and on_partial is not None:
            on_partial(_with_history(outcome, passed, kept))  # before inputs are searched for
        if first is None or _says_more(outcome, first):
            first = outcome
    if part is not None:
        return part
    assert first is not None, "there is always an entry"
    first = msgspec.structs.replace(first, coverage=first.coverage or coverage)
    if first.coverage is None:
        is_explained = len(passed) > 1 or any(finding.kind is Kind.RUN_ERROR for finding in first.findings)
        why = why_nothing_was_called(parse(_text_of(job)), is_explained)
        first = msgspec.structs.replace(first, notes=(*first.notes, why) if why else first.notes)
    passed = [way for way in passed if way.entry != first.entry]
    return msgspec.structs.replace(first, passed_over=tuple(passed))


def _says_more(outcome: Outcome, first: Outcome) -> bool:
    """Whether ``outcome`` says more of a file that compiles nothing than ``first`` does. The plain run of a script is the truest."""
    return (
        (first.is_unusable and (not outcome.is_unusable or outcome.coverage is not None))
        or _is_only_a_part_of_a_package(first)
        or (first.entry == MODEL and outcome.entry == SCRIPT)
    )


def _keeping(kept: Sequence[Finding], on_partial: Callable[[Outcome], None] | None) -> Callable[[Outcome], None] | None:
    """What takes the outcomes of a run that has not ended, with what ended the script before it."""
    if on_partial is None or not kept:
        return on_partial
    return lambda partial: on_partial(_with_history(partial, partial.passed_over, kept))


def _is_usual(entry: Entry) -> bool:
    """Whether it is called as users call it, and compiled as if the file did: a limit of its own ends its runs and its calls."""
    is_example = isinstance(entry.plan, DoctestExamples) and entry.plan.compile is not None
    return entry.kind in USUAL or is_example or isinstance(entry.plan, USING)


def _share_of_elsewhere(job: Job) -> float:
    """The time limit for a test or script that imports the file, and for one that is likely to compile nothing."""
    return min(job.timeout_s, max(ELSEWHERE_S, job.timeout_s / 6))


def _has_run_as_model(passed: Sequence[PassedOver]) -> bool:
    """Whether the script has run for the model that it builds: it names no compiler, and is likely to compile nothing."""
    return any(way.entry == MODEL for way in passed)


def _cut_short(outcome: Outcome, entry: Entry, seconds: float) -> Outcome:
    """``outcome`` of an entry that had less than the time limit: that it was ended is a note, since the user set no such limit."""
    if outcome.status is not Status.TIMEOUT:
        return outcome
    note = (
        f"Stopped {entry.title} after {seconds:g} s. Findings so far are shown; `--entry {entry.spec}` runs all of it."
    )
    found = tuple(finding for finding in outcome.findings if finding.kind is not Kind.RUN_ERROR)
    return msgspec.structs.replace(outcome, findings=found, notes=(*outcome.notes, note))


def _ended_in_a_call(outcome: Outcome, entry: Entry) -> Outcome:
    """``outcome`` of calls that were made up: that one of them took too long or too much memory is no error of the file."""
    stops = [f for f in outcome.findings if f.kind is Kind.RUN_ERROR and f.message.startswith(STOPPED)]
    if not stops:
        return outcome
    why = stops[0].message.removeprefix(STOPPED).removeprefix(" here")
    calls = "calls with synthesized inputs" if entry.kind is EntryKind.SYNTHESIZED else "calls of the model"
    note = f"Stopped the {calls}{why} Findings so far are shown."
    found = tuple(finding for finding in outcome.findings if finding not in stops)
    return msgspec.structs.replace(outcome, findings=found, notes=(*outcome.notes, note))


def _job_of(job: Job, entry: Entry, rest: SynthesizedCalls | None) -> Job:
    """``job`` by way of ``entry``. Calls that are made up are made within a time of their own, and in the usual ways unless with full
    access; so are those of ``rest``, for what an example or a test leaves out of the file."""
    made_up_s = min(max(MADE_UP_S, job.timeout_s / 6), job.timeout_s * MADE_UP_SHARE)
    is_plain = job.vary is None and job.capture is None and job.search is None and not job.compare and not job.stages
    plan, vary = entry.plan, job.vary
    if isinstance(plan, SynthesizedCalls) and entry.kind is EntryKind.SYNTHESIZED:
        made_up_s, clock = plan.seconds or made_up_s, job.timeout_s * CLOCK_SHARE
        plan = replace(plan, seconds=made_up_s, clock_seconds=clock, memory_bytes=job.budget.memory_bytes())
    elif isinstance(plan, (ModelOfScript, DocumentedExample, *USING)):
        plan = replace(plan, time=CallTime(made_up_s * FURTHER_SHARE, job.timeout_s * CLOCK_SHARE))
    if isinstance(plan, (ModelOfScript, UsingScript)) and job.access is not Access.FULL:
        plan = replace(plan, memory_bytes=job.budget.memory_bytes())
    if (
        isinstance(plan, (DocumentedExample, DoctestExamples, *USING))
        and rest is not None
        and is_plain
        and job.access is not Access.FULL
    ):
        seconds, clock, memory = made_up_s * FURTHER_SHARE, job.timeout_s * REST_SHARE, job.budget.memory_bytes()
        plan = replace(plan, rest=replace(rest, seconds=seconds, clock_seconds=clock, memory_bytes=memory))
    if is_plain and _is_usual(entry) and job.access is not Access.FULL and not _shows_a_part(plan, rest):
        vary = VariationRequest(usual=True, has_sizes=entry.kind is EntryKind.MODEL, seconds=made_up_s)
    return replace(job, entry=entry.spec, plan=plan, vary=vary)


def _shows_a_part(plan: EntryPlan | None, rest: SynthesizedCalls | None) -> bool:
    """Whether it is the docstring of what is only a part of the file: another entry comes for the whole, and has the time."""
    return isinstance(plan, DoctestExamples) and rest is not None and plan.owner != rest.targets[0].name


def _with_history(outcome: Outcome, passed: Sequence[PassedOver], kept: Sequence[Finding]) -> Outcome:
    """``outcome`` with what was tried before. What ended the script ends the import, too, and is told once."""
    told = {(finding.code, finding.place) for finding in kept}
    found = [f for f in outcome.findings if f.kind is not Kind.RUN_ERROR or (f.code, f.place) not in told]
    return msgspec.structs.replace(outcome, passed_over=tuple(passed), findings=(*kept, *found))


def _why_not(outcome: Outcome, limit_s: float) -> str:
    if outcome.is_unusable:
        return outcome.failure
    error = next((finding for finding in outcome.findings if finding.kind is Kind.RUN_ERROR), None)
    if error is not None:
        return error.message
    return f"It was stopped after {limit_s:g} s." if outcome.status is Status.TIMEOUT else "It compiled nothing."


def _is_only_a_part_of_a_package(outcome: Outcome) -> bool:
    """Whether the script failed because it is none: its imports are relative."""
    return any("attempted relative import with no known parent package" in f.message for f in outcome.findings)
