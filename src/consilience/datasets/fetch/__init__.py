"""Data sets that are downloaded from public addresses and cached."""
