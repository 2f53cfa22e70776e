"""Processes that the station starts: handle, conversation, and clean-up after a crash."""
