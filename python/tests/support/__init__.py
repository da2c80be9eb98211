"""What the tests share: places of files, ROOT as an oracle, and the comparison of values."""
