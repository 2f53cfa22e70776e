"""The direct channel: Arrow Flight between the driver's processes and the system."""
