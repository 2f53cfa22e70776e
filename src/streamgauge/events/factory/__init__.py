"""The data of a factory: sensors of its machines, its orders, and products that are made.

Everything is a pure function of a seed, and any part of it can be made by itself.
"""
