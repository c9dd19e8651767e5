"""Examples at the end of the help of each verb."""

from __future__ import annotations

# verb → what it does, and the command
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "check": (
        ("Run a script with arguments", "compile-lens check train.py -- --steps 2"),
        ("Check all files of a folder that use torch.compile", "compile-lens check src"),
        ("Check again after each change", "compile-lens check --watch train.py"),
        ("Compile kernels too, and compare with eager", "compile-lens check --compare model.py"),
        ("Fail in CI if a graph breaks", "compile-lens check --fail-on warning --format json src"),
        ("Fail in CI only for what a change adds", "compile-lens check --since origin/main --format github src"),
    ),
    "fix": (
        ("What would fix the costliest finding?", "compile-lens fix train.py"),
        ("Apply all verified fixes", "compile-lens fix --all --write train.py"),
        ("Fix one finding", "compile-lens fix --finding GB0170@12 train.py"),
    ),
    "vary": (("Which inputs recompile `step`?", "compile-lens vary train.py step"),),
    "entries": (("How can this file run?", "compile-lens entries model.py"),),
    "predict": (("Predict graph breaks without running anything", "compile-lens predict model.py"),),
    "trace": (("Analyze a trace that TORCH_TRACE wrote", "compile-lens trace /tmp/trace"),),
    "stages": (
        ("What did torch make of this file?", "compile-lens stages train.py"),
        ("Read the code that Inductor generated", "compile-lens stages --stage output_code train.py"),
        (
            "The joint graph of one function, from a trace",
            "compile-lens stages --region forward --stage joint /tmp/trace",
        ),
        ("What did one of Inductor's passes change?", "compile-lens stages --pass remove_noop_ops train.py"),
        ("One page to send to a colleague", "compile-lens stages --html stages.html train.py"),
        ("What did the last edits change?", "compile-lens stages --diff HEAD:train.py train.py"),
        ("Where did compile time go?", "compile-lens stages --timeline timeline.json /tmp/trace"),
    ),
    "kernels": (
        ("Which kernels does this file run, and which lines do they compute?", "compile-lens kernels train.py"),
        ("Which kernels compute line 12?", "compile-lens kernels --line 12 train.py"),
        (
            "Which kernels would an H100 get, and what resources do they use?",
            "compile-lens kernels --gpu h100 --resources train.py",
        ),
    ),
    "report": (
        ("Share a trace's findings with a colleague", "compile-lens report -o run.clens /tmp/trace"),
        ("Leave source text and values out", "compile-lens report --redact -o public.clens run.clens"),
    ),
    "run": (
        ("Train, and see recompiles while they happen", "compile-lens run -- python train.py"),
        ("All ranks of this machine", "compile-lens run -- torchrun --nproc-per-node 2 train.py"),
    ),
    "watch": (("Follow a job that another machine runs", "compile-lens watch /mnt/job/trace"),),
    "diff": (
        ("What did my change do to this file?", "compile-lens diff HEAD:train.py train.py"),
        ("Compare two traces, for a pull request", "compile-lens diff --format markdown before.log after.log"),
    ),
    "explain": (
        ("What does this log print?", "compile-lens explain TORCH_LOGS=fusion"),
        ("What does this break mean?", "compile-lens explain GB0059"),
        ("Which options are about CUDA graphs?", "compile-lens explain --search cudagraph"),
    ),
    "doctor": (("Can this environment run analyses?", "compile-lens doctor --python .venv/bin/python"),),
    "cache": (("How large are the caches?", "compile-lens cache stat"),),
    "choices": (("Which fixes were taken?", "compile-lens choices list"),),
    "consent": (("Which workspaces may run in the background?", "compile-lens consent list"),),
    "bisect": (("Find what breaks a repro", "compile-lens bisect repro_GB0059_12.py"),),
    "rebisect": (("Does the last verdict still hold?", "compile-lens rebisect repro_GB0059_12.py"),),
    "repro": (
        ("Write a script for a finding", "compile-lens repro --finding GB0059@12 train.py"),
        ("Write a bug report", "compile-lens repro --as issue train.py"),
        ("Write all that maintainers need, as a folder", "compile-lens repro --as folder train.py"),
    ),
    "minify": (("Make a repro smaller", "compile-lens minify repro_GB0059_12.py"),),
    "logs": (("Which logs tell more about line 12?", "compile-lens logs --line 12 train.py"),),
    "serve": (("Serve an editor over standard input and output", "compile-lens serve"),),
    "mcp": (("Serve a coding assistant over standard input and output", "compile-lens mcp"),),
}


def introduced(what: str) -> str:
    """``what`` as the line above an example."""
    return what if what.endswith("?") else f"{what}:"


def epilog(verb: str) -> str:
    """The examples as click prints them."""
    lines = [line for what, command in EXAMPLES.get(verb, ()) for line in (f"  {introduced(what)}", f"    {command}")]
    return "\b\nExamples:\n" + "\n".join(lines) if lines else ""
