"""What limited a run, as far as it shows from outside: true of every system.

A system adds the limits that only its own settings and statistics show (`System.limits`).
"""

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import Finding, Kind, SystemAdvice
from streamgauge.measure.limits.rules import limits
from streamgauge.measure.limits.words import SELF_REPORTED

__all__ = ["SELF_REPORTED", "Evidence", "Finding", "Kind", "SystemAdvice", "limits"]
