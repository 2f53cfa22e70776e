"""Comparing runs with each other, and with published figures."""
