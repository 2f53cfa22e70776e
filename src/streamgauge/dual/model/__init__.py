"""What the choice of a paradigm is calculated from: pure functions of measured quantities."""
