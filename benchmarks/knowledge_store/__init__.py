"""Ingest rate, recall and error rates of the embedded Knowledge Store."""
