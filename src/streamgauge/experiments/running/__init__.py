"""Runs trials, searches and studies, and writes their files."""
