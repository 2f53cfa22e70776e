"""Queries: inputs, definition, shape of the results, and oracle."""
