"""Services that a system needs, started and stopped by the station."""
