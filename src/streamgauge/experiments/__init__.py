"""Experiments: planned, run and summarised."""
