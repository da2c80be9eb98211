"""Files, datasets and columns that are read."""
