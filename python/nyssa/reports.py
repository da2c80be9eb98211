"""Defines the reports of `verify`, `diff`, `inspect`, `digest` and the jobs.

The reports of `nyssa.verify`, `nyssa.diff`, `nyssa.inspect`, `nyssa.tune`, `nyssa.study`,
`nyssa.io_stats` and `nyssa.trace_summary` are dataclasses. They print as tables, and
`Report.to_dict` gives what the command line prints with ``--json``. The reports of `nyssa.digest`,
`nyssa.monitor`, `nyssa.convert`, `nyssa.rewrite`, `nyssa.skim` and `nyssa.merge` are dicts, which
can be saved as JSON. All but that of `monitor` print as tables; ``dict(report)`` shows all.
"""

from __future__ import annotations

from nyssa.jobs import check_reports, cutflow, inspect_report, reports, tuned
from nyssa.jobs.check_reports import *  # noqa: F403
from nyssa.jobs.cutflow import *  # noqa: F403
from nyssa.jobs.inspect_report import *  # noqa: F403
from nyssa.jobs.reports import *  # noqa: F403
from nyssa.jobs.tune import TuneReport
from nyssa.jobs.tuned import *  # noqa: F403
from nyssa.observe.io_stats import IoStats
from nyssa.observe.monitor import MonitorSummary
from nyssa.observe.trace import TraceFile, TraceProfile, TraceSizes, TraceSummary
from nyssa.show.report import Report
from nyssa.studies.report import Spread, StudyReport, StudyRow

__all__ = [
    "IoStats",
    "MonitorSummary",
    "Report",
    "Spread",
    "StudyReport",
    "StudyRow",
    "TraceFile",
    "TraceProfile",
    "TraceSizes",
    "TraceSummary",
    "TuneReport",
]
__all__ += check_reports.__all__
__all__ += cutflow.__all__
__all__ += inspect_report.__all__
__all__ += reports.__all__
__all__ += tuned.__all__
