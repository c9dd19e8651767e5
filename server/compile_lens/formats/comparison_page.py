"""A comparison as a page of HTML: one file that needs nothing else."""

from __future__ import annotations

from typing import Any

from compile_lens.diff.comparison import AnalysisComparison, Located
from compile_lens.formats.comparison import place_of, times, totals, what_changed, what_compiled
from compile_lens.formats.templates import page
from compile_lens.shown_text import visible
from compile_lens.wording import counted


def to_html(comparison: AnalysisComparison) -> str:
    """The whole document."""
    text = page(
        "comparison",
        before=comparison.before.name,
        after=comparison.after.name,
        totals=[
            {"name": row.name, "before": row.before, "after": row.after, "trend": row.trend}
            for row in totals(comparison)
        ],
        new=[_row(one) for one in comparison.new],
        gone=[_row(one) for one in comparison.gone],
        changed=[{"place": place_of(change.after), "what": what_changed(change)} for change in comparison.changed],
        compiled=[
            {
                "place": f"{change.shown.file}:{change.shown.line}",
                "name": change.shown.name,
                "what": what_compiled(change),
            }
            for change in comparison.compiled
        ],
        same=counted(comparison.same, "finding") if comparison.same else "",
    )
    return visible(text)


def _row(one: Located) -> dict[str, Any]:
    return {
        "place": place_of(one),
        "code": one.identity.code,
        "severity": one.severity,
        "message": f"{one.identity.message}{times(one)}",
        "source": one.identity.text,
    }
