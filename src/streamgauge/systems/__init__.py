"""Systems under test, one folder each."""
