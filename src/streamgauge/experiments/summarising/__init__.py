"""From the files of a run to its summary, verdict and exit code."""
