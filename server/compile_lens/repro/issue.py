"""Writes a bug report in Markdown: description, script, output, bisection, logs and versions, without personal data."""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path

from compile_lens.analysis.finding import Finding
from compile_lens.repro.contract import BACKEND_VARIABLE, Criterion
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.verdict import Bisection
from compile_lens.repro.write import LOGS, STAGE_LOGS, Written
from compile_lens.shown_text import code_block, code_span, github_text, one_line, shell_line
from compile_lens.state.atomic_file import write_beside
from compile_lens.temporary_folders import temporary_folder

# the comment is why it gets the GPU, where it has to ask for one in a sandbox
COLLECT = "# cuda\nfrom torch.utils.collect_env import get_pretty_env_info\nprint(get_pretty_env_info())\n"
COLLECT_LIMIT_S = 120.0
MAX_OUTPUT = 6000
# an absolute path, but not a URL
POSIX = re.compile(r"(?<![\w:/.])(?:~|/(?:[\w.@+~-]+/)+)[\w.@+~-]*")
WINDOWS = re.compile(r"\b[A-Za-z]:\\(?:[^\\\s:*?\"<>|]+\\)*[^\\\s:*?\"<>|]*")
PACKAGES = re.compile(r"^.*?(?:site-packages|dist-packages)[/\\]")
# names that are also words
COMMON = {"root", "user", "admin", "ubuntu", "runner", "build", "localhost", "python", "torch", "default"}
SHORTEST = 3
KINDS = {
    Criterion.RAISES: "torch.compile raises an error that eager does not",
    Criterion.DIFFERS: "torch.compile computes different numbers than eager",
    Criterion.BREAKS: "torch.compile breaks the graph",
    Criterion.RECOMPILES: "torch.compile recompiles",
    Criterion.CRASHES: "torch.compile crashes the process",
    Criterion.ANY: "torch.compile behaves differently from eager",
}


async def collect_versions(scripts: ScriptRuns) -> str:
    """The output of ``python -m torch.utils.collect_env`` without paths and names, or one sentence if it fails.

    It imports torch, and starts programs by their names: with the access of the run that the report is about. Raises HostError.
    """
    with temporary_folder() as folder:
        file = Path(folder) / "versions.py"
        write_beside(file, COLLECT)
        ended = await scripts.run(file, COLLECT_LIMIT_S, {})
    if ended.code != 0:
        return f"torch.utils.collect_env failed: {scrub(ended.last_line)}"
    return scrub(ended.output.strip())


def issue_title(written: Written) -> str:
    """The title of the report."""
    finding = written.finding
    message = finding.message.rstrip(".") if finding is not None else KINDS[written.expected.criterion]
    component = f"[{_component(finding, written.expected.criterion)}] "
    return component + scrub(message.removeprefix("torch.compile failed: "))


def issue_text(written: Written, versions: str, bisection: Bisection | None = None) -> str:
    """The text of the report."""
    return "\n\n".join(issue_sections(written, versions, bisection)) + "\n"


def issue_sections(written: Written, versions: str, bisection: Bisection | None = None, smaller: str = "") -> list[str]:
    """Its sections, the title first. The code of the repro, or the ``smaller`` one, is unchanged; everything else is scrubbed."""
    verification = written.verification
    output = verification.compiled.output if verification is not None else ""
    criterion = written.expected.criterion
    logs = LOGS.get(criterion) or STAGE_LOGS.get(written.expected.stage, "+dynamo")
    code = code_block((smaller or written.script.body).strip(), "python")
    program = shell_line(["python", written.file.name])
    commands = f'TORCH_LOGS="{logs}" {program}\nTORCH_TRACE=trace {program}'
    parts = [
        f"# {_heading(issue_title(written))}",
        f"## Describe the bug\n\n{_description(written)}",
        f"## Minimal repro\n\nExit code 0: good, 1: the problem occurs, 125: cannot be judged.\n\n{code}",
        f"## Output\n\n{code_block(_cut(scrub(output.strip())), '')}",
    ]
    if bisection is not None:
        parts.append(f"## Bisection\n\n{_verdict(bisection)}")
    return [*parts, f"## Logs\n\n{code_block(commands, '')}", f"## Versions\n\n{code_block(versions, '')}"]


def _heading(title: str) -> str:
    component, _, message = one_line(title).partition(" ")
    return f"{component} {github_text(message)}"


def _component(finding: Finding | None, criterion: Criterion) -> str:
    if criterion in (Criterion.BREAKS, Criterion.RECOMPILES) or (finding is not None and finding.stage == "dynamo"):
        return "dynamo"
    stage = finding.stage if finding is not None else ""
    return "aot" if stage in ("aot", "fake tensors") else "inductor"


def _description(written: Written) -> str:
    expected, verification = written.expected, written.verification
    lines = [f"{KINDS[expected.criterion]}: {github_text(scrub(expected.phrase))}."]
    if verification is not None:
        lines.append(
            f"Output of the script below in a new process: {github_text(scrub(verification.compiled.last_line))}"
        )
        if not verification.reproduces:
            lines.append("**The script did not reproduce the problem.**")
        if verification.eager is not None:
            lines.append(
                f"With {BACKEND_VARIABLE}=eager (Dynamo only): {github_text(scrub(verification.eager.last_line))}"
            )
    lines += [github_text(scrub(note)) for note in written.notes]
    return "\n\n".join(lines)


def _verdict(bisection: Bisection) -> str:
    lines = [github_text(scrub(bisection.sentence))]
    if bisection.verdict is not None:
        lines.append(code_span(scrub(str(bisection.verdict))))
    lines += [f"{title}: {code_span(scrub(line))}" for title, line in bisection.commands[:2]]
    lines += [f"`{switch.name}` fixes it: {switch.meaning}" for switch in bisection.helping]
    return "\n\n".join(lines)


def _cut(text: str) -> str:
    if len(text) <= MAX_OUTPUT:
        return text
    half = MAX_OUTPUT // 2
    return f"{text[:half].rstrip()}\n[…]\n{text[-half:].lstrip()}"


def scrub(text: str) -> str:
    """``text`` with paths shortened to the part inside installed packages, or to their last component."""
    text = POSIX.sub(lambda match: _short(match.group(), "/"), text)
    text = WINDOWS.sub(lambda match: _short(match.group(), "\\"), text)
    for name, word in ((_user(), "<user>"), (socket.gethostname(), "<machine>")):
        if len(name) >= SHORTEST and name.lower() not in COMMON:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", word, text)
    return text


def _short(path: str, separator: str) -> str:
    inside = PACKAGES.sub("", path)
    if inside != path:
        return inside
    return path.rstrip(separator).rpartition(separator)[2] or path


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return Path.home().name
