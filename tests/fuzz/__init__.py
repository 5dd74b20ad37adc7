"""Seeded fuzzers: random input to the public functions and the command, and a check of what comes back."""
