"""How fast it is, beside others: ``python -m benchmarks``. Prints tables and asserts nothing; see README.md."""
