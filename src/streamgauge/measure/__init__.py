"""Measurement from outside: monitors, latency, validation, search, limits, verdict."""
