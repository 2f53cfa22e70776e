"""What limited a run, from what was measured, with the figure that shows it."""

from streamgauge.measure.limits.evidence import Evidence, Pull
from streamgauge.measure.limits.findings import limits
from streamgauge.measure.limits.pulls import pulls_of
from streamgauge.measure.limits.words import OWN_WORD

__all__ = ["OWN_WORD", "Evidence", "Pull", "limits", "pulls_of"]
