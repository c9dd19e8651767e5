from __future__ import annotations


def summary(programs, statuses, judged, seconds):
    r, w = len(judged.right), len(judged.wrong)
    out = [
        f"programs {len(programs)} ok {sum(s == 'ok' for s in statuses.values())} functions {len(judged.functions)} seconds {seconds:.0f}",
        f"right {r} wrong {w} masked {len(judged.masked)} notrun {len(judged.not_run)} precision {r / max(1, r + w):.3f}",
        f"found {len(judged.found)} missed {len(judged.missed)} elsewhere {len(judged.elsewhere)} recall {len(judged.found) / max(1, len(judged.found) + len(judged.missed)):.3f}",
    ]
    return "\n".join(out)
