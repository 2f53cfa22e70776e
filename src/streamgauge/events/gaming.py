"""The gaming data set: in-app purchases of online games, and ads for them."""

from __future__ import annotations

from streamgauge.events.columns import Column, Keys, Whole
from streamgauge.events.distributions import DistributionName
from streamgauge.events.spec import DataSet, StreamSpec

MAX_PRICE_CENTS = 20_000
GEOS = 1_000


class GamingDataSet(DataSet):
    """Purchases(user, gem pack, price, geo) and ads of the same form.

    `keys` is the number of gem packs and of users. `selectivity` is the share of ads whose user
    and whose geo exist among the purchases; the other ads match no purchase.
    """

    @classmethod
    def of(
        cls,
        *,
        keys: int = 1_000,
        distribution: DistributionName = "normal",
        zipf_s: float = 1.0,
        moves_every: int = 0,
        selectivity: float = 1.0,
        streams: tuple[str, ...] = ("purchases",),
    ) -> GamingDataSet:
        def keyed(size: int, outside: float = 0.0) -> Keys:
            return Keys(
                size=size,
                outside=outside,
                distribution=distribution,
                zipf_s=zipf_s,
                moves_every=moves_every,
            )

        def stream(outside: float) -> StreamSpec:
            columns: dict[str, Column] = {
                "user": keyed(keys, outside),
                "gem_pack": keyed(keys),
                "price_cents": Whole(low=1, high=MAX_PRICE_CENTS, distribution="normal"),
                "geo": keyed(GEOS, outside),
            }
            return StreamSpec(columns=columns)

        outside = {"purchases": 0.0, "ads": 1.0 - selectivity}
        return cls(streams={name: stream(outside[name]) for name in streams})
