"""The driver: schedules, pacing, queues, policies, and the sink for results."""
