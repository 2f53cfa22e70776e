"""From an experiment file to trials: everything resolved, nothing started."""
