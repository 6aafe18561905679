"""Applies access signals, ratings, usage and knowledge state."""
