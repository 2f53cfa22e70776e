"""Spark as the station's own tool: sessions, the Java they run on, vectorised work in parallel."""
