"""Files, and where their bytes come from."""
