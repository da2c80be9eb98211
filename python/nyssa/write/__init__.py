"""Files that are written, with their RNTuples, TTrees and objects."""
