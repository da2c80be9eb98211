"""Checks and types of the arguments that users give."""
