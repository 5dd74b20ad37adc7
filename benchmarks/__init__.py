"""Benchmarks: ``python -m benchmarks`` prints tables of times next to other libraries; see README.md."""
