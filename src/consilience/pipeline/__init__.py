"""From data to clusters, in one call: the work behind `consilience.cluster` and the command line.

The package imports nothing itself, so that the command line prints its help before numpy is loaded.
"""
