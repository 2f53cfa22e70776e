"""Channels: how a system receives events and delivers results, one folder each."""
