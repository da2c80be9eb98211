"""What the tests share: the places of files, ROOT as an oracle, and the comparison of values."""
