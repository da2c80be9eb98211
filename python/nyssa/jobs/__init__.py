"""Jobs on whole files: conversions, rewrites, merges, checks and searches for options."""
