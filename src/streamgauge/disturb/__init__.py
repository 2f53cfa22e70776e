"""Faults: what is done to a running system on purpose, and when."""
