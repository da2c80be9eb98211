"""Collections of other packages."""
