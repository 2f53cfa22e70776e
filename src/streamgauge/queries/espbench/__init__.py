"""ESPBench: sensor streams of a manufacturer, combined with its business data."""
