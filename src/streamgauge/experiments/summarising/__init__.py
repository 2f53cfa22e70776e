"""From what a run left behind to its summary, verdict and exit code."""
