"""Arrays and tables of libraries: what is read becomes them, and columns are made of them."""
