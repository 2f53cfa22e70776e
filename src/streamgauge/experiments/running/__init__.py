"""Runs trials, searches and studies, and keeps what was measured."""
