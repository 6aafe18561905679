"""Usage of a year: sums against the full recount."""
