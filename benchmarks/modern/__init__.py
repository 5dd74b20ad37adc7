"""Is it better than what I use now? Our methods and baselines beside those of other libraries, on real sets."""
