"""Makes a repro smaller: torch's own minifier first, then our reduction, which also works where torch's fails.

Every candidate is a complete repro, run in a process of its own; it is accepted if it ends as the given one did: with the same exit
code or signal, and with the same error if compiled code raised one. So the repro's own check decides, with everything that its file
sets up, and what is reported as smaller is always a file that works.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..runtime import processes
from ..runtime.fork_check import why_not_fork_steps
from ..runtime.regular_file import LARGEST_OF_RUNS, read_regular_text
from ..runtime.search_protocol import (
    MinifyRequest,
    PhaseBegan,
    SearchNote,
    SmallerFound,
    SmallestChecked,
    TorchMinified,
)
from ..runtime.wire import Wire
from . import step_warmup
from .drive import SearchRefused, run_search
from .minify_ending import BAD, Ending, bad_ending, ending_of
from .minify_file import NoRepro, collapse_blank_lines, may_use_inductor, with_program, without_unused_statements
from .minify_program import FILLS, GraphProgram, GraphValue, Statement, contiguous
from .step_setup import StepSetup
from .steps import StepResult, Steps

ROUNDS = 3
# copies the named inputs from a file with the inputs of all graphs
PICK = """
import sys, torch
for graph in torch.load(sys.argv[1]):
    if set(sys.argv[3:]) <= set(graph):
        torch.save({name: graph[name] for name in sys.argv[3:]}, sys.argv[2])
        break
"""


class BudgetExhausted(Exception):
    """The limit on runs or time is reached."""


def main(request: MinifyRequest, wire: Wire) -> int:
    """Run one minification."""
    return run_search(request, wire, Minifier(request, wire).minify)


class Minifier:
    """One minification; ``_text`` is the smallest repro so far, and ``_program`` its graph."""

    def __init__(self, request: MinifyRequest, wire: Wire) -> None:
        self._request, self._wire = request, wire
        self._scratch = request.scratch
        os.makedirs(self._scratch, exist_ok=True)
        for name in [name for name in os.environ if name.startswith("TORCH_BISECT_")]:
            del os.environ[name]
        processes.become_subreaper()
        self._steps = Steps(self._scratch, request.step_limit_s, not why_not_fork_steps())
        self._deadline = time.monotonic() + request.limit_s
        self._runs = 0
        self._wanted = Ending(BAD, 0)
        with open(request.file, encoding="utf-8") as file:
            self._text = file.read()
        self._raised = os.path.join(self._scratch, "raised.json")
        self._saved: str | None = None
        self._saved_names: list[str] = []
        self._program: GraphProgram | None = None

    def minify(self) -> None:
        """Run all phases. Raises SearchRefused."""
        uses_inductor = self._steps.forks and may_use_inductor(self._text)
        if uses_inductor:
            self._steps.protected |= step_warmup.start_header_compilation(self._scratch)
        self._wire.tell(PhaseBegan("running the repro unchanged"))
        first = self._run(self._request.file)
        self._wanted = bad_ending(first, self._raised, self._request.step_limit_s)
        if uses_inductor:
            step_warmup.warm_inductor(self._scratch)
            self._steps.forks = not why_not_fork_steps()
        with contextlib.suppress(BudgetExhausted):
            self._reduce()
        self._check_in_new_process()

    def _reduce(self) -> None:
        started = self._from_torch() if self._request.torch else False
        if not started:
            self._from_repro()
        for _ in range(ROUNDS):
            if self._program is None:
                break
            before = self._size()
            self._phase("fewer nodes", self._fewer_nodes)
            self._phase("smaller shapes", self._smaller_shapes)
            self._phase("simpler dtypes", self._simpler_dtypes)
            self._phase("constant inputs", self._constant_inputs)
            if self._size() == before:
                break
            self._from_repro()  # capture again for the current metadata
        self._phase("less surrounding code", self._less_text)

    def _phase(self, name: str, work: Callable[[], None]) -> None:
        self._wire.tell(PhaseBegan(name))
        work()

    # -- where to start

    def _from_repro(self) -> None:
        """Start from the first graph of the current repro that has the problem by itself."""
        file = self._write(self._text)
        for program in self._captured(file):
            if self._starts(program):
                return

    def _starts(self, program: GraphProgram) -> bool:
        """Whether the graph has the problem by itself, with random inputs or with those of the run."""
        for fill in ("randn", "rand", "saved"):
            for name in program.inputs:
                program.values[name].fill = fill
            if self._take(program):
                return True
        return False

    def _captured(self, file: str) -> list[GraphProgram]:
        answer = os.path.join(self._scratch, "graphs.json")
        with contextlib.suppress(OSError):
            os.remove(answer)
        setup = StepSetup(file=file, cwd=self._request.cwd, scratch=self._scratch, answer=answer, capture=True)
        self._steps.run(setup)
        try:
            graphs = json.loads(read_regular_text(answer, LARGEST_OF_RUNS))
        except (OSError, ValueError):
            self._wire.tell(SearchNote("No graph could be captured; the function is kept as it is."))
            return []
        self._saved, self._saved_names = f"{answer}.pt", []
        for graph in graphs:
            if "unsupported" in graph:
                self._wire.tell(SearchNote(f"A graph is kept as it is: {graph['unsupported']}."))
        return [_program(graph) for graph in graphs if "unsupported" not in graph]

    def _from_torch(self) -> bool:
        """Run torch's minifier (torch/_dynamo/repro); its result counts only if it is valid and the repro made from it fails."""
        self._wire.tell(PhaseBegan("torch's own minifier"))
        folder = os.path.join(self._scratch, "torch")
        os.makedirs(folder, exist_ok=True)
        crashed = bool(self._wanted.signal)
        options = {
            "torch._dynamo.config.repro_after": "aot",
            "torch._dynamo.config.repro_level": 3 if crashed else 4 if self._request.differs else 2,
            "torch._dynamo.config.debug_dir_root": os.path.join(folder, "debug"),
        }
        setup = StepSetup(**{**self._place(self._request.file), "cwd": folder}, options=options)
        self._steps.run(setup)
        launchers = glob.glob(os.path.join(folder, "**", "minifier_launcher.py"), recursive=True)
        if not launchers:
            self._wire.tell(TorchMinified("nothing", "it writes no script for this kind of problem"))
            return False
        why = self._launch(launchers[0], folder)
        file = os.path.join(folder, "repro.py")
        if not os.path.exists(file):
            self._wire.tell(TorchMinified("nothing", why or "its script ended without a result"))
            return False
        try:
            compile(read_regular_text(file), file, "exec")
        except (OSError, SyntaxError, ValueError) as error:
            self._wire.tell(TorchMinified("invalid", f"it wrote invalid Python: {error}"))
            return False
        for program in self._captured(file):
            if self._starts(program):
                self._wire.tell(TorchMinified("taken", f"{len(program.body)} nodes"))
                return True
        self._wire.tell(TorchMinified("other", "its result does not have the problem in a new process"))
        return False

    def _launch(self, launcher: str, folder: str) -> str:
        limit = max(1.0, min(self._request.torch_limit_s, self._deadline - time.monotonic()))
        environment = {**os.environ, "TMPDIR": folder}
        with open(os.path.join(folder, "minifier.out"), "wb") as output:
            process = subprocess.Popen(
                [sys.executable, launcher, "minify"], cwd=folder, env=environment, stdout=output, stderr=output
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return f"it did not finish within {limit:.0f} s"
            finally:
                processes.end_orphans(2.0, self._steps.protected)
        return ""

    # -- reductions

    def _fewer_nodes(self) -> None:
        program = self._need()
        if len(program.outputs) > 1:
            self._first(program.with_outputs([output]) for output in program.outputs)
        self._bisect_count(lambda program, count: program.cut_after(count), smallest=True)
        self._bisect_count(lambda program, count: program.started_at(count), smallest=False)
        index = len(self._need().body) - 1
        while index >= 0:
            program = self._need()
            if index < len(program.body):
                self._first(program.without(index))
            index -= 1

    def _bisect_count(self, make: Callable[[GraphProgram, int], GraphProgram | None], smallest: bool) -> None:
        """Binary search for the number of statements to keep (``smallest``) or to drop; useful even if not monotone."""
        low, high = 0, len(self._need().body)
        program = self._need()
        while high - low > 1:
            middle = (low + high) // 2
            found = make(program, middle)
            took = found is not None and bool(found.body) and self._take(found)
            if took == smallest:
                high = middle
            else:
                low = middle

    def _smaller_shapes(self) -> None:
        for size in self._need().sizes():
            for smaller in dict.fromkeys((1, 2, 4, 8, 16, size // 2)):
                if 0 < smaller < size and self._take(self._need().with_size(size, smaller)):
                    break

    def _simpler_dtypes(self) -> None:
        for name in list(self._need().inputs):
            value = self._need().values[name]
            if value.is_tensor and value.is_floating and value.dtype != "float32" and "complex" not in value.dtype:
                self._change(name, dtype="float32")
            if self._need().values[name].requires_grad:
                self._change(name, requires_grad=False)
            value = self._need().values[name]
            if value.is_tensor and value.stride != (dense := contiguous(value.shape)):
                self._change(name, stride=dense)

    def _constant_inputs(self) -> None:
        for name in list(self._need().inputs):
            value = self._need().values[name]
            for fill in FILLS[: FILLS.index(value.fill)] if value.is_tensor else ():
                if self._change(name, fill=fill):
                    break

    def _change(self, name: str, **fields: Any) -> bool:
        smaller = self._need().copied()
        if name not in smaller.inputs:
            return False
        for field, value in fields.items():
            setattr(smaller.values[name], field, value)
        return self._take(smaller)

    def _less_text(self) -> None:
        again = True
        while again:
            again = False
            for text in without_unused_statements(self._text):
                if self._is_bad(text):
                    self._keep(text, self._program)
                    again = True
                    break

    # -- one candidate

    def _first(self, candidates: Iterable[GraphProgram] | Iterator[GraphProgram]) -> bool:
        return any(self._take(candidate) for candidate in candidates)

    def _take(self, program: GraphProgram) -> bool:
        try:
            text = with_program(self._text, program)
        except NoRepro:
            raise SearchRefused("no-repro") from None
        if not self._is_bad(text, program):
            return False
        self._keep(text, program)
        return True

    def _keep(self, text: str, program: GraphProgram | None) -> None:
        self._text, self._program = text, program
        self._tell()

    def _is_bad(self, text: str, program: GraphProgram | None = None) -> bool:
        ended = self._run(self._write(text, program))
        return not ended.timeout and ending_of(ended, self._raised) == self._wanted

    def _run(self, file: str) -> StepResult:
        if self._runs >= self._request.most_runs or time.monotonic() > self._deadline:
            raise BudgetExhausted
        self._runs += 1
        return self._judged(self._steps, file)

    def _judged(self, steps: Steps, file: str) -> StepResult:
        """Run ``file``, which writes what compiled code raises."""
        with contextlib.suppress(OSError):
            os.remove(self._raised)
        return steps.run(StepSetup(**self._place(file), strict=True, answer=self._raised))

    def _place(self, file: str) -> dict[str, Any]:
        return {"file": file, "cwd": self._request.cwd, "argv": list(self._request.argv), "scratch": self._scratch}

    def _write(self, text: str, program: GraphProgram | None = None) -> str:
        """Write ``text`` to a file, with the saved inputs of ``program`` (or of the smallest so far) beside it."""
        file = os.path.join(self._scratch, "candidate.py")
        with open(file, "w", encoding="utf-8") as written:
            written.write(text)
        program = program or self._program
        if program is not None and program.uses_saved:
            self._write_saved(program)
        return file

    def _write_saved(self, program: GraphProgram) -> None:
        names = [name for name in program.inputs if program.values[name].fill == "saved"]
        if names == self._saved_names:
            return
        self._saved_names = names
        target = os.path.join(self._scratch, "candidate.pt")
        # in another process, because using torch here could start threads and prevent forks
        subprocess.run([sys.executable, "-c", PICK, str(self._saved), target, *names], check=False)
        shutil.copyfile(target, self._request.saved)

    def _need(self) -> GraphProgram:
        assert self._program is not None
        return self._program

    def _size(self) -> tuple[int, int]:
        program = self._program
        return (len(self._text), len(program.body) if program else 0)

    def _tell(self) -> None:
        program = self._program
        self._wire.tell(
            SmallerFound(
                collapse_blank_lines(self._text),
                self._runs,
                len(program.body) if program else None,
                tuple(program.values[name].described() for name in program.inputs) if program else (),
                saved=bool(program and program.uses_saved),
            )
        )

    def _check_in_new_process(self) -> None:
        """Verify the smallest repro in a process that shares nothing with this one."""
        fresh = Steps(self._scratch, self._request.step_limit_s, forks=False)
        fresh.protected = self._steps.protected
        text = collapse_blank_lines(self._text)
        ended = self._judged(fresh, self._write(text))
        ending = ending_of(ended, self._raised)
        same = not ended.timeout and ending == self._wanted
        self._wire.tell(
            SmallestChecked(same, ended.code, ended.signal, ended.output, self._runs, ending.text, self._wanted.text)
        )


def _program(graph: dict[str, Any]) -> GraphProgram:
    return GraphProgram(
        graph["inputs"],
        [Statement(**statement) for statement in graph["body"]],
        graph["outputs"],
        {name: GraphValue(**value) for name, value in graph["values"].items()},
    ).without_dead_code()
