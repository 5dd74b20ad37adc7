"""What the methods share: rounds, restarts, starts, input checks, warnings and what every fitted estimator stores."""
