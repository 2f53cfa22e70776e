"""Quantities to test with: any sensible ones, and round ones for sums done by hand."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from streamgauge.dual.model.latency import Quantities

few = settings(max_examples=100, deadline=None)

rates = st.floats(1, 1e6)
seconds = st.floats(0, 10)
hysteresis = st.floats(0.05, 0.9)
quantities = st.builds(
    Quantities,
    arrival_per_s=st.floats(0, 1e6),
    data_speed_per_s=rates,
    operation_speed_per_s=rates,
    interval_s=st.floats(0.01, 10),
    schedule_s=seconds,
    data_transmission_s=seconds,
    operation_transmission_s=seconds,
)

BY_HAND = Quantities(
    arrival_per_s=900,
    data_speed_per_s=1_000,
    operation_speed_per_s=5_000,
    interval_s=2.0,
    schedule_s=0.1,
    data_transmission_s=0.05,
    operation_transmission_s=0.25,
)
"""K = 0.2; C = 1 + 0.1 + 0.25 − 0.05 = 1.3 s; L_switch = 0.2·900·2 + 1.3·1,000 = 1,660."""
