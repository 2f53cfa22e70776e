"""The data of the Yahoo! streaming benchmark: ads shown to users, and the campaigns of the ads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.events.columns import Choice, Column, Uuid
from streamgauge.events.distributions import DistributionName
from streamgauge.events.spec import StreamSpec

VIEW = "view"
AD_TYPES = ("banner", "modal", "sponsored-search", "mail", "mobile")
EVENT_TYPES = (VIEW, "click", "purchase")
USERS = PAGES = 100_000
_ADDRESSES = tuple(f"10.{high}.{low}.1" for high in range(16) for low in range(16))


def ad_events(
    *, ads: int, distribution: DistributionName = "uniform", zipf_s: float = 1.0
) -> StreamSpec:
    """What users do with ads; the distribution is that of the ads."""
    columns: dict[str, Column] = {
        "user_id": Uuid(size=USERS),
        "page_id": Uuid(size=PAGES),
        "ad_id": Uuid(size=ads, distribution=distribution, zipf_s=zipf_s),
        "ad_type": Choice(values=AD_TYPES),
        "event_type": Choice(values=EVENT_TYPES),
        "ip_address": Choice(values=_ADDRESSES),
    }
    return StreamSpec(columns=columns)


def campaign_table(*, campaigns: int, ads_per_campaign: int) -> pa.Table:
    """Which campaign each ad belongs to: `ad_id`, `campaign_id`."""
    ads = np.arange(campaigns * ads_per_campaign, dtype=np.int32)
    # Numbers that no ad has, so that no campaign has the id of an ad.
    ids = Uuid(size=2 * len(ads)).decode(np.arange(campaigns, dtype=np.int32) + np.int32(len(ads)))
    return pa.table(
        {
            "ad_id": Uuid(size=len(ads)).decode(ads),
            "campaign_id": ids.take(pa.array(ads // ads_per_campaign)),
        }
    )
