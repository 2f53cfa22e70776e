"""Workloads that are chains of named operations, for every way to run them on Spark."""
