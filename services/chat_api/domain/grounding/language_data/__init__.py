"""Data files, one per language: a further language is a further file."""
