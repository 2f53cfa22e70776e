"""A program of the user's, in any language, as a system under test."""
