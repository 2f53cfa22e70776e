"""A system of known capacity and known faults, for tests and for trying policies."""
