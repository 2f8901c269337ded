"""Stages of some use, as examples. Each is one file with its test beside it."""
