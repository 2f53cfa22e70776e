"""The search for the maximum sustainable throughput: pure, deterministic, resumable."""

from streamgauge.measure.search.batch import BatchJudge
from streamgauge.measure.search.flow import FlowJudge
from streamgauge.measure.search.judge import ProbeJudge, judge_of
from streamgauge.measure.search.probe import ProbeOrder, ProbeOutcome, ProbeVerdict
from streamgauge.measure.search.result import SearchResult
from streamgauge.measure.search.search import Search, estimated_us
from streamgauge.measure.search.settings import WARM_UP_US, SearchSettings

__all__ = [
    "WARM_UP_US",
    "BatchJudge",
    "FlowJudge",
    "ProbeJudge",
    "ProbeOrder",
    "ProbeOutcome",
    "ProbeVerdict",
    "Search",
    "SearchResult",
    "SearchSettings",
    "estimated_us",
    "judge_of",
]
