"""Tables, reports and figures for people."""
