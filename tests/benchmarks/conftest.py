"""The benchmarks lie beside the package, at the root: found from there, however the tests are called."""
