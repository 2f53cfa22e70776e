"""The queries of ESPBench: sensor streams combined with business data."""
