"""Measured and simulated values as one chart, and as one page without scripts."""

from __future__ import annotations

import html
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from seeklab.data.html_table import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab.calibration.fio_results import Measured
    from seeklab.calibration.fit import Calibration, Check

SIZE, MARGIN = 420.0, 56.0
FITTED, HELD_OUT = "#4477aa", "#cc3311"


def svg(found: Calibration) -> str:
    """Return a chart of the mean latencies and 99th percentiles of all jobs, measured and simulated, on log axes."""
    panels: list[tuple[str, Callable[[Measured], float]]] = [("Mean latency", _mean), ("99th percentile", _p99)]
    width = len(panels) * (SIZE + MARGIN) + MARGIN
    box = f'viewBox="0 0 {width:g} {SIZE + 2 * MARGIN:g}" role="img" aria-label="Measured against simulated latencies"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="13">']
    for number, (title, take) in enumerate(panels):
        values = [(take(check.job), take(check.simulated), check) for check in found.checks]
        parts += _panel(MARGIN + number * (SIZE + MARGIN), title, values)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _mean(job: Measured) -> float:
    return job.mean


def _p99(job: Measured) -> float:
    return job.q(99)


def _panel(left: float, title: str, values: list[tuple[float, float, Check]]) -> Iterator[str]:
    every = [value for measured, simulated, _ in values for value in (measured, simulated)]
    low, high = floor(log10(min(every))), ceil(log10(max(every)))
    high = max(high, low + 1)

    def place(us: float) -> float:
        return (log10(us) - low) / (high - low) * SIZE

    top = MARGIN
    yield f'<g><text x="{left:g}" y="{top - 14:g}" font-weight="bold">{title}, us</text>'
    yield f'<rect x="{left:g}" y="{top:g}" width="{SIZE:g}" height="{SIZE:g}" fill="none" stroke="#888"/>'
    yield f'<line x1="{left:g}" y1="{top + SIZE:g}" x2="{left + SIZE:g}" y2="{top:g}" stroke="#888"/>'
    for exponent in range(low, high + 1):
        at = place(10.0**exponent)
        yield f'<text x="{left + at:g}" y="{top + SIZE + 18:g}" text-anchor="middle">{10.0**exponent:g}</text>'
        yield f'<text x="{left - 6:g}" y="{top + SIZE - at + 4:g}" text-anchor="end">{10.0**exponent:g}</text>'
    yield f'<text x="{left + SIZE / 2:g}" y="{top + SIZE + 38:g}" text-anchor="middle">measured</text>'
    yield f'<text x="{left + 8:g}" y="{top + 18:g}">simulated</text>'
    for measured, simulated, check in values:
        x, y = left + place(measured), top + SIZE - place(simulated)
        words = f"{check.job.key}: measured {measured:.4g} us, simulated {simulated:.4g} us"
        colour = HELD_OUT if check.held_out else FITTED
        shape = (
            f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6-6z" fill="{colour}">'
            if check.held_out
            else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
        )
        yield f"{shape}<title>{html.escape(words)}</title></{'path' if check.held_out else 'circle'}>"
    for up, colour, words in ((26, FITTED, "circles: fitted"), (10, HELD_OUT, "diamonds: held out")):
        x, y = left + SIZE - 8, top + SIZE - up
        yield f'<text x="{x:g}" y="{y:g}" text-anchor="end" fill="{colour}">{words}</text>'
    yield "</g>"


def page(found: Calibration, title: str) -> str:
    """Return the evidence as one page."""
    jobs = [
        [
            str(check.job.key),
            "held out" if check.held_out else "fitted",
            str(len(check.job.runs)),
            *(f"{mean:.4g}" for mean in (check.job.mean, check.simulated.mean)),
            f"{check.mean_error:+.1f}",
            *(f"{tail:.4g}" for tail in (check.job.q(99), check.simulated.q(99))),
            f"{check.p99_error:+.1f}",
        ]
        for check in sorted(found.checks, key=lambda check: not check.held_out)
    ]
    head = ("job", "use", "repeats", "mean, us", "simulated", "off, %", "p99, us", "simulated", "off, %")
    parameters = [[item.name, item.value, str(item.how), item.why] for item in found.parameters]
    warnings = "".join(f"<li>{html.escape(warning)}</li>" for warning in found.warnings)
    left_out = "".join(
        f"<li>{html.escape(reason)}</li>" for reason in (found.results.left_out if found.results else [])
    )
    style = (
        "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
        "td,th{padding:.2em .6em;text-align:left}table{border-collapse:collapse}tr{border-bottom:1px solid #ddd}"
    )
    notes = f"<h2>Notes</h2><ul>{warnings}</ul>" if warnings else ""
    unused = f"<h2>Not used</h2><ul>{left_out}</ul>" if left_out else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>"
        f"<h1>{html.escape(title)}</h1><p><b>{html.escape(str(found.verdict))}.</b></p>{svg(found)}"
        f"<h2>Parameters</h2>{html_table(('parameter', 'value', 'how', 'why'), parameters)}"
        f"<h2>Jobs</h2>{html_table(head, jobs)}"
        f"{notes}{unused}</body></html>\n"
    )
