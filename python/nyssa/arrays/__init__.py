"""Makes arrays and tables of libraries from the data that are read, and columns from them."""
