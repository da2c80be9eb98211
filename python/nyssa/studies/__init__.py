"""Studies: a dataset written with every combination of some options, and what each one costs."""
