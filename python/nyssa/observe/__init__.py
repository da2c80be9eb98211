"""What the process does: its reads, its time and its memory."""
