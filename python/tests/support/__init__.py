"""What the tests share: where their files are, ROOT as an oracle, and comparison of values."""
