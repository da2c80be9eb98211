"""What other libraries push down into datasets: columns, and conditions on entries."""
