"""When each event of the load is due: exact maps between sequence numbers and times."""

from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.driver.schedules.knots import KnotSchedule

__all__ = ["InstanceSchedule", "KnotSchedule", "Schedule"]
