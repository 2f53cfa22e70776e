"""All tables of the factory's database."""

from __future__ import annotations

from streamgauge.events.factory.customers import CUSTOMER
from streamgauge.events.factory.items import ITEM, WORKPLACE
from streamgauge.events.factory.orders import (
    ORDER_LINE,
    ORDERS,
    PRODUCTION_ORDER,
    PRODUCTION_ORDER_LINE,
)

TABLES = (
    ITEM,
    WORKPLACE,
    CUSTOMER,
    ORDERS,
    ORDER_LINE,
    PRODUCTION_ORDER,
    PRODUCTION_ORDER_LINE,
)
