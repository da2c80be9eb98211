"""The ttbar analysis of the Analysis Grand Challenge, with data that nyssa reads; see README.md."""
