"""The dual-paradigm runtime as a system under test."""
