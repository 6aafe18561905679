"""Writes retrieval traces and model runs."""
