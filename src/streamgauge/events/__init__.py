"""Events as a pure function of seed, instance and sequence number."""
