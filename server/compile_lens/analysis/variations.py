"""Turns calls with other inputs, made on request, into findings: those that would recompile, break or fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from compile_lens.analysis.compile_errors import find_compile_errors
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.global_state import WORDS as STATE_WORDS
from compile_lens.analysis.graph_breaks import find_graph_breaks
from compile_lens.analysis.guard_words import change
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.varied_recompiles import VariedRecompile, all_rows, names_beside, recompiles_in
from compile_lens.trace.report import CompileReport, Variation, VariationEffect, VariedCall
from compile_lens.wording import and_more, counted

RECOMPILES, BREAKS, FAILS, SUMMARY = "would-recompile", "would-break", "would-fail", "varied"
WORDS = {RECOMPILES: "recompiles", BREAKS: "breaks", FAILS: "fails"}
SAME = "same"
# every module is compiled once for each of these, as it must be
GRAD_MODE = "grad-mode"
MODES = ("mode", GRAD_MODE, "requires-grad")
SIZE = "size"
# an optional argument, and several that were given each alone before
ARGUMENT, TOGETHER = "argument", "arguments-together"
# of an object that is made in another way: its first call, the same again, and in the other mode
SETTING, SETTING_AGAIN, SETTING_MODE = SETTINGS = ("setting", "setting-again", "setting-mode")
OTHER_GRAD_MODE = tuple(f": {STATE_WORDS['grad_mode']} changed ({steps})." for steps in ("on → off", "off → on"))
MAX_WAYS = 5
MAX_WORDS = 200


def find_variations(context: RunContext) -> Iterator[Finding]:
    """For each region findings per variation that does something, and a summary at the region."""
    report = context.report
    for number in dict.fromkeys(variation.region for variation in report.variations):
        variations = [variation for variation in report.variations if variation.region == number]
        place = _region_place(number, context)
        region = _Region(place, variations, context)
        for variation, finding in region.findings():
            if not _is_expected(variation, finding):
                yield finding
        if not all(variation.is_usual for variation in variations):
            yield region.summary()


def _is_expected(variation: Variation, finding: Finding) -> bool:
    """Whether nobody asked for the call, and all that it changes is the grad mode: everything is compiled once for each."""
    is_other_mode = variation.is_usual and variation.kind == GRAD_MODE and finding.code == RECOMPILES
    return is_other_mode and finding.message.endswith(OTHER_GRAD_MODE)


def usual_calls(report: CompileReport) -> str:
    """A note on calls that nobody asked for: the ways in which regions were called, and what was left for lack of time."""
    usual = [variation for variation in report.variations if variation.is_usual]
    called = [v for v in usual if v.effect is VariationEffect.CALLED]
    made = {v.phrase for v in called if v.kind not in (ARGUMENT, TOGETHER, SIZE, *SETTINGS)}
    made |= {"other sizes" for v in called if v.kind == SIZE}
    left = dict.fromkeys(v.name for v in usual if v.effect is VariationEffect.LEFT)
    parts = []
    if made:
        parts.append(f"Also called with {', '.join(sorted(made)[:MAX_WAYS])}{and_more(len(made) - MAX_WAYS)}.")
    if any(call.report.compilations for v in usual if v.kind == GRAD_MODE for call in v.calls):
        parts.append("`torch.no_grad()` costs one more compilation, as for all compiled code.")
    if left:
        named = ", ".join(f"`{name}`" for name in list(left)[:MAX_WAYS])
        parts.append(f"Not all such calls of {named}{and_more(len(left) - MAX_WAYS)} were made within the time limit.")
    return " ".join(parts)


class _Region:
    """The variations of one region."""

    def __init__(self, place: Place, variations: list[Variation], context: RunContext) -> None:
        self._place = place
        self._variations = variations
        self._context = context
        same = next((v for v in variations if v.kind == SAME and v.calls), None)
        # what the same inputs cause is not due to the variation
        self._anyway = {each.key for each in self._recompiles(same.calls[0])} if same is not None else set()
        # what other objects of the class do as well is told once
        self._known_breaks = {(f.code, f.place) for f in self._breaks(context.report)}
        self._known_causes = {*self._anyway, *(each.key for each in recompiles_in(context.report, None, context))}
        self._found = {v.phrase: self._of(v) for v in variations if v.effect is VariationEffect.CALLED}

    def findings(self) -> Iterator[tuple[Variation, Finding]]:
        """Those of each variation that does something: it may break and recompile."""
        for variation in self._variations:
            for finding in self._found.get(variation.phrase, ()):
                yield variation, finding

    def summary(self) -> Finding:
        """All variations by name, with those that have no effect."""
        skipped = next((v for v in self._variations if v.effect is VariationEffect.SKIPPED), None)
        name = self._variations[0].name
        if skipped is not None:
            message = f"Could not vary `{name}`: its own call fails ({_words(skipped)})."
            return Finding(SUMMARY, Kind.VARIATION, Severity.HINT, message, self._place)
        codes = Counter(code for found in self._found.values() for code in {finding.code for finding in found})
        rows = [f"[{self._effect(v)}] {v.phrase}" for v in self._variations]
        parts = [f"{codes[code]} {words}" for code, words in _COUNTED.items() if codes[code]]
        effects = ", ".join(parts) or "none recompiles, breaks or fails"
        return Finding(
            code=SUMMARY,
            kind=Kind.VARIATION,
            severity=Severity.HINT,
            message=f"Called `{name}` in {counted(len(self._found), 'other way')}: {effects}.",
            place=self._place,
            explanation="\n".join(["Each variation starts from the program's own call, newly compiled:", *rows]),
        )

    def _effect(self, variation: Variation) -> str:
        if variation.effect is VariationEffect.LEFT:
            return "not run (time limit)"
        if variation.effect is VariationEffect.REJECTED:
            return f"fails in eager, too: {_words(variation)}"
        return " and ".join(dict.fromkeys(WORDS[each.code] for each in self._found[variation.phrase])) or "no effect"

    def _of(self, variation: Variation) -> tuple[Finding, ...]:
        first = variation.calls[0]
        failure = self._failure(variation, first)
        # a call that fails ends early: what it recompiled until then says little
        return (failure,) if failure is not None else (*self._breaks_of(variation), *self._recompile(variation))

    def _failure(self, variation: Variation, call: VariedCall) -> Finding | None:
        failing = next((one for one in variation.calls if one.error), None)
        if failing is None:
            return None
        failure = next(iter(find_compile_errors(replace(self._context, report=failing.report))), None)
        why = failure.message if failure is not None else f"{failing.error}: {_first_line(failing.message)}"
        return Finding(
            code=FAILS,
            kind=Kind.VARIATION,
            severity=Severity.WARNING,
            message=f"With {variation.phrase}, `{variation.name}` would fail to compile: {why}",
            place=failure.place if failure is not None else self._place,
            explanation="The same call works in eager. " + (failure.explanation if failure is not None else ""),
            hints=failure.hints if failure is not None else (),
            detail=failing.message,
        )

    def _breaks_of(self, variation: Variation) -> Iterator[Finding]:
        """The breaks that the variation adds, each at its own place."""
        call = variation.calls[0]
        known = {(f.code, f.place) for f in self._breaks(call.before)}
        known |= self._known_breaks if variation.kind in (TOGETHER, *SETTINGS) else set()
        for new in self._breaks(call.report):
            if (new.code, new.place) in known:
                continue
            known.add((new.code, new.place))
            self._known_breaks.add((new.code, new.place))
            yield replace(
                new,
                code=BREAKS,
                kind=Kind.VARIATION,
                severity=Severity.WARNING,
                message=f"With {variation.phrase}, `{variation.name}` would break here: {_uncapitalized(new.message)}.",
                frames=(),
                count=1,
                cost="",
                weight=0.0,
            )

    def _breaks(self, report: CompileReport) -> Iterator[Finding]:
        return find_graph_breaks(replace(self._context, report=report))

    def _recompile(self, variation: Variation) -> Iterator[Finding]:
        """One finding for all that the variation recompiles: the first in its message, every one in its explanation."""
        steps = [self._new_recompiles(call, variation) for call in variation.calls]
        first = next((found[0] for found in steps if found), None)
        if first is None:
            return
        is_once = _is_first_other_size(variation, steps)
        recompiles = [each for found in steps for each in found]
        self._known_causes.update(each.key for each in recompiles)
        beside = names_beside(first, next(found for found in steps if found))
        yield Finding(
            code=RECOMPILES,
            kind=Kind.VARIATION,
            severity=Severity.HINT if is_once or _is_minor(variation) else Severity.INFORMATION,
            message=f"With {variation.phrase}, `{variation.name}` would recompile{' once' if is_once else ''}: "
            f"{change([first.fact])}{beside}.",
            place=first.place,
            explanation="\n".join(filter(None, (_next_value(steps), *all_rows(recompiles)))),
            hints=first.hints,
        )

    def _new_recompiles(self, call: VariedCall, variation: Variation) -> list[VariedRecompile]:
        known = set() if variation.kind == SAME else self._anyway
        if variation.is_usual and variation.kind in (SIZE, TOGETHER, *SETTINGS):
            known = self._known_causes
        return [each for each in self._recompiles(call) if each.key not in known]

    def _recompiles(self, call: VariedCall) -> list[VariedRecompile]:
        return recompiles_in(call.report, call.before, self._context)


def _is_minor(variation: Variation) -> bool:
    """Whether nobody asked for the call, and it is one in another mode, or with an input that another mode gives: compiled once more."""
    return variation.is_usual and variation.kind in (*MODES, SETTING_MODE)


def _is_first_other_size(variation: Variation, steps: list[list[VariedRecompile]]) -> bool:
    """Whether nobody asked for the call, and what recompiles is for sizes that change for the first time: they become dynamic then."""
    return variation.is_usual and variation.kind == SIZE and len(steps) > 1 and not steps[1]


_COUNTED = {RECOMPILES: "would recompile", BREAKS: "would break", FAILS: "would fail"}


def _next_value(steps: list[list[VariedRecompile]]) -> str:
    if len(steps) < 2:
        return ""
    if not steps[1]:
        return "The next value does not recompile."
    if not steps[0]:
        return "The first other value does not recompile; the next one does."
    return "The next value recompiles, too: each new value costs a compilation."


def _uncapitalized(message: str) -> str:
    """``Graph break: …`` inside of a sentence, without its period."""
    return f"{message[:1].lower()}{message[1:].rstrip('.')}"


def _words(variation: Variation) -> str:
    return f"{variation.error}: {_first_line(variation.message)}".removesuffix(": ")


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return (line if len(line) <= MAX_WORDS else f"{line[:MAX_WORDS]}…").rstrip(".")


def _region_place(number: int, context: RunContext) -> Place:
    report, sources, index = context.report, context.sources, context.index
    region = index.of_call(number)
    if region is not None:
        return Place(index.file, region.line, region.column, region.end_line, region.end_column)
    call = next((call for call in report.regions if call.region == number), None)
    if call is None:
        return sources.beginning
    if call.target_file is not None and call.target_line is not None and sources.is_own(call.target_file):
        return function_place(call.target_file, call.target_line, sources)
    return Place(call.file, call.line, 1, call.line, 2)
