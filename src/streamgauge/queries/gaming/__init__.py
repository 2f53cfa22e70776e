"""Queries over the gaming data set."""
