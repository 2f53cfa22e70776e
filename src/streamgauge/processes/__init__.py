"""Processes that the station starts: launcher, handle, conversation, and clean-up after a crash."""
