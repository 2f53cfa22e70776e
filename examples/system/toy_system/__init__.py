"""A stream engine in a thread: the smallest system that can be gauged."""
