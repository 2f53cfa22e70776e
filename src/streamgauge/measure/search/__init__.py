"""The search for the maximum sustainable throughput: pure, deterministic, resumable."""

from streamgauge.measure.search.probe import ProbeJudge, ProbeOrder, ProbeOutcome
from streamgauge.measure.search.search import Search, SearchResult, estimated_us
from streamgauge.measure.search.settings import SearchSettings

__all__ = [
    "ProbeJudge",
    "ProbeOrder",
    "ProbeOutcome",
    "Search",
    "SearchResult",
    "SearchSettings",
    "estimated_us",
]
