"""Compare methods and baselines of consilience with other libraries on real data sets."""
