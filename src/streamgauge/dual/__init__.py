"""The dual-paradigm runtime: each operation runs as data stream or as operation stream.

It stands alone: it imports nothing of the station.
"""
