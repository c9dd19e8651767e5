"""Predictions beside real breaks: which were right, which were wrong, what was missed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.predictions import registry
from compile_lens.syntax.predictions.predict import functions_reached, predict
from compile_lens.syntax.predictions.prediction import Prediction
from compile_lens.syntax.tree import Range, SourceTree, parse
from compile_lens.trace.report import Compilation, CompileReport, GraphBreak


@dataclass(frozen=True, slots=True)
class Real:
    """A break at a line of a file of the corpus. ``is_elsewhere``: it happened in another file, whose function the line calls."""

    file: str
    line: int
    code: str
    is_elsewhere: bool = False


@dataclass(slots=True)
class Observed:
    """What running the corpus showed: what was executed, breaks, and functions that Dynamo gave up on as a whole."""

    places: dict[str, set[Range]] = field(default_factory=lambda: defaultdict(set))
    breaks: set[Real] = field(default_factory=set)
    # (file, a line of the function) -> the lines of the breaks for which the rest of the function ran eagerly
    skipped: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, report: CompileReport, files: set[str]) -> None:
        for compilation in report.compilations:
            for broken in compilation.breaks:
                self._add_break(broken, compilation, files)

    def _add_break(self, broken: GraphBreak, compilation: Compilation, files: set[str]) -> None:
        own = [frame for frame in broken.stack if frame.file in files]
        if not own:
            return
        deepest, last = own[-1], broken.stack[-1]
        # Dynamo's own replacements of Python (torch/_dynamo/polyfills) are no file that the line calls
        is_elsewhere = last.file not in files and "/_dynamo/" not in last.file
        self.breaks.add(Real(deepest.file, deepest.line, broken.reason.code or "", is_elsewhere))
        if broken.reason.skipped_frame:
            self.skipped[compilation.file, compilation.line].add(deepest.line)


@dataclass(slots=True)
class Judged:
    """The verdicts. ``masked`` predictions stand in functions that Dynamo gave up on before it came to them."""

    right: list[tuple[str, Prediction]] = field(default_factory=list)
    wrong: list[tuple[str, Prediction]] = field(default_factory=list)
    masked: list[tuple[str, Prediction]] = field(default_factory=list)
    not_run: list[tuple[str, Prediction]] = field(default_factory=list)
    missed: list[Real] = field(default_factory=list)
    found: list[Real] = field(default_factory=list)
    elsewhere: list[Real] = field(default_factory=list)
    functions: set[tuple[str, int]] = field(default_factory=set)

    def within(self, files: set[str]) -> Judged:
        """The verdicts on these files alone."""
        return Judged(
            *(
                [entry for entry in found if entry[0] in files]
                for found in (self.right, self.wrong, self.masked, self.not_run)
            ),
            *(
                [broken for broken in found if broken.file in files]
                for found in (self.missed, self.found, self.elsewhere)
            ),
            {entry for entry in self.functions if entry[0] in files},
        )

    def by_rule(self) -> dict[str, tuple[int, int]]:
        """Right and wrong per rule."""
        right = Counter(prediction.rule for _, prediction in self.right)
        wrong = Counter(prediction.rule for _, prediction in self.wrong)
        return {rule.name: (right[rule.name], wrong[rule.name]) for rule in registry.RULES}


def judge(texts: dict[str, str], observed: Observed) -> Judged:
    """``texts`` are the files of the corpus with their regions added at the end."""
    judged = Judged()
    for file, text in texts.items():
        tree = parse(text)
        executed = observed.places[file]
        if not executed:
            continue
        _judge_file(file, tree, executed, observed, judged)
    return judged


def _judge_file(file: str, tree: SourceTree, executed: set[Range], observed: Observed, judged: Judged) -> None:
    reached = functions_reached(tree)
    executed_lines = {place.line for place in executed}
    for line in executed_lines:
        definition = definition_at(tree, line)
        if definition is not None and definition.kind == "function" and definition.first_line in reached:
            judged.functions.add((file, definition.first_line))
    real = {broken for broken in observed.breaks if broken.file == file and broken.line in executed_lines}
    seen: set[Real] = set()
    for prediction in predict(tree, registry.ALL):
        lines = range(prediction.place.line, prediction.place.end_line + 1)
        if not any(_is_within(place, prediction.place) for place in executed):
            judged.not_run.append((file, prediction))
            continue
        codes = registry.BY_NAME[prediction.rule].codes
        matching = {broken for broken in real if broken.line in lines and broken.code in codes}
        seen |= matching
        if matching:
            judged.right.append((file, prediction))
        elif _is_masked(file, tree, prediction, observed):
            judged.masked.append((file, prediction))
        else:
            judged.wrong.append((file, prediction))
    judged.found += sorted(seen, key=lambda broken: broken.line)
    for broken in sorted(real - seen, key=lambda broken: (broken.line, broken.code)):
        (judged.elsewhere if broken.is_elsewhere else judged.missed).append(broken)


def _is_within(place: Range, whole: Range) -> bool:
    begins = (whole.line, whole.column) <= (place.line, place.column)
    return begins and (place.end_line, place.end_column) <= (whole.end_line, whole.end_column)


def _is_masked(file: str, tree: SourceTree, prediction: Prediction, observed: Observed) -> bool:
    for (skipped_file, line), broke_at in observed.skipped.items():
        definition = definition_at(tree, line) if skipped_file == file else None
        if definition is not None and definition.first_line == prediction.function_line:
            return prediction.place.line not in broke_at
    return False
