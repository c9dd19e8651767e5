"""Writes docs/repairs.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.repairs.diffusers import kept_rows as rows_of_diffusers
from benchmarks.repairs.kept import Row
from benchmarks.repairs.models import kept as kept_models
from benchmarks.repairs.plain import as_verified
from benchmarks.repairs.programs import DRAWN, DRAWN_LATER, SEEN, UNSEEN, WRITTEN_LATER
from benchmarks.repairs.reasons import reason_of
from benchmarks.repairs.situations import CAUSES, OTHER, RECOMPILES, cause_of, class_of, situations

PAGE = Path(__file__).parents[2] / "docs" / "repairs.md"
HEAD = """# Repairs: how many findings have a verified fix

`python -m benchmarks.repairs` analyzes each program and tries the fixes for each of its breaks, recompiles and compile
errors, as the editor does. It stops at the first one that helps and changes nothing else.

| column | meaning |
|---|---|
| fixed | the finding is gone or happens less often, nothing new is found, and results equal the original's in eager |
| own version | as many graphs, but calls have a compiled version of their own (`isolate_recompiles`), and nothing recompiles |
| with a loss | the same, but a message is not printed, a check not made in compiled code, or an exception of another class |
| left out | the code around it is compiled; it runs in eager on purpose, or a custom operator is to be completed |

Programs that were *seen* are the fixtures and corpora that the fixes were developed with. *Unseen* programs were written after the fixes,
by the same author, in the style of training scripts, of Transformers models and of torch's own tests.
Two fixes were narrowed after they had run on `recompiles` and `recompiles_in_training`: one lost a gradient outside a region, and one did
nothing itself.
Results include every gradient that a program computes.

Each row is kept in `benchmarks/results/repairs.jsonl` with the version of the code that made it: a part can be renewed
(`--only NAME --again`), and the others stay. Seconds are those of a busy machine.
"""
TITLES = {
    DRAWN: "Drawn from public packages",
    DRAWN_LATER: "Drawn from other packages, after more fixes were written",
    WRITTEN_LATER: "Written after all fixes",
}
FOUND = {
    DRAWN: (
        "These were cut out of packages of PyPI after the fixes were written, and count in no other table.",
        "No fix was changed after it had run on them. They were found by a text search for `.item()`, `.any()`, `nonzero` and counters,",
        "so they break as such code does.",
    ),
    DRAWN_LATER: (
        "Steps of optimizers, averages, losses, samplers and masks of 13 packages that no one had looked at. No fix was changed after",
        "it had run on them. Most pass numbers, flags or strings that change, which recompiles.",
    ),
    WRITTEN_LATER: (
        "Eight programs as people write them for training and inference. This is what the fixes did when they first saw them, before",
        "anything was mended. `allow-in-graph` is not offered any more for a function that draws random numbers: in `augmentation`,",
        "one flip would have been that of every call. The branch of `beam_search` has a fix since (`write-anyway`). For",
        "what remains of `early_exit`, `non_maximum_suppression` and `rollout`, `fix` says since what to do by hand.",
    ),
}
COLUMNS = (
    *("programs", "findings", "fixed", "own version", "with a loss", "left out", "none", "any fix"),
    *("results equal", "not compared", "median tokens", "median seconds"),
)


def write_page(rows: list[Row]) -> None:
    """Write the page from the rows of all programs. Raises ValueError without rows: an empty page says nothing."""
    if not rows:
        raise ValueError("There are no rows to write a page from.")
    found = [row for row in rows if row.code]
    drawn = {group: [row for row in found if row.group == group] for group in TITLES}
    found = [row for row in found if row.group not in drawn]
    parts = [
        HEAD,
        _totals(found),
        *(drawn_section(rows) for rows in drawn.values() if rows),
        situations([row for row in rows if row.code], rows_of_diffusers()),
        _rules(found),
        _plain(found),
        _models(),
        _causes(found),
        _without_fewer(found),
        _remaining(found),
        _list(found),
    ]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def drawn_section(rows: list[Row]) -> str:
    """Programs of one group that was made after the fixes, which no other table counts."""
    group = rows[0].group
    lines = [
        f"## {TITLES[group]}",
        "",
        *FOUND[group],
        "",
        _totals(rows),
        _fewer(rows, group),
        _list(rows).removeprefix("## Every finding\n\n"),
    ]
    return "\n".join(lines)


def _totals(rows: list[Row]) -> str:
    lines = [f"| {' | '.join(COLUMNS)} |"]
    lines.append("|" + "---|" * 12)
    for group in (SEEN, UNSEEN, *TITLES):
        for title, kinds in (
            ("breaks", {"graph-break"}),
            ("recompiles and limits", {"recompile", "recompile-limit"}),
            ("compile errors", {"compile-error"}),
        ):
            own = [row for row in rows if row.group == group and row.kind in kinds]
            if not own:
                continue
            counts = Counter(map(class_of, own))
            helped = [row for row in own if row.fix]
            share = f"{100 * len(helped) / len(own):.0f} %"
            equal = sum(row.equal is True for row in helped)
            tokens, seconds = (
                _median([row.tokens for row in helped]),
                _median([s for row in own if (s := row.seconds)]),
            )
            programs = len({row.program for row in own})
            cells = [
                f"{group}: {programs} with {title}",
                len(own),
                *(counts[name] for name in ("fixed", "own", "loss", "out", "none")),
            ]
            cells += [f"**{share}**", equal, len(helped) - equal, f"{tokens:.0f}", f"{seconds:.1f}" if seconds else "–"]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    changed = sum(row.equal is False for row in rows if row.fix)
    lines += [
        "",
        f"Programs with a finding: {len({(row.group, row.program) for row in rows})}. "
        f"Fixes that were offered though they change results: {changed}.",
    ]
    return "\n".join(lines) + "\n"


def _rules(rows: list[Row]) -> str:
    counts = Counter(row.fix for row in rows if row.fix)
    lines = ["## Which fixes helped", "", "| fix | findings |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{rule}` | {number} |" for rule, number in counts.most_common())]) + "\n"


def _plain(rows: list[Row]) -> str:
    done = [row for row in rows if row.plain]
    if not done:
        return ""
    same = [row for row in done if as_verified(row)]
    counts = Counter(row.plain for row in same)
    lines = [
        "## Without Compile Lens",
        "",
        f"{len(done)} fixed programs ran with a plain torch and `TORCH_LOGS=graph_breaks,recompiles`.",
        f"{len(same)} of them have what the effect of the fix says: "
        f"{', '.join(f'{plain} in {number}' for plain, number in counts.most_common())}.",
        *_differing(done),
        "",
        "| program | fix | effect | plain run |",
        "|---|---|---|---|",
    ]
    lines += [f"| {row.program} | `{row.fix}` | {row.effect} | {row.plain} |" for row in done]
    return "\n".join(lines) + "\n"


def _differing(done: list[Row]) -> list[str]:
    """The programs of which torch's log says something else than the effect of the fix."""
    names = dict.fromkeys(f"`{row.program}`" for row in done if not as_verified(row))
    alike = "Torch's log names each line of a break once, however many breaks are on it."
    return [f"{alike} It says something else of {' and '.join(names)}."] if names else []


def _models() -> str:
    """Models before and after ``compile-lens fix --all``; '' where none was repaired."""
    rows = kept_models()
    if not rows:
        return ""
    clean = sum(row["breaks"][1] == 0 for row in rows)
    clean_with_loss = sum(row["breaks"][2] == 0 for row in rows)
    fewer = sum(row["breaks"][2] < row["breaks"][0] for row in rows)
    lines = [
        "## Models",
        "",
        "`python -m benchmarks.repairs.models` takes the source of models of `transformers` that break, adds a small configuration,",
        'random weights and one call of `torch.compile(model, backend="eager")`, and runs `compile-lens fix --all` on this file.',
        f"With {rows[0]['versions']}, {clean} of {len(rows)} models have no break left, {clean_with_loss} with fixes that lose something",
        f"(`--with-loss`), and {fewer} have fewer breaks. At each step, results equal those in eager. Logged are the places of breaks in",
        "torch's own log of a plain run, which names each place once.",
        "",
        "| | models | no break left | with a loss | fewer breaks |",
        "|---|---|---|---|---|",
        f"| `compile-lens fix --all` | {len(rows)} | {clean} | {clean_with_loss} | {fewer} |",
        "| GraphMend ([abstract](https://arxiv.org/abs/2509.16248)) | 8 | 6 | – | 7 |",
        "",
        "GraphMend rewrites eight models of Hugging Face. Its abstract says that 6 have no break left, and one has 2 instead of 5.",
        "Its figures for each model were not at hand: these are other models, which cannot be compared one by one.",
        "",
        "| model | | breaks | after `--all` | after `--with-loss` | logged | seconds | fixes | what remains | version |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        logged = " → ".join(dict.fromkeys(text.partition(" ")[0] for text in row["logged"]))
        fixes = ", ".join(f"`{rule}`" for rule in dict.fromkeys(row["fixes"])) or "–"
        codes = ", ".join(f"`{code}` ({n})" for code, n in Counter(r.partition(":")[0] for r in row["remains"]).items())
        cells = (row["name"], row["does"], *row["breaks"], logged, row["seconds"], fixes, codes or "–", row["commit"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _causes(rows: list[Row]) -> str:
    """Recompiles by what changed: how many need fewer graphs with a fix, how many a version of their own, and which have neither."""
    table: dict[str, Counter[str]] = {name: Counter() for name in (*CAUSES, OTHER)}
    for row in rows:
        # what was changed is known from the message, which rows of earlier versions do not have
        if row.kind in RECOMPILES and row.message:
            table[cause_of(row)][class_of(row)] += 1
    lines = [
        "## Recompiles by cause",
        "",
        f"{sum(map(Counter.total, table.values()))} recompiles, whose messages are kept. Rows of earlier versions have none.",
        "",
        "| what changed | findings | fewer graphs | own version | none |",
        "|---|---|---|---|---|",
    ]
    for cause, counts in sorted(table.items(), key=lambda item: -item[1].total()):
        cells = (cause, counts.total(), counts["fixed"], counts["own"], counts["none"])
        lines += [f"| {' | '.join(map(str, cells))} |"] if counts.total() else []
    return "\n".join([*lines, *(f"\n{said}" for group in (SEEN, UNSEEN) if (said := _fewer(rows, group)))])


def _without_fewer(rows: list[Row]) -> str:
    """The programs whose recompiles need as many graphs with every fix, by the reason."""
    left = [row for row in rows if row.kind in RECOMPILES and class_of(row) != "fixed"]
    programs: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in left:
        programs[reason_of(row.program)][row.program].append(row)
    lines = [
        "## Recompiles that need as many graphs",
        "",
        f"{len(left)} recompiles have no fix with fewer graphs; {sum(bool(row.fix) for row in left)} of them have one that gives",
        "the calls a compiled version of their own.",
        "",
        "| why | findings | programs (− those without any fix) |",
        "|---|---|---|",
    ]
    for reason, found in sorted(programs.items(), key=lambda item: -sum(map(len, item[1].values()))):
        names = [f"{'' if all(row.fix for row in own) else '−'}{program}" for program, own in found.items()]
        lines.append(f"| {reason or 'Not known.'} | {sum(map(len, found.values()))} | {', '.join(names)} |")
    return "\n".join(lines) + "\n"


def _fewer(rows: list[Row], group: str) -> str:
    own = [row for row in rows if row.group == group and row.kind in RECOMPILES]
    fewer = sum(class_of(row) == "fixed" for row in own)
    share = f"{100 * fewer / max(1, len(own)):.0f} %"
    return f"With fewer graphs: {fewer} of {len(own)} recompiles of {group} programs ({share}).\n" if own else ""


def _remaining(rows: list[Row]) -> str:
    by_code: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.fix:
            by_code[row.code].append(row)
    lines = ["## What has no fix", "", "| code | findings | what was tried |", "|---|---|---|"]
    for code, own in sorted(by_code.items(), key=lambda item: -len(item[1])):
        reasons = Counter(_reason(row) for row in own)
        lines.append(f"| `{code}` | {len(own)} | {'; '.join(f'{why} ({n})' for why, n in reasons.most_common(3))} |")
    lines += [
        "",
        "A version compiled apart helps where the calls of each kind stand at different places, or an argument tells them apart.",
        "Where one call makes all of them, each mode has its own graph, and there is no fix.",
    ]
    return "\n".join(lines) + "\n"


def _reason(row: Row) -> str:
    if not row.message:
        return "not kept"
    if not row.tried:
        return row.why[0] if row.why else "no rewrite fits"
    why = " ".join(row.why)
    if "results differ" in why:
        return "a rewrite changes the results"
    if "no effect" in why:
        return "rewrites have no effect"
    return "rewrites move the break, or add an error"


def _list(rows: list[Row]) -> str:
    lines = ["## Every finding", "", "| program | finding | fix | effect | tokens | s | version |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows:
        fix = f"`{row.fix}`" if row.fix else "–"
        cells = (
            f"{row.program} ({row.group})",
            row.code,
            fix,
            row.effect or "–",
            row.tokens or "–",
            row.seconds or "–",
            row.commit,
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _median(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2] if numbers else 0.0
