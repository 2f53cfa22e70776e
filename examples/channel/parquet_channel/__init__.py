"""A channel that replays a load as a growing folder of Parquet files."""
