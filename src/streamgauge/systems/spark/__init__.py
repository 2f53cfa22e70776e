"""Spark Structured Streaming as a system under test."""

from streamgauge.systems.spark.system import SparkSystem

__all__ = ["SparkSystem"]
