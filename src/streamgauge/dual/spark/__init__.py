"""The runtime on Spark: segments between topics, as real-time or micro-batch queries."""
