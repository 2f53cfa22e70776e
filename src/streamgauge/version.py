"""The version of streamgauge, the one place where it is written."""

__version__ = "0.1.0"
FORMAT_VERSION = 2
"""Of `summary.json` and `record.json`; a change of their fields increases it."""
